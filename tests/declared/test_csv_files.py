"""CSV and TSV: cells and lines as they are, odd quotes, line ends and blanks, and all of it back to the byte."""

import csv
import gzip
import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.model import Dialect
from talkhouse.ingest.declared.record_files import csv_files
from talkhouse.ingest.declared.record_files.content import RawRecord
from talkhouse.ingest.declared.record_files.csv_cells import CsvCells, table_of
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.limits import Limits
from talkhouse.schema.errors import SourceError
from tests.conftest import invented_examples
from tests.declared.record_file_pieces import ORDINARY, back, records_of, rows_back, rows_of
from tests.declared.rows_loaded import read_back
from tests.declared.test_declaration import mistake

TEXTS = st.text(st.sampled_from('ab ,;\t"\r\né\u2028\x00'), max_size=6)
LETTERS = Dialect(quote_char="")
SPARK = Dialect(escape_char="\\")


def cells(name: str, raw: bytes, dialect: Dialect = ORDINARY) -> list[list[str]]:
    return [list(row) for table in rows_of(name, raw, dialect)[1] for row in table.cells.rows()]


def refused(name: str, raw: bytes, dialect: Dialect) -> BadRecord | None:
    try:
        rows_of(name, raw, dialect)
    except BadRecord as bad:
        return bad
    return None


@st.composite
def written_tables(draw: Any) -> tuple[bytes, list[list[str]]]:
    """A table as Python's csv writes it in one of its styles."""
    width = draw(st.integers(1, 3))
    header = [f"column {number}" for number in range(width)]
    table = draw(st.lists(st.lists(TEXTS, min_size=width, max_size=width), max_size=4))
    out = io.StringIO(newline="")
    quoting = draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
    csv.writer(out, quoting=quoting, lineterminator=draw(st.sampled_from(["\n", "\r\n"]))).writerows([header, *table])
    return out.getvalue().encode(), table


@given(written_tables())
@settings(max_examples=10)
def test_what_csv_writes_is_read_and_comes_back(table: tuple[bytes, list[list[str]]]) -> None:
    raw, rows = table
    if b"\r" not in raw.replace(b"\r\n", b""):  # which Python's csv leaves bare in some versions
        assert cells("a.csv", raw) == rows
    assert rows_back("a.csv", raw) == raw
    assert back("a.csv", raw) == raw


@given(st.text(st.sampled_from('ab,"\\\r\n \t'), max_size=30), st.sampled_from([ORDINARY, LETTERS, SPARK]))
@settings(max_examples=8)
def test_any_text_comes_back_to_the_byte_or_is_named(text: str, dialect: Dialect) -> None:
    raw = text.encode()
    problem = refused("a.csv", raw, dialect)
    if problem is None:
        assert rows_back("a.csv", raw, dialect) == raw
        assert gzip.decompress(rows_back("a.csv.gz", gzip.compress(raw), dialect)) == raw
    else:
        assert problem.rule == "GF-13"
        assert problem.detail.startswith(f"line {int(problem.pointer[1:]) + 1}: ")


@given(
    st.lists(st.sampled_from(["a", "é", ",", '"', '""', "\n", "\r\n", " ", "\t"]), max_size=14).map("".join),
    st.sampled_from(["d,e\n", "d\n", '"d","e"\n', "d,e\r\n"]),
    st.sampled_from(['"', "", "'"]),
)
@settings(max_examples=50)
def test_what_polars_reads_and_blocks_make_no_difference(text: str, header: str, quote: str) -> None:
    raw, dialect = (header + text).encode(), Dialect(quote_char=quote)
    usual = _result(raw, dialect)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "table_of", lambda *_: None)
        assert _result(raw, dialect) == usual
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_BLOCK", 1)
        patch.setattr("talkhouse.ingest.sources._PIECE", 1)
        assert _result(raw, dialect) == usual


def _result(raw: bytes, dialect: Dialect) -> object:
    """Return the rows with their lines, texts and odd cells, and the envelope; or why the file is refused."""
    try:
        file, tables = rows_of("a.csv", raw, dialect)
    except BadRecord as bad:
        return bad.rule, bad.pointer, bad.detail
    rows = [
        (row, line, text, table.as_written.get(position, {}))
        for table in tables
        for position, (row, line, text) in enumerate(zip(table.cells.rows(), table.lines, table.texts, strict=True))
    ]
    return rows, file.envelope


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_usual_csv_is_read_by_polars(line_end: str) -> None:
    rows = ['a,"b, c"' + line_end, '"say ""d""",' + line_end, '"two\nlines",007' + line_end]
    usual = table_of("".join(rows), 2, CsvCells(",", '"'), line_end)
    assert usual is not None
    assert usual.cells.rows() == [("a", "b, c"), ('say "d"', ""), ("two\nlines", "007")]
    assert (usual.texts.to_list(), usual.odd) == (rows, {})
    rows[0] = '"a","b, c"' + line_end
    with_odd = table_of("".join(rows), 2, CsvCells(",", '"'), line_end)
    assert with_odd is not None
    assert with_odd.cells.rows() == usual.cells.rows()
    assert (with_odd.texts.to_list(), [*with_odd.odd]) == (rows, [0])


ODD = [
    (b"a,b\n1,2", ORDINARY, [["1", "2"]]),
    (b"a,b\r\n1,2\r\n\r\n3,4\n", ORDINARY, [["1", "2"], ["3", "4"]]),
    (b'a,b\n"1",2\n3,4\n', ORDINARY, [["1", "2"], ["3", "4"]]),
    (b'a,b\n5" disk,"x""y"\n', ORDINARY, [['5" disk', 'x"y']]),
    (b'a,b\nx"y, "z"\n', ORDINARY, [['x"y', ' "z"']]),
    (b'a,b\n"one\ntwo",2\r\n007, 1 \n', ORDINARY, [["one\ntwo", "2"], ["007", " 1 "]]),
    (b"a,b\none\rtwo,2\n3,4\r", ORDINARY, [["one\rtwo", "2"], ["3", "4"]]),
    (b'a,b\n"open,2\n', LETTERS, [['"open', "2"]]),
    (b"a,b\r\nx\r,2\r\n", LETTERS, [["x\r", "2"]]),
    (b'a\n""\n\nx\n', ORDINARY, [[""], ["x"]]),
    (b"\n\na,b\n1,2\n", ORDINARY, [["1", "2"]]),
    (b"a;b\n'x;y';2\n", Dialect(";", "'"), [["x;y", "2"]]),
    (b"a,b\n\x00,\xc3\xa9\n", ORDINARY, [["\0", "é"]]),
    (b"a,a\n1,2\n'3','4'\n", ORDINARY, [["1", "2"], ["'3'", "'4'"]]),
    (b"", ORDINARY, []),
    (b"a,b\n", ORDINARY, []),
]


@pytest.mark.parametrize(("raw", "dialect", "rows"), ODD)
def test_odd_cells_and_lines(raw: bytes, dialect: Dialect, rows: list[list[str]]) -> None:
    assert cells("a.csv", raw, dialect) == rows
    assert rows_back("a.csv", raw, dialect) == raw


def test_columns_of_one_name_keep_what_is_written_of_each() -> None:
    raw = b'a,a\n1,2\n1,2\n1,"2"\n'
    assert rows_back("a.csv", raw) == raw


def test_a_column_that_is_always_in_quotes_is_said_once() -> None:
    raw = b'"id","text"\n1,"a"\n2,"b, c"\n3,NA\n4,"d"\n'
    row_file, (table,) = rows_of("a.csv", raw)
    assert row_file.envelope == {"layout": {"header": '"id","text"', "quoted": [1]}}
    assert table.as_written == {2: {"text": "NA"}}
    assert rows_back("a.csv", raw) == raw


def test_a_row_is_numbered_by_the_line_on_which_it_begins() -> None:
    (table,) = rows_of("a.csv", b'a,b\n"1\n\n",2\n\n3,"4\n"\n5,6\n')[1]
    assert table.lines.to_list() == [1, 5, 7]
    assert records_of("a.csv", b'a,b\n"1\n\n",2\n\n3,4\n')[1] == [
        RawRecord(0, "/1", b'{"a":"1\\n\\n","b":"2"}', verbatim=b'"1\n\n",2'),
        RawRecord(1, "/5", b'{"a":"3","b":"4"}', verbatim=b"3,4"),
    ]


ALONE = "a carriage return without a line feed ends no line"
BAD = [
    (b"a,b\n1,2\n1\n", ORDINARY, "GF-13", "line 3: 1 cells, and 2 columns", "/2"),
    (b"a,b\n1,2\n1,2,3\n", LETTERS, "GF-13", "line 3: 3 cells, and 2 columns", "/2"),
    (b'a,b\n"x\ny",2\n1,"2\n3,4\n', ORDINARY, "GF-13", "line 4: a quote is never closed", "/3"),
    (b'a,"b\n1,2\n', ORDINARY, "GF-13", "line 1: a quote is never closed", "/0"),
    (b"a,b\r1,2\r3,4\r", ORDINARY, "GF-13", f"line 1: {ALONE}; write the file with line feeds", "/0"),
    (b"a,b\n1,caf\xe9\n", ORDINARY, "TH-02", "line 2: not UTF-8: byte 0xe9 at byte 5 of the line", "/1"),
]


@pytest.mark.parametrize(("raw", "dialect", "rule", "detail", "pointer"), BAD)
def test_an_ambiguous_file_is_refused(raw: bytes, dialect: Dialect, rule: str, detail: str, pointer: str) -> None:
    for read in (lambda: rows_of("a.csv", raw, dialect), lambda: records_of("a.csv", raw, dialect=dialect)):
        with pytest.raises(BadRecord) as caught:
            read()
        assert (caught.value.rule, caught.value.detail, caught.value.pointer) == (rule, detail, pointer)


def test_many_quotes_take_no_more_time_than_they_are_long() -> None:
    quotes = b'"' * 300_000
    raw = b'a,b\n1,"' + quotes + b'"\n'
    assert rows_back("a.csv", raw) == raw
    with pytest.raises(BadRecord, match="never closed"):
        rows_of("a.csv", b'a,b\n1,",' + quotes)


def test_a_column_twice_cannot_be_an_object() -> None:
    with pytest.raises(BadRecord, match="GF-12: the column 'a' occurs twice"):
        records_of("a.csv", b"a,a\n1,2\n")


def test_columns_of_one_name_are_few() -> None:
    assert len(rows_of("a.csv", b"a," * 99 + b"a\n")[0].columns) == 100
    with pytest.raises(BadRecord, match="GF-12: the column 'a' occurs 100,001 times"):
        rows_of("a.csv", b"a," * 100_000 + b"a\n")


@pytest.mark.slow
def test_a_file_of_very_many_columns_comes_back() -> None:
    header = ",".join(f"c{number}" for number in range(2_000))
    raw = "\n".join([header, *[",".join([cell] * 2_000) for cell in ("1", '""', '"a"', "a b")], ""]).encode()
    assert rows_back("a.csv", raw) == raw


def test_a_quarantined_row_comes_back_as_it_was_written() -> None:
    records = records_of("a.csv", b'a,b\n"1",2\n3,4\r\n')[1]
    assert [record.quarantined for record in records if isinstance(record, RawRecord)] == [b'"1",2', b"3,4"]


def test_an_endless_line_and_an_endless_quote() -> None:
    small = Limits(record=100_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_BLOCK", 10_000)
        patch.setattr("talkhouse.ingest.sources._PIECE", 10_000)
        with pytest.raises(SourceError, match="bytes of one record"):
            rows_of("a.csv", b"a,b\n" + b"x" * 200_000, limits=small)
        with pytest.raises(BadRecord, match="line 2: a quote is never closed"):
            rows_of("a.csv", b'a,b\n1,"2\n' + b"1,2\n" * 50_000, limits=small)


@pytest.mark.slow
@given(written_tables(), st.integers(0, 10**6), st.integers(0, 255))
@invented_examples(500)
def test_with_a_byte_changed_it_is_named_or_loaded(table: tuple[bytes, list[list[str]]], place: int, byte: int) -> None:
    raw = bytearray(table[0])
    raw[place % len(raw)] = byte
    problem = refused("a.csv", bytes(raw), ORDINARY)
    if problem is None:
        assert rows_back("a.csv", bytes(raw)) == raw
    else:
        assert problem.rule in ("GF-13", "TH-02")


def test_quotes_with_a_backslash_before_them() -> None:
    raw = rb"""a,b
"foo (\"foo\")","C:\\x \n"
C:\y,"two
lines, \""
"\\",""
"""
    expected = [['foo ("foo")', r"C:\x \n"], [r"C:\y", 'two\nlines, "'], ["\\", ""]]
    assert cells("a.csv", raw, SPARK) == expected
    assert rows_back("a.csv", raw, SPARK) == back("a.csv", raw, dialect=SPARK) == raw
    out = io.StringIO()
    csv.writer(out, escapechar="\\", doublequote=False, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(expected)
    written = "a,b\n" + out.getvalue()
    assert cells("a.csv", written.encode(), SPARK) == expected
    assert rows_back("a.csv", written.encode(), SPARK) == written.encode()


@pytest.mark.parametrize("row", [rb'"foo (\"foo\")",x', b'x,"a" b', b'x,"a" ', b'"a"b,"c"'])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b""])
def test_text_behind_a_closing_quote_refuses_the_file(row: bytes, line_end: bytes) -> None:
    raw = b"a,b" + (line_end or b"\n") + b'"c\nd","e"' + (line_end or b"\n") + row + line_end
    problem = refused("a.csv", raw, ORDINARY)
    assert problem is not None
    assert str(problem).startswith("GF-13: line 4: text behind the closing quote of a cell: ")
    assert (refused("a.csv", row + b"\n", ORDINARY) or problem).detail.startswith("line 1: text behind")


# Tables without a header, whose columns ``[dialect] names`` names.

NAMES = '[dialect]\nheader = false\nnames = ["conv", "who", "said"]\n'
TURNS = 'title = "Gate"\nformat = "turns"\n[dialogue]\nid = "conv"\n[turn]\ntext = "said"\nspeaker = "who"\n'
PAIRS = 'title = "Gate"\nformat = "pairs"\n[pair]\nprompt = "conv"\nquery = "who"\nresponse = "said"\n'


@pytest.mark.slow
@pytest.mark.parametrize("block", [csv_files._BLOCK, 8])
@pytest.mark.parametrize("toml", [TURNS, PAIRS])
@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"\n", b"c1,ida,Is it?", b"\r\n\r\nc1,ida,Is it?\r\nc1,ole,No.\r\n", b"\xef\xbb\xbfc1,ida,Is it?\n"),
        *(b"c1,ida,Is it?\n\n\nc1,ole,No.\n\n", b'c1,"ida","Is\nit?"\n"c1",ole,No.\n'),
        b'"c1","ida","Is it?"\n"c1","ole","No."\n',
    ],
)
def test_odd_beginnings_come_back(toml: str, raw: bytes, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_BLOCK", block)
    assert read_back(toml + NAMES, {"a.csv": raw, "b.csv.gz": gzip.compress(raw)}).rejected == []


@pytest.mark.parametrize(
    ("toml", "line", "message"),
    [
        (TURNS + NAMES.replace('"who", ', '"conv", '), 10, "the column 'conv' is there twice in 'names'"),
        (TURNS + NAMES.replace("header = false\n", ""), 9, "'names' with a header"),
        (TURNS + NAMES.replace("names", "#"), 9, "nothing says what the columns are"),
        (TURNS + NAMES.replace('["conv", "who", "said"]', "[]"), 10, "nothing says what the columns are"),
        (TURNS + NAMES.replace("false", '"no"'), 9, "true or false, without quotes"),
        (TURNS.replace("said", "sad") + NAMES, 6, "none of 'names' in [dialect]\n  expected: one of: said"),
    ],
)
def test_what_names_nothing_is_refused_at_its_line(toml: str, line: int, message: str) -> None:
    error = mistake(toml)
    assert str(error).startswith(f"ferry_talk/corpus.toml:{line}: ")
    assert message in str(error)
