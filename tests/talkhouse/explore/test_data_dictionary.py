"""The data dictionary in docs/ says what the tables and views are now."""

from pathlib import Path

import duckdb

from talkhouse.explore.data_dictionary import TABLES, render, tables
from talkhouse.ingest.registry import corpora
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.tables import metadata

DICTIONARY = Path(__file__).parents[3] / "docs" / "dictionary.md"


def test_the_dictionary_is_current(con: duckdb.DuckDBPyConnection, regen: bool) -> None:
    text = render(con, list(corpora().values()), list(catalogue().views))
    if regen:
        DICTIONARY.write_text(text, encoding="utf-8")
    assert DICTIONARY.read_text(encoding="utf-8") == text


def test_tables_are_in_the_order_in_which_they_are_explained() -> None:
    names = [entry.name for entry in tables()]
    main = [name.removeprefix("main.") for name in names if name.startswith("main.")]
    assert tuple(main) == TABLES
    assert {*TABLES} == {table.name for table in metadata.tables.values() if table.schema is None}
    assert all(name.startswith("meta.") for name in names[len(TABLES) :])
