"""The data dictionary in docs/ says what the tables and views are now."""

from pathlib import Path

import duckdb

from talkhouse.explore.data_dictionary import render
from talkhouse.ingest.registry import corpora
from talkhouse.queries.catalogue import catalogue

DICTIONARY = Path(__file__).parents[3] / "docs" / "dictionary.md"


def test_the_dictionary_is_current(con: duckdb.DuckDBPyConnection, regen: bool) -> None:
    text = render(con, list(corpora().values()), list(catalogue().views))
    if regen:
        DICTIONARY.write_text(text, encoding="utf-8")
    assert DICTIONARY.read_text(encoding="utf-8") == text
