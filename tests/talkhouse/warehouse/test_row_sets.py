"""The hash of a set of rows: the same in any order, another for any other value, type or number of rows."""

import duckdb
import pytest

from talkhouse.warehouse.row_sets import RowSet, row_set, row_sets_of

DIFFERENT = {
    "a row twice": ("values (1), (1)", "values (1)"),
    "two pairs": ("values (1), (1)", "values (2), (2)"),
    "a row less": ("values (1), (2)", "values (1)"),
    "columns exchanged": ("select 1, 2", "select 2, 1"),
    "null and nothing": ("select null::varchar", "select ''"),
    "nulls in other columns": ("select 'a', null::varchar", "select null::varchar, 'a'"),
    "text and number": ("select 1", "select '1'"),
    "date and number": ("select 1", "select date '1970-01-02'"),
    "sizes of numbers": ("select 1::bigint", "select 1::integer"),
    "zeros": ("select 0.0::double", "select -0.0::double"),
    "an empty list and null": ("select []::integer[]", "select null::integer[]"),
    "a list with null and an empty one": ("select [null]::integer[]", "select []::integer[]"),
    "a struct of null and null": ("select {'a': null::integer}", "select null::struct(a integer)"),
    "items in another order": ("select ['a', 'b']", "select ['b', 'a']"),
    "blanks in JSON": ("""select '{"a": 1}'::json""", """select '{"a":1}'::json"""),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_it_is_another_for_other_rows(one: str, other: str) -> None:
    with duckdb.connect() as con:
        assert row_set(con, one) != row_set(con, other)


def test_the_order_of_rows_and_the_sign_of_nan_do_not_matter() -> None:
    rows = "select i, hash(i)::varchar as text, [i, null] as list, i / 7.0 as number from range(5000) t(i)"
    with duckdb.connect() as con:
        assert row_set(con, rows) == row_set(con, f"from ({rows}) order by text") != RowSet(0, "0")
        assert row_set(con, "select 'nan'::double") == row_set(con, "select -('nan'::double)")
        assert row_set(con, "select 1 where false") == RowSet(0, "0")


def test_a_corpus_is_hashed_by_table(con: duckdb.DuckDBPyConnection) -> None:
    hashes = row_sets_of(con, "dbdc3")
    turns = con.execute("select count(*) from main.turns where starts_with(dialogue_id, 'dbdc3:')").fetchall()
    assert [(hashes["main.turns"].rows,)] == turns
    assert hashes == row_sets_of(con, "dbdc3")
    assert hashes["main.turns"] != row_sets_of(con, "mpchat")["main.turns"]
    assert "meta.loads" not in hashes
