"""A value has one text: what the table, CSV, TSV, JSON, JSON Lines and a page show of it, for every type of DuckDB."""

import json
import re
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow.ipc import open_file

from talkhouse.dashboard import tables
from talkhouse.escaping import visible
from talkhouse.export.formats import TEXTS
from talkhouse.export.row_stream import QueryRows
from talkhouse.export.writers import write
from talkhouse.schema.errors import QueryFailed
from tests.data_files import data_of
from tests.lanes import one_in

VALUES = data_of(__file__)["values"] | {"null": None, "null::double[]": None, "null::struct(a double)": None}
"""Expression -> its text."""

KINDS = (
    *("bool", "tinyint", "smallint", "int", "bigint", "hugeint", "uhugeint", "utinyint", "usmallint", "uint"),
    *("ubigint", "bignum", "date", "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "time_tz"),
    *("timestamp_tz", "timestamp_tz_ns", "float", "double", "dec_4_1", "dec_9_4", "dec_18_6", "dec38_10", "uuid"),
    *("interval", "varchar", "blob", "bit", "small_enum", "time_ns", "geometry"),
)
"""Columns of test_all_types() that are not nested; the others are there as well."""

NESTED = (
    *("[{0}]", "[[{0}], null]", "array_value({0}, {0})", "{{'a b': {0}}}", "row({0})", "map {{'k': {0}}}"),
    *("union_value(u := {0})", "{0}::variant", "[{{'m': map {{'k': [{0}]}}}}]"),
)


def relation(con: duckdb.DuckDBPyConnection, *, whole: bool) -> duckdb.DuckDBPyRelation:
    con.execute("set timezone = 'UTC'")
    if not whole:
        return con.sql(f"select {', '.join(VALUES)}")
    forms = [form.format(f'"{kind}"') for form in NESTED for kind in KINDS]
    con.execute(f"create table every as select * exclude (medium_enum), {', '.join(forms)} from test_all_types()")
    return con.table("every")


def written(con: duckdb.DuckDBPyConnection, found: duckdb.DuckDBPyRelation, file_format: str) -> bytes:
    file = BytesIO()
    stream = TextIOWrapper(file, encoding="utf-8", newline="")
    write(QueryRows(con, found), file_format, stream)
    stream.flush()
    return file.getvalue()


def cells(text: str, delimiter: str) -> Iterator[list[str | None]]:
    row: list[str | None] = []
    for cell, end in re.findall(rf'("(?:[^"]|"")*"|[^{delimiter}\n"]*)([{delimiter}\n])', text):
        row.append(cell[1:-1].replace('""', '"') if cell.startswith('"') else cell or None)
        if end == "\n":
            yield row
            row = []


def exact(text: str | bytes) -> Any:
    """Read JSON with the spelling of its numbers; it has no NaN."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    return json.loads(text, parse_float=str, parse_int=str, parse_constant=refuse)


def in_json(text: str | None, kind: str) -> Any:
    """Return a value as JSON has it: numbers by their text, null for NaN; nested ones as they are, else texts."""
    if text is None or (text in ("nan", "inf", "-inf") and kind in ("FLOAT", "DOUBLE")):
        return None
    if kind == "BOOLEAN":
        return text == "true"
    is_nested = kind.endswith("]") or kind.startswith(("STRUCT", "TUPLE", "MAP", "UNION", "JSON"))
    if is_nested or (kind == "VARIANT" and text[:1] in ("[", "{")):
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=lambda _: None)
    return text


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_format_shows_the_same_text(whole: bool) -> None:
    with duckdb.connect() as con:
        found = relation(con, whole=whole)
        kinds = [str(kind) for kind in found.types]
        _, *texts = cells(written(con, found, "csv").decode(), ",")
        if not whole:
            assert texts == [[*VALUES.values()]]
        assert list(cells(written(con, found, "tsv").decode(), "\t"))[1:] == texts
        lines = written(con, found, "jsonl").decode().splitlines()
        for line, row in zip(lines, texts, strict=True):
            for index, (value, text, kind) in enumerate(zip([*exact(line).values()], row, kinds, strict=True)):
                if kind == "VARIANT" and not isinstance(value, list | dict):
                    assert value is None or str(value).lower() == str(text).lower(), found.columns[index]
                else:
                    assert value == in_json(text, kind), found.columns[index]
        assert exact(written(con, found, "json")) == [exact(line) for line in lines]
        page = tables.read(BytesIO(written(con, found, TEXTS)))
        shown = [tuple(None if text is None else visible(text, lines=True) for text in row) for row in texts]
        assert page.texts.rows() == shown
        for index, name in [*enumerate(found.columns)][:: 4 if whole else 1]:  # each type in some of the forms
            drawn = [
                line[1:-1].strip()
                for line in written(con, found.project(f"#{index + 1}"), "table").decode().splitlines()
            ]
            assert drawn[3:-1] == [line.strip() for row in shown for line in (row[index] or "").split("\n")], name


def values_of(con: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation) -> list[Any]:
    """Return the values of one column by their texts, whatever type a number or a struct has."""
    _, *rows = cells(written(con, relation, "csv").decode(), ",")
    return [text if text is None or text[:1] not in ("[", "{") else parts(text) for (text,) in rows]


def parts(text: str) -> Any:
    """Read JSON: structs and tuples are the list of what is in them, numbers their text."""
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: [value for _, value in pairs], **AS_TEXT)
    except json.JSONDecodeError:
        return text


UNREAD = {"parquet": ("GEOMETRY", "VARIANT"), "arrow": ("GEOMETRY", "')[2]")}
"""Types that DuckDB reads otherwise: as WKB, as the binary of a variant, arrays of enums as their numbers."""

AS_TEXT: dict[str, Any] = {"parse_float": str, "parse_int": str, "parse_constant": str}


def read_back(path: Path, tag: str | None, con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
    """Read a file of one column; of a union that ``tag`` names, its members."""
    if path.suffix == ".parquet":
        return con.read_parquet(str(path))
    table = open_file(path).read_all()
    return con.from_arrow(table if tag is None else pa.table({"x": table.column(0).combine_chunks().field(0)}))


@pytest.mark.parametrize(
    ("file_format", "whole"),
    [
        ("parquet", False),
        pytest.param("arrow", True, marks=(pytest.mark.slow, pytest.mark.long)),
        pytest.param("parquet", True, marks=pytest.mark.long),
    ],
)
def test_files_of_types_hold_every_value_or_are_refused(whole: bool, file_format: str, tmp_path: Path) -> None:
    with duckdb.connect() as con, duckdb.connect() as other:
        found = relation(con, whole=whole)
        other.execute("set timezone = 'UTC'")
        # Each type is tried in three of nine forms, for the number of types is no multiple of this.
        for index, name, kind in one_in(3, [*zip(count(), found.columns, map(str, found.types), strict=False)]):
            column = found.project(f"#{index + 1} as x")
            tag = "u" if kind.startswith("UNION(u ") else None
            has_union, has_39_digits = "UNION" in kind, "hugeint" in name.lower()
            try:
                raw = written(con, column, file_format)
            except (QueryFailed, duckdb.Error):
                assert has_39_digits or kind in ("VARIANT", "STRUCT") or (file_format == "parquet" and has_union), name
                continue
            assert kind == "VARIANT" or not has_39_digits, name
            if any(word in kind for word in UNREAD[file_format]) or (has_union and tag is None):
                continue
            (tmp_path / f"x.{file_format}").write_bytes(raw)
            expected = column if tag is None else column.project("union_extract(x, 'u')")
            assert values_of(other, read_back(tmp_path / f"x.{file_format}", tag, other)) == values_of(con, expected), (
                name
            )
