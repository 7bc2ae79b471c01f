"""Columns of CSV are the rows, whatever a file has: what Polars tells apart is held against the text."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import Dialect
from talkhouse.ingest.declared.record_files import open_rows
from talkhouse.ingest.declared.record_files.content import RowFile
from talkhouse.ingest.declared.record_files.csv_cells import Cells, table_of
from talkhouse.ingest.decode import BadRecord
from tests.declared.record_file_pieces import DECLARED, source

TEXTS = st.lists(st.sampled_from(["a", "é", ",", ",", '"', '""', "\n", "\n", "\r\n", " ", "\t"]), max_size=14).map(
    "".join
)


@given(TEXTS, st.sampled_from(["d,e\n", "d\n", '"d","e"\n', "d,e\r\n"]), st.sampled_from(['"', "", "'"]))
def test_columns_are_the_rows(text: str, header: str, quote: str) -> None:
    with source("a.csv", (header + text).encode()) as file:
        declared = replace(DECLARED, dialect=Dialect(quote_char=quote))
        as_rows, as_columns = (_result(open_rows(file, declared), way) for way in ("rows", "tables"))
    assert as_columns == as_rows


def _result(file: RowFile, way: str) -> Any:
    rows: list[Any] = []
    try:
        if way == "rows":
            for chunk in file:
                cells = (chunk.cells.get(position, {}) for position in range(len(chunk.rows)))
                rows += zip(map(tuple, chunk.rows), chunk.lines, cells, strict=True)
        else:
            for table in file.tables():
                written = (table.as_written.get(position, {}) for position in range(len(table.lines)))
                rows += zip(table.cells.rows(), table.lines, written, strict=True)
    except BadRecord as bad:
        return bad.rule, bad.pointer, bad.detail
    return rows, file.envelope


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_usual_csv_is_told_apart_at_once(line_end: str) -> None:
    text = line_end.join(['a,"b, c"', '"say ""d""",', '"two\nlines",007', ""])
    table = table_of(text, 2, Cells(",", '"'), line_end)
    assert table is not None
    assert table.rows() == [("a", "b, c"), ('say "d"', ""), ("two\nlines", "007")]
    assert table_of(text.replace("a,", '"a",'), 2, Cells(",", '"'), line_end) is None
