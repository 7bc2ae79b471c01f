"""Parquet: every type as JSON and back, files that lie, and what pyarrow, DuckDB and Polars write."""

import gzip
import io
import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from talkhouse.ingest.declared.record_files.content import RawRecord
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.limits import Limits
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.schema import warehouse
from talkhouse.schema.errors import SourceError
from tests.data_files import data_of
from tests.declared.invented_corpora import HEAD, not_restored
from tests.declared.record_file_pieces import back, parquet, records_of
from tests.lanes import one_in


def of(kind: pa.DataType, *values: Any) -> pa.Table:
    return pa.table({"a": pa.array(values, kind)})


def spelled(raw: bytes) -> list[str]:
    return [record.raw.decode()[5:-1] for record in records_of("a.parquet", raw)[1] if isinstance(record, RawRecord)]


MOMENT = datetime(2024, 1, 2, 3, 4, 5, 600_000, UTC)
TYPES = [
    (pa.string(), ["é\u2028", None, ""], ['"é\u2028"', "null", '""']),
    (pa.bool_(), [True, None], ["true", "null"]),
    (pa.null(), [None], ["null"]),
    (pa.int8(), [-128], ["-128"]),
    (pa.uint64(), [2**64 - 1], ["18446744073709551615"]),
    (pa.int64(), [-(2**63)], ["-9223372036854775808"]),
    (pa.float64(), [0.1, -0.0, math.inf, 1e300], ["0.1", "-0.0", '"Infinity"', "1e300"]),
    (pa.float32(), [0.1], ["0.10000000149011612"]),
    (pa.decimal128(10, 2), [Decimal("1.50"), Decimal("-0.05"), None], ["1.50", "-0.05", "null"]),
    (pa.binary(), [b"\x00\xff", b""], ['"AP8="', '""']),
    (pa.date32(), [date(2024, 1, 2)], ['"2024-01-02"']),
    (pa.time64("us"), [time(3, 4, 5, 6)], ['"03:04:05.000006"']),
    (pa.timestamp("ms"), [datetime(2024, 1, 2, 3, 4, 5)], ['"2024-01-02T03:04:05"']),  # noqa: DTZ001
    (pa.timestamp("us", "UTC"), [MOMENT, None], ['"2024-01-02T03:04:05.600000+00:00"', "null"]),
    (pa.timestamp("us", "Asia/Kolkata"), [MOMENT], ['"2024-01-02T08:34:05.600000+05:30"']),
    (pa.timestamp("us", "+02:00"), [MOMENT], ['"2024-01-02T05:04:05.600000+02:00"']),
    (pa.timestamp("us"), [datetime(1, 1, 1) - timedelta(0)], ["-62135596800000000"]),  # noqa: DTZ001
    (pa.duration("us"), [timedelta(seconds=1)], ["1000000"]),
    (pa.large_string(), ["x"], ['"x"']),
    (pa.list_(pa.float64()), [[1.5, None], None, []], ["[1.5,null]", "null", "[]"]),
    (pa.list_(pa.timestamp("us")), [[MOMENT.replace(tzinfo=None)]], ['["2024-01-02T03:04:05.600000"]']),
    (pa.struct({"y": pa.string(), "x": pa.date32()}), [{"y": "1", "x": None}, None], ['{"y":"1","x":null}', "null"]),
    (pa.map_(pa.string(), pa.int32()), [[("k", 1)], [("k", 1), ("k", 2)]], ['{"k":1}', '[["k",1],["k",2]]']),
    (pa.dictionary(pa.int32(), pa.string()), ["x", "y", "x", None], ['"x"', '"y"', '"x"', "null"]),
    (pa.list_(pa.int16(), 2), [[1, 2]], ["[1,2]"]),
]


@pytest.mark.parametrize(("kind", "values", "texts"), TYPES, ids=lambda part: str(part)[:30])
def test_each_type_has_its_spelling_and_comes_back(kind: pa.DataType, values: list[Any], texts: list[str]) -> None:
    raw = parquet(of(kind, *values))
    assert spelled(raw) == texts
    before, after = pq.read_table(io.BytesIO(raw)), pq.read_table(io.BytesIO(back("a.parquet", raw)))
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after.equals(before)


def test_nanoseconds_and_nan_come_back() -> None:
    raw = parquet(of(pa.timestamp("ns"), 1_700_000_000_000_000_001, -1))
    assert spelled(raw) == ['"2023-11-14T22:13:20.000000001"', '"1969-12-31T23:59:59.999999999"']
    assert pq.read_table(io.BytesIO(back("a.parquet", raw))).equals(pq.read_table(io.BytesIO(raw)))
    raw = parquet(of(pa.list_(pa.float64()), [math.nan]))
    assert spelled(raw) == ['["NaN"]']
    assert math.isnan(pq.read_table(io.BytesIO(back("a.parquet", raw)))["a"][0].as_py()[0])


def test_rows_are_objects_in_the_order_of_the_schema() -> None:
    table = pa.table({"b": [1, 2, 3], "a": ["x", None, "z"]}).replace_schema_metadata({"made by": "a test"})
    raw = parquet(table, row_group_size=2)
    assert records_of("a.parquet", raw)[1] == [
        RawRecord(0, "/0", b'{"b":1,"a":"x"}'),
        RawRecord(1, "/1", b'{"b":2,"a":null}'),
        RawRecord(2, "/2", b'{"b":3,"a":"z"}'),
    ]
    written = back("a.parquet", raw)
    assert pq.read_table(io.BytesIO(written)).equals(pq.read_table(io.BytesIO(raw)), check_metadata=True)
    assert gzip.decompress(back("a.parquet.gz", gzip.compress(raw))) == written
    assert pq.read_table(io.BytesIO(back("a.parquet", parquet(table.slice(0, 0))))).num_rows == 0


def test_a_required_column_and_lists_as_other_programs_name_them() -> None:
    schema = pa.schema([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.list_(pa.string()))])
    table = pa.table({"a": pa.array([1], pa.int32()), "b": [["x"]]}, schema=schema)
    for compliant in (True, False):
        raw = parquet(table, use_compliant_nested_type=compliant, store_schema=compliant)
        after = pq.read_table(io.BytesIO(back("a.parquet", raw)))
        assert after.schema.equals(pq.read_schema(io.BytesIO(raw)), check_metadata=True)


def test_what_is_no_parquet_or_damaged_is_refused_before_a_record_is_read() -> None:
    whole = parquet(pa.table({"a": [str(number) for number in range(5_000)]}), row_group_size=1_000)
    middle = len(whole) // 2
    lies = [b"", b"PAR1", b'{"a": 1}', whole[:-10], whole[:middle] + b"\xff" * 200 + whole[middle + 200 :]]
    lies += [b"PAR1" + b"\xff" * 100 + (2**31 - 1).to_bytes(4, "little") + b"PAR1", whole[:-9] + b"\xff" + whole[-8:]]
    for raw in lies:
        with pytest.raises(BadRecord) as caught:
            records_of("a.parquet", raw)
        assert caught.value.rule == "GF-14", raw[:20]


@pytest.mark.slow
def test_one_changed_byte_is_named_or_loads_as_parquet_reads_it() -> None:
    whole = parquet(pa.table({"a": ["one", "two"], "b": [[1], None]}), compression="none")
    for position in range(len(whole)):
        raw = whole[:position] + bytes([whole[position] ^ 0x41]) + whole[position + 1 :]
        try:
            records = records_of("a.parquet", raw)[1]
        except (BadRecord, SourceError):
            continue
        assert len(records) == pq.read_table(io.BytesIO(raw)).num_rows
        assert all(json.loads(record.raw) for record in records)


def test_a_file_that_holds_far_more_than_it_is_large() -> None:
    raw = parquet(pa.table({"a": pa.array(["x" * 1_000] * 10_000)}))
    with pytest.raises(SourceError, match="for each byte"):
        records_of("a.parquet", raw, limits=Limits(record=100_000))
    with pytest.raises(SourceError, match="bytes of one record"):
        records_of("a.parquet", parquet(pa.table({"a": ["x" * 1_000]})), limits=Limits(record=500))


def test_one_text_that_is_there_many_times_is_never_unfolded() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 2_000, pa.int32()), ["x" * 5_000_000])
    nested = pa.ListArray.from_arrays(pa.array(range(2_001), pa.int32()), column)
    for table in (pa.table({"a": column}), pa.table({"a": nested})):
        raw = parquet(table, store_schema=False, dictionary_pagesize_limit=10**8, compression="zstd")
        with pytest.raises(SourceError, match="for each byte"):
            records_of("a.parquet", raw)


def test_a_text_that_is_not_utf_8_is_found_before_a_record_is_read() -> None:
    buffers = pa.array([b"caf\xe9"] * 3).buffers()
    column = pa.StringArray.from_buffers(3, buffers[1], buffers[2])
    with pytest.raises(BadRecord, match=r"GF-14: .*UTF8"):
        records_of("a.parquet", parquet(pa.table({"a": column})))


def test_a_column_twice_is_refused() -> None:
    with pytest.raises(BadRecord, match="GF-12: the column 'a' occurs twice"):
        records_of("a.parquet", parquet(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])))


def test_texts_inside_of_lists_over_many_row_groups() -> None:
    messages = pa.list_(pa.struct([("role", pa.dictionary(pa.int32(), pa.string())), ("content", pa.string())]))
    rows = [[{"role": "user", "content": f"text {number % 3}"}] * (number % 4) for number in range(100)]
    table = pa.table({"a": pa.array(rows, messages), "b": [f"{number % 3}" for number in range(100)]})
    delta = {"use_dictionary": ["a.list.element.content"], "column_encoding": {"b": "DELTA_LENGTH_BYTE_ARRAY"}}
    for groups, options in ((1, {}), (2, {}), (50, {}), (2, delta)):
        raw = parquet(table, row_group_size=100 // groups, **options)
        assert [json.loads(record.raw)["a"] for record in records_of("a.parquet", raw)[1]] == rows
        assert pq.read_table(io.BytesIO(back("a.parquet", raw))).equals(pq.read_table(io.BytesIO(raw)))


def test_a_type_that_pyarrow_has_not_is_not_called_damage() -> None:
    sink = io.BytesIO()
    pl.DataFrame({"a": pl.Series([2**100], dtype=pl.Int128)}).write_parquet(sink)
    with pytest.raises(BadRecord, match="GF-14: pyarrow can't read this kind of Parquet: Integers with more than 64"):
        records_of("a.parquet", sink.getvalue())


PAGE = f"""{HEAD}format = "turns"
[dialogue]
id = "id"
[turn]
text = "id"
"""
ROWS, GROUPS = 100, {1: 1, 2: 2, 50: 3}
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
OPTIONS: dict[str, dict[str, Any]] = data_of(__file__)["options"]
MESSAGES = "[{role: 'user', content: 'text ' || i}, {role: 'bot', content: repeat('x', (i % 50)::int)}]"
OF_DUCKDB = (
    *(MESSAGES, "['a' || i, null, 'b']", "map {i: 'v' || i}", "{a: [{b: ['x' || i]}]}", "['a'::enum('a', 'b')]"),
    *("('{\"a\":' || i || '}')::json", "['{}'::json]", "[uuid()]", "i::hugeint", "[interval (i) day]"),
    "time '01:02:03.5'",
    *("'01:02:03+02'::timetz", "'01:02:03.123456789'::time_ns", "timestamptz '2020-01-01 00:00:00+00'"),
    *("['2020-01-01'::timestamp_s]", "'2020-01-01'::timestamp_ns", "'infinity'::date", "'a'::blob", "'0101'::bit"),
    *("[1.50::decimal(38, 2)]", "['a', 'b']::varchar[2]", "{a: i, b: 'x'}::variant", "i::bignum", "null", "[]"),
    *("union_value(a := i)", "0.1::float", "'POINT(1 2)'::geometry", "row(1, 'a')"),
)
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
@pytest.mark.long
def test_what_other_programs_write_is_loaded_and_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "toy"
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text(PAGE)
    arrays = {name: pa.array(map(value, range(ROWS)), kind) for name, (kind, value) in OF_PYARROW.items()}
    for (how, options), groups in one_in(2, [*product(OPTIONS.items(), GROUPS)]):
        begin = f"pyarrow {groups} {how} "
        table = pa.table({"id": ids(begin), **arrays})
        pq.write_table(table, folder / f"{begin}.parquet", row_group_size=ROWS // groups, **options)
    for groups, of_duckdb in GROUPS.items():
        begin = f"polars {groups} "
        columns = {name: pl.Series(map(value, range(ROWS)), dtype=kind) for name, (kind, value) in OF_POLARS.items()}
        frame = pl.DataFrame({"id": ids(begin), **columns})
        frame.write_parquet(folder / f"{begin}.parquet", row_group_size=ROWS // groups)
        for version in ("V1", "V2") if groups == 2 else ("V2",):
            begin = f"duckdb {of_duckdb} {version} "
            of_some = OF_DUCKDB if groups < max(GROUPS) else [MESSAGES]
            values = "".join(f", {value} as column_{number}" for number, value in enumerate(of_some))
            duckdb.sql(
                f"copy (select '{begin}' || i as id{values} from range({2048 * of_duckdb}) t(i)) "
                f"to '{folder / begin}.parquet' (format parquet, row_group_size 2048, parquet_version {version})"
            )
    expected = sum(pq.ParquetFile(path).metadata.num_rows for path in folder.glob("*.parquet"))
    assert {pq.ParquetFile(path).num_row_groups for path in folder.glob("*.parquet")} == {*GROUPS, *GROUPS.values()}
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data")
    with warehouse.connect(tmp_path / "w.duckdb") as con:
        assert con.execute("select count(*) from main.turns").fetchall() == [(expected,)]
        assert con.execute("select rule from meta.findings").fetchall() == [("GF-27",)]  # texts of turns in extra
        assert list(not_restored(con, ["toy"])) == []


def ids(begin: str) -> list[str]:
    return [f"{begin}{row}" for row in range(ROWS)]
