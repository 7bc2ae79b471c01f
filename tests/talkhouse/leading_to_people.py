"""What in the samples leads to people, and where an export still has it."""

import json
import re

import duckdb
import polars as pl

from tests.data_files import data_of

AUTHORS, POSTS = "mpchat", "mantis"
"""Corpora whose keys lead to public pages."""

_OF_PEOPLE = data_of(__file__)["of_people"]
_PUBLIC = """
select unnest([dialogue_id, native_id, extra ->> 'direct_url', extra ->> 'file_name']) from main.dialogues where {0}
union all select record_id from main.records where {0}
union all select unnest([persona_id, image_file, image_url, extra ->> 'url', extra ->> 'permalink'])
from main.personas where {0}
union all select url from main.images where {0}
"""
_TEXTS = "select text from main.turns union all select text from main.texts union all select text from main.personas"


def found_in(text: str, identifiers: set[str]) -> set[str]:
    """Return the ids that a text has, as wholes: 'ann' is not in 'planned'."""
    lower = text.lower()
    # All at once, and only what is there with a look at what is beside it: there are a thousand ids, and megabytes.
    there = pl.Series([lower]).str.extract_many([*map(_written, identifiers)], overlapping=True).explode().unique()
    return {found for found in there if found and re.search(rf"(?<![\w.]){re.escape(found)}(?![\w.])", lower)}


def _written(identifier: str) -> str:
    """Return an id as JSON has it, in lower case."""
    return json.dumps(identifier.lower(), ensure_ascii=False)[1:-1]


def leading_to_people(con: duckdb.DuckDBPyConnection) -> set[str]:
    """Return all that leads to a person, but for what people write in their texts."""
    public = f"corpus_id in ('{AUTHORS}', '{POSTS}')"
    values = {value for (value,) in con.execute(f"{_OF_PEOPLE} union all {_PUBLIC.format(public)}").fetchall() if value}
    texts = " ".join(text for (text,) in con.execute(_TEXTS).fetchall())
    in_texts = found_in(texts, values)
    found = {value for value in values if _written(value) not in in_texts and not value.isdigit()}
    assert {f"{AUTHORS}:ann", "W1F", "301.0", f"{AUTHORS}:s0-s1"} <= found
    return found
