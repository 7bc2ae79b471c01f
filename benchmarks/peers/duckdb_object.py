# /// script
# requires-python = ">=3.11"
# dependencies = ["duckdb==2.0.0"]
# ///
"""Reads MANtIS's conversations with DuckDB into two tables: every name and type is told, and nothing is checked.

duckdb_object.py FILE DATABASE

The file is one object, so that it is read as one value of the type MAP, which has to be in memory at once.
"""

import sys

import duckdb

UTTERANCE = (
    "struct(utterance varchar, utterance_time timestamp, utterance_pos integer, actor_type varchar, user_name varchar, "
    "user_id double, votes varchar, id varchar, is_answer integer)"
)
DIALOGUE = (
    f"struct(category varchar, title varchar, dialog_time timestamp, utterances {UTTERANCE}[], "
    "has_concatenated_utterances integer)"
)

path, database = sys.argv[1:]
with duckdb.connect(database) as con:
    con.execute(
        f"""
        create temp table read as
        select unnest(map_entries(dialogues), recursive := true)
        from read_json(
            ?, format = 'unstructured', records = false, columns = {{dialogues: 'map(varchar, {DIALOGUE})'}},
            maximum_object_size = 2_000_000_000
        )
        """,
        [path],
    )
    con.execute("create table dialogues as select * exclude (utterances) from read")
    con.execute("create table turns as select key, unnest(utterances, max_depth := 2) from read")
