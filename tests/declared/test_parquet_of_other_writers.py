"""Parquet as pyarrow, DuckDB and Polars write it, in one row group or many: all of it is loaded and comes back."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from talkhouse.build.progress import Silent
from talkhouse.build.run import build
from talkhouse.schema import warehouse
from talkhouse.schema.sql import quoted
from tests.declared.invented_corpora import HEAD
from tests.declared.whole_build import not_restored

PAGE = f"""{HEAD}format = "turns"
[dialogue]
id = "id"
[turn]
text = "id"
"""
ROWS, GROUPS = 100, {1: 1, 2: 2, 50: 10}
"""Row groups; DuckDB makes none of less than 2,048 rows, and so fewer of them."""
WORDS = pa.dictionary(pa.int32(), pa.string())
MESSAGE = pa.struct([("role", pa.string()), ("content", pa.string())])


def text(row: int, part: int = 0) -> str:
    return f"row {row} part {part} {'x' * (row % 50)}"


def parts(row: int) -> list[str]:
    return [text(row % 30, part) for part in range(row % 4)]


OF_PYARROW: dict[str, tuple[pa.DataType, Callable[[int], Any]]] = {
    "text": (pa.string(), text),
    "list": (pa.list_(pa.string()), parts),
    "messages": (pa.list_(MESSAGE), lambda row: [{"role": "user", "content": part} for part in parts(row)]),
    "struct": (MESSAGE, lambda row: {"role": "user", "content": text(row)}),
    "map": (pa.map_(pa.string(), pa.string()), lambda row: [(part, part) for part in parts(row)]),
    "lists": (pa.list_(pa.list_(pa.string())), lambda row: [parts(row), []]),
    "words": (WORDS, lambda row: text(row % 7)),
    "list_of_words": (pa.list_(WORDS), parts),
    "struct_of_words": (pa.struct([("a", WORDS)]), lambda row: {"a": text(row % 7)}),
    "large": (pa.large_list(pa.large_string()), parts),
    "pair": (pa.list_(pa.string(), 2), lambda row: [text(row), text(row, 1)]),
    "view": (pa.string_view(), text),
    "list_view": (pa.list_view(pa.string_view()), parts),
    "bytes": (pa.list_(pa.binary_view()), lambda row: [part.encode() for part in parts(row)]),
    "always_null": (pa.list_(pa.struct([("a", pa.null()), ("b", pa.string())])), lambda _: [{"a": None, "b": "x"}]),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "usual": {},
    "without_dictionary": {"use_dictionary": False},
    "small_dictionary": {"dictionary_pagesize_limit": 200, "data_page_size": 300},
    "pages_2": {"data_page_version": "2.0", "data_page_size": 300},
    "without_schema": {"store_schema": False},
    "delta": {"use_dictionary": False, "column_encoding": {"id": "DELTA_BYTE_ARRAY"}},
}
OF_DUCKDB = {
    "messages": "[{role: 'user', content: 'text ' || i}, {role: 'bot', content: repeat('x', (i % 50)::int)}]",
    "list": "['a' || i, null, 'b']",
    "map": "map {i: 'v' || i}",
    "nested": "{a: [{b: ['x' || i]}]}",
    "enums": "['a'::enum('a', 'b')]",
    "json": "('{\"a\":' || i || '}')::json",
    "list_of_json": "['{}'::json]",
    "uuids": "[uuid()]",
    "sum": "i::hugeint",
    "interval": "[interval (i) day]",
    "time": "time '01:02:03.5'",
    "time_of_zone": "'01:02:03+02'::timetz",
    "time_ns": "'01:02:03.123456789'::time_ns",
    "moment": "timestamptz '2020-01-01 00:00:00+00'",
    "moments": "['2020-01-01'::timestamp_s]",
    "moment_ns": "'2020-01-01'::timestamp_ns",
    "no_date": "'infinity'::date",
    "blob": "'a'::blob",
    "bits": "'0101'::bit",
    "decimal": "[1.50::decimal(38, 2)]",
    "array": "['a', 'b']::varchar[2]",
    "variant": "{a: i, b: 'x'}::variant",
    "bignum": "i::bignum",
    "union": "union_value(a := i)",
    "null": "null",
    "empty": "[]",
    "float": "0.1::float",
    "geometry": "'POINT(1 2)'::geometry",
    "tuple": "row(1, 'a')",
}
OF_POLARS: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "messages": (pl.List(pl.Struct({"role": pl.String, "content": pl.String})), OF_PYARROW["messages"][1]),
    "list": (pl.List(pl.String), parts),
    "categories": (pl.List(pl.Categorical), parts),
    "category": (pl.Categorical, lambda row: text(row % 7)),
    "struct_of_category": (pl.Struct({"a": pl.Categorical}), lambda row: {"a": text(row % 7)}),
    "enums": (pl.List(pl.Enum(["a", "b"])), lambda _: ["a"]),
    "array": (pl.Array(pl.String, 2), lambda _: ["a", "b"]),
    "decimal": (pl.Decimal(10, 2), lambda _: Decimal("1.50")),
    "date": (pl.Date, lambda _: date(2020, 1, 1)),
    "time": (pl.Time, lambda _: time(1, 2, 3)),
    "moment": (pl.Datetime("ns", "Europe/Berlin"), lambda _: datetime(2020, 1, 1, tzinfo=UTC)),
    "duration": (pl.Duration, lambda row: timedelta(row)),
    "null": (pl.List(pl.Null), lambda _: [None]),
    "half": (pl.Float16, lambda _: 1.5),
}


@pytest.mark.slow
def test_what_other_programs_write_is_loaded_and_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "toy"
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text(PAGE)
    for groups, of_duckdb in GROUPS.items():
        for how, options in OPTIONS.items():
            begin = f"pyarrow {groups} {how} "
            arrays = {name: pa.array(map(value, range(ROWS)), kind) for name, (kind, value) in OF_PYARROW.items()}
            table = pa.table({"id": ids(begin), **arrays})
            pq.write_table(table, folder / f"{begin}.parquet", row_group_size=ROWS // groups, **options)
        begin = f"polars {groups} "
        columns = {name: pl.Series(map(value, range(ROWS)), dtype=kind) for name, (kind, value) in OF_POLARS.items()}
        frame = pl.DataFrame({"id": ids(begin), **columns})
        frame.write_parquet(folder / f"{begin}.parquet", row_group_size=ROWS // groups)
        for version in ("V1", "V2") if groups < max(GROUPS) else ("V2",):
            begin = f"duckdb {of_duckdb} {version} "
            of_some = OF_DUCKDB if groups < max(GROUPS) else ["messages"]
            values = "".join(f", {OF_DUCKDB[name]} as {quoted(name)}" for name in of_some)
            duckdb.sql(
                f"copy (select '{begin}' || i as id{values} from range({2048 * of_duckdb}) t(i)) "
                f"to '{folder / begin}.parquet' (format parquet, row_group_size 2048, parquet_version {version})"
            )
    expected = sum(pq.ParquetFile(path).metadata.num_rows for path in folder.glob("*.parquet"))
    assert {pq.ParquetFile(path).num_row_groups for path in folder.glob("*.parquet")} == {*GROUPS, *GROUPS.values()}
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data")
    with warehouse.connect(tmp_path / "w.duckdb") as con:
        assert con.execute("select count(*) from main.turns").fetchall() == [(expected,)]
        assert con.execute("select rule, detail from meta.findings").fetchall() == []
        assert list(not_restored(con, ["toy"])) == []


def ids(begin: str) -> list[str]:
    return [f"{begin}{row}" for row in range(ROWS)]
