"""Ways out of the sandbox, by kind; {dir} is a folder with files, {db} the warehouse in it."""

from tests.data_files import data_of

DATA = data_of(__file__)

OWN = [
    f"with x as (copy (select 1) to '{{db}}{ending}' (format {copy_format}, use_tmp_file {tmp})) from x"
    for ending in ("", ".wal", ".tmp/x", ".wal.gz")
    for copy_format in ("csv", "parquet")
    for tmp in ("true", "false")
]
"""Copies onto paths that DuckDB itself leaves open to a query: the database's file, its log, its temporary folder."""

WRITES: list[str] = OWN + DATA["writes"]
"""Writing in a SELECT: only DuckDB's settings stop it."""

REFUSED: dict[str, list[str]] = {"copies in a reading statement": WRITES} | DATA["refused"]
"""What the sandbox refuses, and says so."""

FAILS: dict[str, list[str]] = DATA["fails"]
"""What DuckDB does not know or does not take, inside the sandbox and outside of it."""

HARMLESS: dict[str, list[str]] = DATA["harmless"]
"""What runs, and neither tells a secret nor leaves anything behind."""


def every(*tables: dict[str, list[str]]) -> list[str]:
    return [query for table in tables for queries in table.values() for query in queries]
