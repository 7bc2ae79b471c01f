"""The comparison itself: it notices every cell that changed, and nothing else."""

from datetime import datetime
from itertools import permutations
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.schema.sql import quoted
from talkhouse.spark.compare import ComparedRelation, ComparedRows, SparkColumn, SparkDifference, compare_rows
from tests.conftest import invented_examples

NAN, INFINITY = float("nan"), float("inf")
VALUES: dict[str, list[Any]] = {
    "VARCHAR": [
        *(None, "", " ", "a", "A", "a ", " a", "a\u00a0", "é", "e\u0301", "a\x00", "a\r\n", "a\n", "null", "\\", "'"),
        *("\U0001f600", "\ufeffa", "1", "1.0"),
    ],
    "INTEGER": [None, 0, 1, -1, 2**31 - 1],
    "BIGINT": [None, 0, 1, 2**53, 2**53 + 1],
    "DOUBLE": [None, 0.0, 1.0, 1 + 1e-11, -1.0, NAN, INFINITY, -INFINITY, 1e-300, 1e300],
    "BOOLEAN": [None, True, False],
    "TIMESTAMP": [None, datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 0, 0, 1), datetime(1969, 12, 31)],  # noqa: DTZ001
    "JSON": [None, "{}", '{"a": 1}', '{"a":1}', "null", '"null"'],
    "BLOB": [None, b"", b"\x00", b"\xff", b"a"],
    "VARCHAR[]": [None, [], [None], [""], ["a", "b"], ["b", "a"], ["ab"], ["a", "b", None], ["a", None, "b"]],
    "VARCHAR[][]": [None, [], [None], [[]], [[None]], [["a"], ["b"]], [["a", "b"]], [["a", "b"], []], [["b"], ["a"]]],
    "DOUBLE[]": [None, [], [None], [0.0], [NAN], [0.0, 1.0], [1.0, 0.0], [1 + 1e-11, 0.0]],
}
"""Distinct values of each type."""

GRAIN = ("name", "number")
KEYS = st.tuples(st.one_of(st.none(), st.text(max_size=3)), st.one_of(st.none(), st.integers(0, 3)))
CELLS = [st.sampled_from(values) for values in VALUES.values()]
ROWS = st.lists(st.tuples(KEYS, *CELLS), min_size=1, max_size=12, unique_by=lambda row: row[0]).map(
    lambda rows: [(*key, *cells) for key, *cells in rows]
)
RELATION = ComparedRelation(
    "main",
    "invented",
    GRAIN,
    (
        SparkColumn("name", "VARCHAR", "string"),
        SparkColumn("number", "INTEGER", "int"),
        *(SparkColumn(f"a {type_}", type_, "-") for type_ in VALUES),
    ),
)
Rows = list[tuple[Any, ...]]


def table(con: duckdb.DuckDBPyConnection, name: str, relation: ComparedRelation, rows: Rows) -> None:
    columns = ", ".join(f"{quoted(column.name)} {column.type}" for column in relation.columns)
    con.execute(f"create or replace table {name} ({columns})")
    if rows:
        con.executemany(f"insert into {name} values ({', '.join('?' for _ in relation.columns)})", rows)


def read_all(con: duckdb.DuckDBPyConnection, name: str, relation: ComparedRelation) -> pa.Table:
    texts = [quoted(column.name) for column in relation.columns if column.type == "JSON"]
    replaced = f"replace ({', '.join(f'{text}::varchar as {text}' for text in texts)})" if texts else ""
    return con.sql(f"select * {replaced} from {name}").to_arrow_table()


def in_order(key: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    return [(value is not None, value) for value in key]


def compared(expected: Rows, found: Rows, rows_at_once: int = 100) -> ComparedRows:
    """Compare rows with others, read elsewhere in the order in which they are given."""
    with duckdb.connect() as con, duckdb.connect() as elsewhere:
        table(con, RELATION.name, RELATION, expected)
        table(elsewhere, "found", RELATION, found)
        rows = read_all(elsewhere, "found", RELATION)
        keys = [in_order((row["name"], row["number"])) for row in rows.select(GRAIN).to_pylist()]

        def read(low: tuple[Any, ...] | None, high: tuple[Any, ...] | None) -> pa.Table:
            between = [(low is None or key >= in_order(low)) and (high is None or key < in_order(high)) for key in keys]
            return rows.filter(pa.array(between, pa.bool_()))

        return compare_rows(con, RELATION, read, rows_at_once)


LONG = ("VARCHAR", "DOUBLE", "VARCHAR[]", "VARCHAR[][]")
"""Types with so many values that to try all pairs takes seconds."""


@pytest.mark.parametrize("type_", [pytest.param(type_, marks=[pytest.mark.slow] * (type_ in LONG)) for type_ in VALUES])
def test_every_other_value_in_every_row_is_noticed(type_: str) -> None:
    values = VALUES[type_]
    relation = ComparedRelation(
        "main", "invented", ("row",), (SparkColumn("row", "INTEGER", "int"), SparkColumn("value", type_, "-"))
    )
    with duckdb.connect() as con:
        table(con, relation.name, relation, list(enumerate(values)))
        rows = read_all(con, relation.name, relation)
        assert compare_rows(con, relation, lambda *_: rows) == ComparedRows(len(values), None)
        for row, other in permutations(range(len(values)), 2):
            places = [other if place == row else place for place in range(len(values))]
            changed = rows.set_column(1, "value", rows.column("value").take(places))
            difference = compare_rows(con, relation, lambda *_, changed=changed: changed).difference
            assert difference is not None, (values[row], values[other])
            assert (difference.key, difference.column) == ({"row": row}, "value")


@pytest.mark.slow
@invented_examples(200)
@given(ROWS, st.data(), st.integers(1, 5))
def test_one_changed_cell_is_noticed_wherever_it_is(rows: Rows, data: st.DataObject, rows_at_once: int) -> None:
    row = data.draw(st.integers(0, len(rows) - 1))
    place = data.draw(st.integers(0, len(RELATION.columns) - 1))
    column = RELATION.columns[place]
    others = [value for value in VALUES[column.type] if repr(value) != repr(rows[row][place])]
    changed = list(rows)
    changed[row] = (*rows[row][:place], data.draw(st.sampled_from(others)), *rows[row][place + 1 :])
    difference = compared(rows, data.draw(st.permutations(changed)), rows_at_once).difference
    assert difference is not None
    if place >= len(GRAIN):
        assert (difference.column, difference.what) == (column.name, "another value")
        assert difference.key == dict(zip(GRAIN, rows[row], strict=False))


@pytest.mark.slow
@invented_examples(50)
@given(ROWS, st.data(), st.integers(1, 5))
def test_rows_in_another_order_are_equal_and_one_less_or_more_is_not(
    rows: Rows, data: st.DataObject, rows_at_once: int
) -> None:
    shuffled = data.draw(st.permutations(rows))
    assert compared(rows, shuffled, rows_at_once) == ComparedRows(len(rows), None)
    key = dict(zip(GRAIN, shuffled[0], strict=False))
    missing = compared(rows, shuffled[1:], rows_at_once).difference
    assert missing is not None
    assert (missing.what, missing.key) == ("a row is missing", key)
    doubled = compared(rows, [*shuffled, shuffled[0]], rows_at_once).difference
    assert doubled is not None
    assert doubled.what == "a row too many"


def test_rows_that_share_a_key_may_come_in_any_order() -> None:
    rows = [("a", 1, *row) for row in zip(*(values[:3] for values in VALUES.values()), strict=True)]
    assert compared(rows, rows[::-1], 1) == ComparedRows(3, None)
    assert compared(rows, [rows[0], rows[0], rows[2]], 1).difference is not None


def test_no_rows_are_equal_to_no_rows_only() -> None:
    row = ("a", 1, *(values[1] for values in VALUES.values()))
    assert compared([], []) == ComparedRows(0, None)
    for expected, found in ([row], []), ([], [row]):
        assert compared(expected, found).difference is not None


@pytest.mark.parametrize("number", [1e300, 1.0, 1e-300, -3.5])
def test_doubles_may_differ_by_a_millionth_of_a_millionth(number: float) -> None:
    relation = ComparedRelation(
        "main", "invented", ("row",), (SparkColumn("row", "INTEGER", "int"), SparkColumn("x", "DOUBLE[]", "-"))
    )
    with duckdb.connect() as con:
        table(con, relation.name, relation, [(1, [0.0, number, NAN])])
        for factor, is_equal in [(1 + 9e-13, True), (1 - 9e-13, True), (1 + 2e-12, False), (1 - 2e-12, False)]:
            found = pa.table({"row": pa.array([1], pa.int32()), "x": [[-0.0, number * factor, NAN]]})
            assert (compare_rows(con, relation, lambda *_, found=found: found).difference is None) == is_equal


@pytest.mark.parametrize(
    "found",
    [
        {"row": pa.array([1], pa.int64()), "text": ["a"]},
        {"row": pa.array([1], pa.int32()), "Text": ["a"]},
        {"text": ["a"], "row": pa.array([1], pa.int32())},
        {"row": pa.array([1], pa.int32())},
        {"row": pa.array([1], pa.int32()), "text": ["a"], "more": ["a"]},
        {"row": pa.array([1], pa.int32()), "text": [b"a"]},
    ],
    ids=["type", "name", "order", "less", "more", "bytes"],
)
def test_other_columns_are_a_difference(found: dict[str, Any]) -> None:
    relation = ComparedRelation(
        "main", "t", (), (SparkColumn("row", "INTEGER", "int"), SparkColumn("text", "VARCHAR", "string"))
    )
    with duckdb.connect() as con:
        table(con, relation.name, relation, [(1, "a")])
        assert compare_rows(con, relation, lambda *_: read_all(con, "t", relation)).difference is None
        difference = compare_rows(con, relation, lambda *_: pa.table(found)).difference
        assert difference is not None
        assert difference.what == "other columns"


def test_a_difference_says_where_it_is_and_shows_long_texts_where_they_differ() -> None:
    long = "x" * 5000
    difference = SparkDifference(
        "bi.turns", "another value", {"id": "a/1", "n": 2}, "text", f"{long}é{long}", f"{long}e{long}"
    )
    text = str(difference)
    assert text.startswith("bi.turns (id='a/1', n=2, text): another value: expected ...xxx")
    assert "é" in text
    assert len(text) < 600
