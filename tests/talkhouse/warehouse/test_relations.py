"""Names that do not exist: what exists instead, what to type next, and what the shell offers after TAB."""

import duckdb
import pytest

from talkhouse.query.sandbox import suggest
from talkhouse.schema.errors import UsageError, closest
from talkhouse.warehouse.relations import check_corpus, relation


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


@pytest.mark.parametrize(
    ("query", "expected", "step"),
    [
        ("from turn", "one of: main.turns,", "talkhouse views"),
        ("from dbdc.breakdown_detection", "one of: dbdc3.breakdown_detection,", "talkhouse views"),
        ("select split from main.turns", "'split' is in: main.examples, main.records,", "talkhouse views NAME"),
        ("select turns.split from main.turns", "'split' is in: main.examples, main.records,", "talkhouse views NAME"),
        ("select txt from main.turns", "a column such as: text", "talkhouse views NAME"),
        ("select xyzzy_plugh from main.turns", "", "talkhouse views NAME"),
        ("selct 1", "", "at the mark"),
        ("select foo(1)", "", "talkhouse views NAME"),
    ],
)
def test_a_query_that_fails_gets_suggestions(
    con: duckdb.DuckDBPyConnection, query: str, expected: str, step: str
) -> None:
    with pytest.raises(duckdb.Error) as caught:
        con.execute(query)
    found = suggest(con, str(caught.value))
    assert expected in (found.expected or "")
    assert bool(expected) == (found.expected is not None)
    assert step in found.next_step
