"""Runs queries in Spark itself, in this process: reads a JSON list of them, prints a JSON list of rows or null."""

import json
import sys

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession


def main() -> None:
    options = {
        "spark.ui.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than running
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.ansi.enabled": "false",  # some functions have other nulls then
    }
    spark = SparkSession.builder.master("local[1]").config(map=options).getOrCreate()
    answers = []
    for sql in json.load(sys.stdin):
        try:
            answers.append(sorted(str(row.asDict()) for row in spark.sql(sql).collect()))
        except PySparkException:
            answers.append(None)
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
