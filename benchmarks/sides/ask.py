"""Asks a warehouse, or DuckDB alone, and prints what each answer took in a connection that is open.

    python -m benchmarks.sides.ask STATEMENTS.json [WAREHOUSE]

STATEMENTS.json has SQL by name. Rows are read in full, as Arrow batches, and nothing is kept of them.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import duckdb

import talkhouse
from benchmarks.scenario import Side, module
from benchmarks.sides.clock import timed


def asking(name: str, statements: Mapping[str, str], file: Path, warehouse: Path | None = None) -> Side:
    """Return the side that runs this module: SQL by name is written to the file first."""
    file.write_text(json.dumps(dict(statements)), encoding="utf-8")
    return module(name, __name__, file, *([warehouse] if warehouse else []))


def read(con: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Run a statement to its last row."""
    for _ in con.sql(statement).to_arrow_reader():
        pass


def main() -> None:
    """Ask what the arguments say."""
    path, *warehouse = sys.argv[1:]
    statements: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8"))
    with talkhouse.open(Path(*warehouse)) if warehouse else duckdb.connect() as con:
        read(con, "select 1")  # imports Arrow
        took = {name: timed(read, con, text) for name, text in statements.items()}
    print(json.dumps(took if len(took) > 1 else took.popitem()[1]))


if __name__ == "__main__":
    main()
