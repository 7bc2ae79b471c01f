# /// script
# requires-python = ">=3.11"
# dependencies = ["dlt[duckdb]==1.31.0", "duckdb==2.0.0"]
# ///
"""Loads a JSON object of records to DuckDB with dlt, which makes a table of its own for the lists in them.

dlt_duckdb.py FILE FOLDER
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dlt

path, folder = map(Path, sys.argv[1:])
folder.mkdir()


@dlt.resource(write_disposition="replace")
def dialogues() -> Iterator[list[dict[str, Any]]]:
    """Yield the records of the file."""
    with path.open("rb") as stream:
        yield [{"key": key} | dialogue for key, dialogue in json.load(stream).items()]


pipeline = dlt.pipeline(
    "benchmark",
    destination=dlt.destinations.duckdb(str(folder / "dialogues.duckdb")),
    dataset_name="talks",
    pipelines_dir=str(folder / "pipelines"),
)
pipeline.run(dialogues())
