"""Run statements in whichever DuckDB is installed, and print a hash of the rows that each gives.

Usage: ``python answers.py [FILE]``; the file is opened read-only. The statements are a JSON list on standard input, the
hashes one on standard output. A statement that fails has its error in place of a hash.
"""

import hashlib
import json
import sys
from typing import Any

import duckdb


def answer(con: duckdb.DuckDBPyConnection, statement: str) -> str:
    try:
        con.execute(statement)
    except duckdb.Error as error:
        return f"{type(error).__name__}: {error}"
    names = [column[0] for column in con.description or ()]
    return hashlib.sha256(repr((names, sorted(repr(rounded(row)) for row in con.fetchall()))).encode()).hexdigest()


def rounded(value: Any) -> Any:
    """Round doubles to ten decimals: the last bits of a sum depend on the order in which it is added up."""
    if isinstance(value, float):
        return round(value, 10)
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    return value


if __name__ == "__main__":
    con = duckdb.connect(sys.argv[1], read_only=True) if sys.argv[1:] else duckdb.connect()
    print(json.dumps([answer(con, statement) for statement in json.load(sys.stdin)]))
