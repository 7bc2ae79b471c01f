# /// script
# requires-python = ">=3.11"
# dependencies = ["duckdb==2.0.0"]
# ///
"""Reads one's own dialogues with DuckDB, which is told every name and type: an object a row, a list in its own table.

duckdb_own.py FILE DATABASE MEMORY [COLUMNS [LIST]]

A file without columns is a CSV of texts, or lines of a chat that end in .txt.
"""

import sys

import duckdb

path, database, memory = sys.argv[1:4]
columns, items = (*sys.argv[4:], "", "")[:2]
with duckdb.connect(database) as con:
    con.execute(f"set memory_limit = '{memory}'")
    con.execute("set force_compression = 'zstd'")
    source = f"read_json('{path}', format = 'newline_delimited', columns = {{{columns}}})"
    if path.endswith(".txt"):
        form = "columns = {line: 'varchar'}, header = false, delim = '\\x01', quote = '', escape = ''"
        pattern = r"(\d+/\d+/\d\d, \d+:\d\d [AP]M) - ([^:]+): (.*)"
        parts = f"unnest(regexp_extract(line, '{pattern}', ['time', 'who', 'said']))"
        con.execute(
            "create table turns as select * replace (strptime(time, '%m/%d/%y, %I:%M %p') as time) "
            f"from (select {parts} from read_csv('{path}', {form}))"
        )
    elif not columns:
        con.execute(f"create table turns as from read_csv('{path}', all_varchar = true, header = true, delim = ',')")
    elif not items:
        con.execute(f"create table records as from {source}")
    else:
        con.execute(f"create temp table read as select row_number() over () as number, * from {source}")
        con.execute(f"create table records as select * exclude ({items}) from read")
        item = f"generate_subscripts({items}, 1) as place, unnest({items}, max_depth := 2)"
        con.execute(f"create table turns as select number, {item} from read")
