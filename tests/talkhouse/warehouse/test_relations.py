"""Names that do not exist: what exists instead, and what to type next. And which views are those of one split."""

import duckdb
import pytest

from talkhouse.export.sandbox import suggest
from talkhouse.queries.catalogue import catalogue
from talkhouse.queries.views import split_view
from talkhouse.schema.errors import UsageError, closest
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import SplitView, check_corpus, relation
from tests.data_files import data_of


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("turn", "main.turns"),
        ("turns", "main.turns"),
        ("dbcd3.breakdown_detection", "dbdc3.breakdown_detection"),
        ("breakdown_detecton", "dbdc3.breakdown_detection"),
        ("bi.scheme_agrement", "bi.scheme_agreement"),
    ],
)
def test_the_nearest_name_comes_first(con: duckdb.DuckDBPyConnection, name: str, first: str) -> None:
    names = con.execute("select schema_name || '.' || table_name from duckdb_columns() where not internal").fetchall()
    assert closest(name, {name for (name,) in names})[0] == first


def test_where_none_is_near_all_are_listed() -> None:
    assert closest("xyzzy", ["main.turns", "bi.turns"]) == ["main.turns", "bi.turns"]


def test_a_relation_is_found_with_and_without_main(con: duckdb.DuckDBPyConnection) -> None:
    assert relation(con, "turns") == relation(con, "main.turns")
    assert relation(con, "dbdc3.breakdown_detection")["comment"]
    with pytest.raises(UsageError, match=r"no view or table 'breakdown_detection'[\s\S]*one of: dbdc3\.breakdown_det"):
        relation(con, "breakdown_detection")


def test_an_unknown_corpus_is_rejected_with_those_that_exist(con: duckdb.DuckDBPyConnection) -> None:
    check_corpus(con, "dbdc3")
    with pytest.raises(UsageError, match=r"no corpus 'dbdc4'[\s\S]*one of: .*dbdc3"):
        check_corpus(con, "dbdc4")


@pytest.mark.parametrize(("query", "expected", "step"), data_of(__file__)["a_query_that_fails_gets_suggestions"])
def test_a_query_that_fails_gets_suggestions(
    con: duckdb.DuckDBPyConnection, query: str, expected: str, step: str
) -> None:
    with pytest.raises(duckdb.Error) as caught:
        con.execute(query)
    found = suggest(con, str(caught.value))
    assert expected in (found.expected or "")
    assert bool(expected) == (found.expected is not None)
    assert step in found.next_step


VIEWS = sql_of(__file__, "relations_views")


def test_a_view_of_a_split_has_its_name_and_its_query() -> None:
    with duckdb.connect() as con:
        con.execute(VIEWS)
        assert Warehouse(con).split_views == {
            "toy.mood_dev": SplitView("toy.mood", "dev", True),
            'toy.mood_it\'s "odd" too': SplitView("toy.mood", 'it\'s "odd" too', False),
            "toy.mood_10_dev": SplitView("toy.mood_10", "dev", False),
            "select.mood_dev": SplitView("select.mood", "dev", False),
        }


def test_a_build_makes_no_other_views_beside_the_catalogues(con: duckdb.DuckDBPyConnection) -> None:
    names = "select schema_name || '.' || view_name from duckdb_views() where not internal and not temporary"
    views = {name for (name,) in con.execute(names).fetchall()}
    written = {view.full_name: view for view in catalogue().views}
    split_views = Warehouse(con).split_views
    assert split_views.keys() == views - written.keys()
    derived = {split_view(written[view.task], view.split, only_default=True).full_name for view in split_views.values()}
    assert derived == split_views.keys()
    assert all(view.only_default for view in split_views.values())
