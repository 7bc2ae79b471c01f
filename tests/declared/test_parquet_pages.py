"""Parquet that unpacks to far more than it has: refused before memory is taken, whatever its footer says."""

import copy
import json
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from talkhouse.guess.sample import sample
from talkhouse.ingest.declared.record_files.arrow_buffers import open_arrow
from talkhouse.ingest.declared.record_files.parquet_pages import NamedFile
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.limits import DEFAULT, Limits
from talkhouse.schema.errors import SourceError
from tests.declared import record_file_pieces
from tests.declared.record_file_pieces import records_of, source

MB = 1_000_000
Fields = list[list[Any]]
"""Number, type and value of each field of a struct; of a list the type of its items, and these."""


parquet = partial(record_file_pieces.parquet, compression="zstd", store_schema=False)


def listed(values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


def said_small(footer: Fields) -> None:
    """Have a footer say that there is nothing to unpack."""
    for group in get(footer, 4)[1]:
        put(group, 2, 10)
    for chunk in chunks(footer):
        put(chunk, 6, 10)


def said_often(footer: Fields) -> None:
    """Have a footer name the same pages a thousand times."""
    kind, groups = get(footer, 4)
    put(footer, 4, (kind, [copy.deepcopy(groups[0]) for _ in range(1_000)]))
    put(footer, 3, 1_000)


MORE_BOMBS = (
    *("a text of a dictionary", "a text that the footer denies", "bytes of one length", "truth values in a list"),
    *("texts that begin alike", "texts that begin alike, in pages of the second version"),
)


def bomb(name: str) -> tuple[bytes, str]:
    """Return a file, and what is said of it."""
    binary = pa.binary(9 * MB)
    alike = {"use_dictionary": False, "column_encoding": {"a.list.element": "DELTA_BYTE_ARRAY"}}
    unfolded = "bytes for each byte"
    match name:
        case "a text":
            return parquet(pa.table({"a": ["x" * 70 * MB]}), use_dictionary=False), unfolded
        case "a text of a dictionary":
            once = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), ["x" * 70 * MB])
            return parquet(pa.table({"a": once})), unfolded
        case "a text that the footer denies":
            return changed(parquet(pa.table({"a": ["x" * 70 * MB]})), said_small), unfolded
        case "bytes of one length":
            return parquet(pa.table({"a": pa.repeat(b"x" * 9 * MB, 9).cast(binary)})), unfolded
        case "nulls in a list":
            return parquet(pa.table({"a": listed(pa.nulls(9 * MB))})), unfolded
        case "truth values in a list":
            return parquet(pa.table({"a": listed(pa.repeat(True, 9 * MB))})), unfolded
        case "the same pages again and again":
            return changed(parquet(pa.table({"a": ["x"]})), said_often), "more bytes than the"
    version = "2.0" if name.endswith("of the second version") else "1.0"
    return parquet(pa.table({"a": listed(pa.array(["x" * MB] * 200))}), **alike, data_page_version=version), unfolded


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    asked: list[object] = []
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *arguments, **_: asked.append(arguments) or iter(()))
    return asked


def problem_of(raw: bytes, limits: Limits = DEFAULT) -> str:
    with pytest.raises((SourceError, BadRecord)) as caught:
        records_of("a.parquet", raw, limits=limits)
    return str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        *("a text", "nulls in a list", "the same pages again and again"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in MORE_BOMBS),
    ],
)
def test_what_unpacks_to_much_is_refused_before_it_is_unpacked(unpacked: list[object], name: str) -> None:
    raw, problem = bomb(name)
    assert problem in problem_of(raw)
    with source("a.parquet", raw) as file:
        seen = sample(file)
    assert seen is not None
    assert problem in (seen.problem or "")
    assert not seen.records
    assert not unpacked


def test_a_footer_and_a_page_have_limits_of_their_own(unpacked: list[object]) -> None:
    text = parquet(pa.table({"a": ["x" * 1_000]}), compression="none", use_dictionary=False, write_statistics=False)
    assert "which has 1 values" in problem_of(text, Limits(record=900))
    assert "of its footer" in problem_of(text, Limits(record=100))
    assert "bytes of one file" in problem_of(text, Limits(file=900))
    assert not unpacked


@pytest.fixture
def memory() -> Iterator[pa.MemoryPool]:
    before, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(pool)
    yield pool
    pa.set_memory_pool(before)


def test_texts_of_a_dictionary_are_not_unfolded_whatever_the_footer_says(memory: pa.MemoryPool) -> None:
    beside = pa.array([bytes(range(256)) * 40] * 2_000)  # what once made the group too large to be looked at
    many = pa.DictionaryArray.from_arrays(pa.array([0] * 2_000, pa.int32()), ["x" * 10 * MB])
    lists = pa.ListArray.from_arrays(pa.array(range(2_001), pa.int32()), many)
    for column in (many, lists):
        raw = parquet(
            pa.table({"a": column, "b": beside}),
            dictionary_pagesize_limit=10**8,
            use_dictionary=["a", "a.list.element"],
        )
        assert "bytes for each byte" in problem_of(raw) or "bytes of all files" in problem_of(raw)
        assert memory.max_memory() < 200 * MB


def test_a_file_of_many_pages_and_groups_is_read_as_before() -> None:
    texts = [f"text {number} " * 50 for number in range(3_000)]
    table = pa.table({"a": texts, "b": [[text] * 3 for text in texts], "c": list(range(3_000))})
    alike = dict.fromkeys(("a", "b.list.element"), "DELTA_BYTE_ARRAY") | {"c": "PLAIN"}
    second = {"data_page_version": "2.0", "use_dictionary": False, "column_encoding": alike}
    for options in (
        {},
        second,
        {**second, "compression": "none"},
        {**second, "data_page_version": "1.0"},
        {"data_page_version": "2.0"},
        {"compression": "none"},
        {"write_statistics": False},
    ):
        raw = parquet(table, row_group_size=700, data_page_size=10_000, **options)
        _, records = records_of("a.parquet", raw, limits=Limits(record=1_000_000))
        assert [json.loads(record.raw)["a"] for record in records] == texts
        with source("a.parquet", raw) as file:
            seen = sample(file)
        assert seen is not None
        assert [record["a"] for record in seen.records] == texts[:1_000]


@pytest.mark.slow
def test_no_changed_byte_of_a_footer_ends_otherwise_than_with_an_error() -> None:
    whole = parquet(pa.table({"a": ["one", "two"], "b": [[1], None]}))
    begin = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for position in range(begin, len(whole)):
        for byte in (0, 0x0F, 0x19, 0x7F, 0xFF):
            raw = whole[:position] + bytes([byte]) + whole[position + 1 :]
            try:
                records_of("a.parquet", raw)
            except (BadRecord, SourceError):
                continue


def changed(raw: bytes, change: Callable[[Fields], None]) -> bytes:
    begin = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    footer, _ = _value(raw, begin, 12)
    change(footer)
    written = _written(12, footer)
    return raw[:begin] + written + len(written).to_bytes(4, "little") + b"PAR1"


def get(fields: Fields, *numbers: int) -> Any:
    """Return the value at a path of fields."""
    for number in numbers:
        fields = next(value for field, _, value in fields if field == number)
    return fields


def put(fields: Fields, number: int, value: Any) -> None:
    next(field for field in fields if field[0] == number)[2] = value


def chunks(footer: Fields) -> list[Fields]:
    return [get(chunk, 3) for group in get(footer, 4)[1] for chunk in get(group, 1)[1]]


def _number(raw: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (raw[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if raw[at - 1] < 128:
            return number, at


def _value(raw: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2):
        return kind == 1, at
    if kind == 8:
        length, at = _number(raw, at)
        return raw[at : at + length], at + length
    if kind == 9:
        count, of = raw[at] >> 4, raw[at] & 15
        count, at = _number(raw, at + 1) if count == 15 else (count, at + 1)
        items = []
        for _ in range(count):
            item, at = _value(raw, at, of)
            items.append(item)
        return (of, items), at
    if kind == 12:
        fields: Fields = []
        last = 0
        while head := raw[at]:
            last, at = last + (head >> 4), at + 1
            value, at = _value(raw, at, head & 15)
            fields.append([last, head & 15, value])
        return fields, at + 1
    if kind == 3:
        return raw[at], at + 1
    number, at = _number(raw, at)
    return (number >> 1) ^ -(number & 1), at


def _plain(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written, number])


def _written(kind: int, value: Any) -> bytes:
    if kind in (1, 2):
        return b""
    if kind == 8:
        return _plain(len(value)) + value
    if kind == 9:
        of, items = value
        head = bytes([len(items) << 4 | of]) if len(items) < 15 else bytes([240 | of]) + _plain(len(items))
        return head + b"".join(_written(of, item) for item in items)
    if kind == 12:
        last, parts = 0, []
        for field, of, inner in value:
            parts.append(bytes([field - last << 4 | (of if of > 2 else 2 - inner)]) + _written(of, inner))
            last = field
        return b"".join(parts) + b"\0"
    if kind == 3:
        return bytes([value])
    return _plain((value << 1) ^ (value >> 63))


# Arrow that somebody else made: read as it was written, and refused by the lengths that its buffers declare.


def test_lengths_are_refused_before_anything_is_unpacked(tmp_path: Path) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 500, pa.int32()), ["x" * 3_000, "y" * 77])
    table = pa.table({"text": texts, "number": range(1_000), "list": [[1.0, 2.0], [3.0]] * 500})
    path = tmp_path / "a.arrow"

    def opened() -> pa.RecordBatchReader:
        return open_arrow(path, NamedFile(path.name, path.stat().st_size, DEFAULT))

    pl.from_arrow(table).write_ipc(path, compression="lz4")
    assert pl.from_arrow(opened()).equals(pl.from_arrow(table))
    feather.write_feather(table, path, compression="zstd")
    assert opened().read_all() == table
    good = path.read_bytes()
    for length in (8_000, 3_077):  # of the numbers, and of the texts of the dictionary
        for other, error in ((10**12, SourceError), (10**9, SourceError), (-5, BadRecord), (99_999, BadRecord)):
            path.write_bytes(good.replace(struct.pack("<q", length), struct.pack("<q", other)))
            with pytest.raises(error, match=r"too much to read|damaged Arrow"):
                opened()
    repeated = texts.take([0] * 50_000)
    for column in (repeated, pa.ListArray.from_arrays(range(50_001), repeated)):
        feather.write_feather(pa.table({"text": column}), path)
        with pytest.raises(SourceError, match="'ratio'"):
            opened()
