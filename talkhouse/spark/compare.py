"""Compares a relation in Spark with the same one in DuckDB: names, types and every cell, and says what differs first.

Rows are compared in the order of their grain, for a relation has no order of its own. Texts are equal to the character,
numbers with a fraction to 1e-12 of the larger one, NaN equals NaN, and null is equal to nothing but null.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
from pyarrow import compute
from pyarrow import lib as pa
from pyarrow.types import is_floating, is_list

from talkhouse.schema.sql import quoted
from talkhouse.translation.translated import spark_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 100_000
"""How many rows of a relation are in memory at once, of either side."""

_PARTITION = "corpus"
"""The column that tables have in Spark only: the folder of a row."""

_TOLERANCE = 1e-12
_SHOWN = 200
"""Characters of a value that are shown."""

pc: Any = compute
"""Its functions are made when it is imported, so that no type checker knows them."""

Key = tuple[Any, ...]
Read = Callable[[Key | None, Key | None], pa.Table]
"""Reads the rows from one key up to, and without, another; a limit may be missing."""


class SparkColumn(NamedTuple):
    """A column, with its type in DuckDB's words and in Spark's."""

    name: str
    type: str
    spark_type: str


class ComparedRelation(NamedTuple):
    """A table or a view: what tells its rows apart, and its columns in order."""

    schema: str
    name: str
    grain: tuple[str, ...]
    columns: tuple[SparkColumn, ...]

    @property
    def full_name(self) -> str:
        """The name as people write it."""
        return f"{self.schema}.{self.name}"

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that rows are sorted by; all of them where the relation has no grain."""
        return self.grain or tuple(column.name for column in self.columns)


class SparkDifference(NamedTuple):
    """The first thing in which Spark's relation differs; a value may be long, and is shown in part."""

    relation: str
    what: str
    key: dict[str, Any] | None
    """Of the row; null where the columns differ."""
    column: str | None
    expected: Any
    found: Any

    def __str__(self) -> str:
        place = [] if self.key is None else [f"{name}={_shown(value)}" for name, value in self.key.items()]
        place += [self.column] if self.column else []
        where = f" ({', '.join(place)})" if place else ""
        begin = _begin(self.expected, self.found)
        expected, found = _shown(self.expected, begin), _shown(self.found, begin)
        return f"{self.relation}{where}: {self.what}: expected {expected}, found {found}"


class ComparedRows(NamedTuple):
    """How many rows were equal before the first difference, if there is one."""

    rows: int
    difference: SparkDifference | None


def compare(
    con: duckdb.DuckDBPyConnection, spark: "SparkSession", relation: ComparedRelation, rows_at_once: int = ROWS
) -> ComparedRows:
    """Compare a relation of a session of Spark (4.0 or later) with the one by that name in DuckDB.

    A relation of more rows is read in ranges of its key, each by a query of its own. What Spark raises is passed on.
    """
    frame = spark.table(spark_name(relation.schema, relation.name)).drop(_PARTITION)
    types = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
    if difference := _difference_of_columns(relation, types):
        return ComparedRows(0, difference)
    return compare_rows(con, relation, lambda low, high: _between(frame, relation, low, high).toArrow(), rows_at_once)


def compare_rows(
    con: duckdb.DuckDBPyConnection, relation: ComparedRelation, read: Read, rows_at_once: int = ROWS
) -> ComparedRows:
    """Compare the rows of a relation in DuckDB with those that are read elsewhere, in whatever order they come."""
    rows = 0
    for part in _ranges(con, relation, rows_at_once):
        found = read(part.low, part.high)
        if found.column_names == part.rows.column_names:
            found = _sorted(con, relation, found)
        if difference := first_difference(relation, part.rows, found):
            return ComparedRows(rows, difference)
        rows += part.rows.num_rows
    return ComparedRows(rows, None)


def _difference_of_columns(relation: ComparedRelation, found: Sequence[tuple[str, str]]) -> SparkDifference | None:
    expected = [(column.name, column.spark_type.lower().replace(" ", "")) for column in relation.columns]
    if expected == found:
        return None
    unlike = next((pair for pair in zip(expected, found, strict=False) if pair[0] != pair[1]), (expected, found))
    return SparkDifference(relation.full_name, "other columns", None, None, *unlike)


class KeyRange(NamedTuple):
    """Rows of DuckDB's, with the first key of theirs and that of the next ones."""

    rows: pa.Table
    low: Key | None
    high: Key | None


def _ranges(con: duckdb.DuckDBPyConnection, relation: ComparedRelation, rows_at_once: int) -> Iterator[KeyRange]:
    """Read a relation in DuckDB, sorted, some rows at once.

    The first rows have no lower limit and the last ones no upper one, so that no row of Spark's is in no range.
    """
    columns = ", ".join(
        f"{quoted(column.name)}::varchar as {quoted(column.name)}" if column.type == "JSON" else quoted(column.name)
        for column in relation.columns
    )
    with con.cursor() as cursor:
        sql = f"select {columns} from {quoted(relation.schema, relation.name)} {_order(relation)}"
        reader = cursor.sql(sql).to_arrow_reader(rows_at_once)
        waiting, low = reader.schema.empty_table(), None
        for batch in reader:
            waiting = pa.concat_tables([waiting, pa.Table.from_batches([batch])])
            high = _key(waiting, relation, waiting.num_rows - 1)
            cut = bisect_left(range(waiting.num_rows), 1, key=lambda row: _key(waiting, relation, row) == high)
            if waiting.num_rows > rows_at_once and cut:  # rows of one key stay together
                yield KeyRange(waiting.slice(0, cut), low, high)
                waiting, low = waiting.slice(cut), high
        yield KeyRange(waiting, low, None)


def _order(relation: ComparedRelation) -> str:
    """Order by the key; where rows share one, by what else is in them."""
    key = ", ".join(f"{quoted(name)} nulls first" for name in relation.key)
    return f"order by {key}, hash({', '.join(quoted(column.name) for column in relation.columns)})"


def _sorted(con: duckdb.DuckDBPyConnection, relation: ComparedRelation, table: pa.Table) -> pa.Table:
    """Sort rows of Spark's as those of DuckDB are, which also gives them DuckDB's types of Arrow."""
    with con.cursor() as cursor:
        cursor.register("read", table)
        return cursor.sql(f"select * from read {_order(relation)}").to_arrow_table()


def _between(frame: "DataFrame", relation: ComparedRelation, low: Key | None, high: Key | None) -> "DataFrame":
    """Keep the rows from one key up to, and without, another; Spark too has null before everything else."""
    types = {column.name: column.spark_type for column in relation.columns}
    columns = ", ".join(map(spark_name, relation.key))

    def struct(key: Key) -> str:
        values = zip(key, relation.key, strict=True)
        casts = (f"cast({_literal(value)} as {types[name]}) as {spark_name(name)}" for value, name in values)
        return f"struct({', '.join(casts)})"

    limits = [] if low is None else [f"struct({columns}) >= {struct(low)}"]
    limits += [] if high is None else [f"struct({columns}) < {struct(high)}"]
    return frame.where(" and ".join(limits)) if limits else frame


def _literal(value: Any) -> str:
    """Write a value as text whose characters mean nothing to the parser."""
    return "null" if value is None else f"cast(X'{str(value).encode().hex()}' as string)"


def first_difference(relation: ComparedRelation, expected: pa.Table, found: pa.Table) -> SparkDifference | None:
    """Compare two tables that are sorted by the relation's key; return the first difference."""
    if expected.schema.types != found.schema.types or expected.column_names != found.column_names:
        columns = (expected.schema.to_string(), found.schema.to_string())
        return SparkDifference(relation.full_name, "other columns", None, None, *columns)
    rows = min(expected.num_rows, found.num_rows)
    here, there = expected.slice(0, rows), found.slice(0, rows)
    key = _first_row(here.select(relation.key), there.select(relation.key))
    firsts = {name: _first_row(here.select([name]), there.select([name])) for name in here.column_names}
    column = min(firsts, key=lambda name: firsts[name])
    first = firsts[column]
    if first < key:
        value, other = expected[column][first].as_py(), found[column][first].as_py()
        return SparkDifference(
            relation.full_name, "another value", _named(relation, expected, first), column, value, other
        )
    if expected.num_rows != found.num_rows or key < rows:
        return _difference_of_rows(relation, expected, found, key)
    return None


def _difference_of_rows(relation: ComparedRelation, expected: pa.Table, found: pa.Table, row: int) -> SparkDifference:
    """Return the row on one side only: of two sorted ones, the row whose key comes first."""
    keys = [_key(table, relation, row) if row < table.num_rows else None for table in (expected, found)]
    is_missing = keys[1] is None or (keys[0] is not None and _sortable(keys[0]) < _sortable(keys[1]))
    key = _named(relation, expected if is_missing else found, row)
    what = "a row is missing" if is_missing else "a row too many"
    return SparkDifference(relation.full_name, what, key, None, f"{expected.num_rows} rows", f"{found.num_rows} rows")


def _first_row(expected: pa.Table, found: pa.Table) -> int:
    """Return the first row in which a column differs, or how many rows there are."""

    def are_equal(rows: int) -> bool:
        pairs = zip(expected.columns, found.columns, strict=True)
        return all(equal(column.slice(0, rows), other.slice(0, rows)) for column, other in pairs)

    if are_equal(expected.num_rows):
        return int(expected.num_rows)
    return bisect_left(range(expected.num_rows), True, key=lambda row: not are_equal(row + 1))


def equal(expected: pa.ChunkedArray, found: pa.ChunkedArray) -> bool:
    """Whether two columns of one type hold the same values, in lists of lists too."""
    if not pc.is_null(expected).equals(pc.is_null(found)):
        return False
    if is_list(expected.type):
        lengths = pc.list_value_length(expected).equals(pc.list_value_length(found))
        return lengths and equal(pc.list_flatten(expected), pc.list_flatten(found))
    if is_floating(expected.type):
        return _close(expected.drop_null(), found.drop_null())
    return bool(expected.equals(found))


def _close(expected: pa.ChunkedArray, found: pa.ChunkedArray) -> bool:
    """Whether numbers are equal, both NaN, or both finite and nearly equal."""
    same = pc.or_(pc.equal(expected, found), pc.and_(pc.is_nan(expected), pc.is_nan(found)))
    finite = pc.and_(pc.is_finite(expected), pc.is_finite(found))
    larger = pc.max_element_wise(pc.abs(expected), pc.abs(found))
    near = pc.less_equal(pc.abs(pc.subtract(expected, found)), pc.multiply(larger, _TOLERANCE))
    return bool(pc.all(pc.or_(same, pc.and_(finite, near)), min_count=0).as_py())


def _key(table: pa.Table, relation: ComparedRelation, row: int) -> Key:
    return tuple(table[name][row].as_py() for name in relation.key)


def _named(relation: ComparedRelation, table: pa.Table, row: int) -> dict[str, Any]:
    return dict(zip(relation.key, _key(table, relation, row), strict=True))


def _sortable(key: Key) -> list[tuple[bool, Any]]:
    return [(value is not None, value) for value in key]


def _begin(expected: Any, found: Any) -> int:
    """Return from which character on values are shown: a little before the first that differs."""
    pairs = enumerate(zip(repr(expected), repr(found), strict=False))
    differs = next((place for place, (here, there) in pairs if here != there), 0)
    return max(0, differs - _SHOWN // 4)


def _shown(value: Any, begin: int = 0) -> str:
    text = repr(value)
    end = begin + _SHOWN
    return f"{'...' if begin else ''}{text[begin:end]}{'...' if end < len(text) else ''}"
