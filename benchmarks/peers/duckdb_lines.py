# /// script
# requires-python = ">=3.11"
# dependencies = ["duckdb==2.0.0"]
# ///
"""Reads the lines of a file with DuckDB into a table of one text column, compressed as Talkhouse's texts are.

duckdb_lines.py FILE DATABASE
"""

import sys

import duckdb

path, database = sys.argv[1:]
with duckdb.connect(database, config={"storage_compatibility_version": "v1.2.0"}) as con:
    con.execute("set preserve_insertion_order = false")
    con.execute("create table lines (line varchar using compression zstd)")
    con.execute(
        "insert into lines from read_csv(?, columns = {line: 'varchar'}, delim = '\x01', quote = '', escape = '', "
        "header = false, auto_detect = false, max_line_size = 10_000_000)",
        [path],
    )
