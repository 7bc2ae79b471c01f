# /// script
# requires-python = ">=3.11"
# dependencies = ["duckdb==2.0.0"]
# ///
"""Reads one's own dialogues with DuckDB, which is told every name and type: an object a row, a list in its own table.

duckdb_own.py FILE DATABASE MEMORY [COLUMNS [LIST]]

A file without columns is a CSV of texts.
"""

import sys

import duckdb

path, database, memory = sys.argv[1:4]
columns, items = (*sys.argv[4:], "", "")[:2]
with duckdb.connect(database) as con:
    con.execute(f"set memory_limit = '{memory}'")
    con.execute("set force_compression = 'zstd'")
    source = f"read_json('{path}', format = 'newline_delimited', columns = {{{columns}}})"
    if not columns:
        con.execute(f"create table turns as from read_csv('{path}', all_varchar = true, header = true, delim = ',')")
    elif not items:
        con.execute(f"create table records as from {source}")
    else:
        con.execute(f"create temp table read as select row_number() over () as number, * from {source}")
        con.execute(f"create table records as select * exclude ({items}) from read")
        item = f"generate_subscripts({items}, 1) as place, unnest({items}, max_depth := 2)"
        con.execute(f"create table turns as select number, {item} from read")
