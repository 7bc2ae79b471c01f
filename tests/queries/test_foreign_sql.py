"""SQL that did not come with the installed code: what it may be, and where it is said that it is something else."""

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.queries.catalogue import catalogue, catalogue_of
from talkhouse.queries.files import QueryFile, own_files
from talkhouse.queries.foreign_sql import LONGEST
from talkhouse.schema.errors import CatalogueError
from talkhouse.translation.translate import left_out, left_out_lines
from tests.data_files import data_of

VIEW = "-- A row is a talk.\n-- grain: dialogue_id\n-- A comment.\n\n"


def test_all_sql_of_ours_would_pass() -> None:
    elsewhere = tuple(replace(file, path=Path("elsewhere", file.folder, file.name)) for file in own_files())
    assert catalogue_of(elsewhere).hash == catalogue_of(own_files()).hash
    assert len(dashboards(elsewhere)) == len(dashboards())
    assert metrics(elsewhere) == metrics()


REFUSED = {
    "two": ("select 1;\nselect 2", "5", "more than one SELECT"),
    "no select": ("drop table main.turns", "5", "no SELECT"),
    "a bracket too many": ("select 1) union (select 2", "5", "syntax error"),
    "a type that is computed": ("select from_json('1', repeat('[', 9)) as dialogue_id", "5", "a type that is computed"),
    "a parameter": ("select $a as dialogue_id", "5", "without parameters"),
    "a copy": ("with x as (copy (select 1) to 'made.csv') from x", "5", "copy|insert|statement|no SELECT"),
    "a file": ("select dialogue_id\nfrom 'talks.csv'", "6", "'talks.csv', which is no table or view"),
    "a function of files": ("select 1\nfrom read_text('a')", "6", "the function 'read_text'"),
    "a scalar function": ("select\n1,\ngetvariable('a')", "7", "the function 'getvariable'"),
    "chance": ("select random() as dialogue_id", "5", "the function 'random'"),
    "the clock": ("select now() as dialogue_id", "5", "the function 'now'"),
    "a query in a text": ("from query('select 1')", "5", "the function 'query'"),
    "settings": ("from duckdb_settings()", "5", "the function 'duckdb_settings'"),
    "tables of the system": ("from information_schema.tables", "5", "information_schema.tables"),
    "views of the system": ("from duckdb_views", "5", "duckdb_views"),
    "views of the system by their schema": ("from main.pragma_database_list", "5", "main.pragma_database_list"),
    "another database": ("from system.main.duckdb_views", "5", "system.main.duckdb_views"),
    "a macro that is none": ("select toy.shout(dialogue_id) from main.dialogues", "5", "the function 'toy.shout'"),
    "a sample": ("from main.dialogues using sample 1", "5", "a sample"),
    "a description": ("select * from (describe main.dialogues)", "5", "show"),
    "much": (f"select '{'a' * LONGEST}'", "5", "more than 100,000 characters"),
    "deep": (f"select {'(' * 5_000}1{')' * 5_000}", "5", "levels of brackets|no SELECT"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_more_than_compute_is_refused_in_its_line(name: str) -> None:
    sql, line, found = REFUSED[name]
    file = QueryFile("toy", "moods.sql", VIEW + sql, Path("toy/moods.sql"))
    with pytest.raises(CatalogueError, match=found) as caught:
        catalogue_of((file,))
    assert f"toy/moods.sql:{line}\n" in str(caught.value).replace(": the SQL file is broken", "\n")


COMPUTED = data_of(__file__)["computed"]


@pytest.mark.parametrize("name", COMPUTED)
def test_what_computes_passes(name: str) -> None:
    other = QueryFile("bi", "turns.sql", "-- A row.\n-- grain: text\nselect text from main.turns", Path("turns.sql"))
    assert catalogue_of((QueryFile("toy", "moods.sql", VIEW + COMPUTED[name], Path("toy/moods.sql")), other)).views


# Talkhouse's own views can all be had in a lake: one that can't is named, with what to do.


def test_every_view_is_portable(con: duckdb.DuckDBPyConnection) -> None:
    refused = left_out(con, catalogue())
    assert not refused, "\n".join(
        [
            "a lake would be without views of Talkhouse's own; queries/README.md says what a view may use:",
            *left_out_lines(refused),
        ]
    )
