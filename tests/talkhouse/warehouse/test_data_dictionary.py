"""The data dictionary in docs/ says what the tables and views are now."""

import duckdb

from talkhouse.ingest.registry import corpora
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.tables import metadata
from talkhouse.warehouse.data_dictionary import TABLES, render, tables
from tests.test_docs import check_pages


def test_the_dictionary_is_current(con: duckdb.DuckDBPyConnection, regen: bool) -> None:
    check_pages("dictionary", render(con, list(corpora().values()), list(catalogue().views)), regen)


def test_tables_are_in_the_order_in_which_they_are_explained() -> None:
    names = [entry.name for entry in tables()]
    main = [name.removeprefix("main.") for name in names if name.startswith("main.")]
    assert tuple(main) == TABLES
    assert {*TABLES} == {table.name for table in metadata.tables.values() if table.schema is None}
    assert all(name.startswith("meta.") for name in names[len(TABLES) :])
