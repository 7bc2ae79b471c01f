"""Text files: a file or a line as a record, lines as rows by a pattern; turns as they are said, and all of it back."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.declared.declaration.cells import BadRegex, named_groups
from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.record_files import csv_files, open_records, text_files
from talkhouse.ingest.declared.record_files.content import FileContent
from talkhouse.ingest.declared.rows import spool
from talkhouse.ingest.files.limits import Limits
from talkhouse.ingest.rows import Turn
from talkhouse.ingest.sources import BOM
from talkhouse.schema.errors import SourceError
from tests.archives import zipped
from tests.conftest import invented_examples
from tests.declared.invented_corpora import Invented, problems_of
from tests.declared.record_file_pieces import source
from tests.declared.rows_loaded import Read, read, read_back


def declared(text: str, format_: str = "turns") -> Declaration:
    return read_declaration("quay", f'title = "Quay"\nformat = "{format_}"\n{text}', "quay/corpus.toml")


def lines(pattern: str, more: str = "", **turn: str) -> Declaration:
    keys = "".join(f'{key} = "{group}"\n' for key, group in turn.items())
    return declared(f"[lines]\npattern = '{pattern}'\n{more}\n[turn]\ntext = \"said\"\n{keys}")


def clocked(pattern: str, clock: str) -> Declaration:
    return lines(pattern, f'[times]\nsaid_at = "{clock}"', speaker="who", said_at="at")


ANDROID = clocked(r"(?<at>\d\d\.\d\d\.\d\d, \d\d:\d\d) - (?:(?<who>[^:]+): )?(?<said>.*)", "%d.%m.%y, %H:%M")
SCRIPT = lines("(?<who>[A-Z ]+): (?<said>.*)", role="who")
SCENES = lines("(?<who>[A-Z ]+): (?<said>.*)", "begins = '^$|==='", role="who")


def comes_back(declaration: Declaration, **files: bytes) -> Read:
    """Read files, whose names have ``_`` for a point, and write them back."""
    return read_back(declaration, {name.replace("_", "."): raw for name, raw in files.items()})


def several(pattern: str, texts: str, more: str = "", **turn: str) -> Declaration:
    """Declare lines with several turns."""
    return declared(
        f"[lines]\npattern = '{pattern}'\n{more}\nturns = \"each\"\n[turn]\ntext = {texts}\n"
        + "".join(f"{key} = {groups}\n" for key, groups in turn.items())
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"\n", b"\r\n \n", b"IDA: a", b"IDA: a\r\n", b"IDA: a\r", b"IDA: a\r\r\nOLE: b\n"),
        *(b"\n\nx\nIDA: a\n\n\n", b"IDA: a\n\t\nOLE: b\n \n", b"IDA: \nOLE: \n"),
        *(b"IDA: a\0b\nOLE: \xe2\x80\xa8\n", b"IDA: IDA: IDA: \nIDA: I\n"),
        b"".join(b"IDA:%s a\n" % (b" " * n) for n in range(40)),
        b"IDA: a\r\nb\nc\r\nOLE: d\n\r\n",
    ],
)
def test_files_of_lines_come_back_to_the_byte(raw: bytes) -> None:
    comes_back(SCRIPT, a_txt=raw)
    comes_back(SCRIPT, a_txt=BOM + raw, b_log_gz=gzip.compress(BOM + raw, mtime=0))


@pytest.mark.slow
def test_a_file_of_which_no_line_fits_or_that_is_not_utf_8_is_refused_alone() -> None:
    result = comes_back(
        SCRIPT, a_txt=b"\nno one\n", b_txt=b"IDA: a\n", c_txt=b"IDA: a\n\xff\n", d_csv=b"who,said\nOLE,c\n"
    )
    assert result.places == [("GF-12", "a.txt#/1"), ("TH-02", "c.txt#/1")]
    assert [turn.text for turn in result.of(Turn)] == ["a", "c"]
    result = read(declared('[turn]\ntext = "said"'), {"a.txt": b"IDA: a\n"})
    assert [item.rule for item in result.rejected] == ["GF-14"]
    assert "[lines]" in result.rejected[0].detail
    labels = declared(
        '[[files]]\npath = "a.csv"\n[[files]]\npath = "l.txt"\nholds = "annotations"\n[dialogue]\nid = "d"\n'
        '[turn]\ntext = "said"\n'
        '[[annotations]]\nscheme = "mood"\nfrom = "l.txt"\ndialogue = "d"\nlabel = "mood"\non = "dialogue"\n'
    )
    result = read(labels, {"a.csv": b"d,said\n1,Hi\n", "l.txt": b"1 calm\n"})
    assert [(item.rule, item.raw) for item in result.rejected] == [("GF-14", b"1 calm\n")]


LINES = st.lists(
    st.sampled_from(["IDA: a", "IDA: ", "b", "", " ", "=", "OLE: IDA: c", "\u2028", "IDA:  x", "\r"]), max_size=9
)
ENDS = st.sampled_from(["\n", "\r\n", "\n", "\r\n", "\r"])


@st.composite
def texts(draw: Any) -> bytes:
    """A text of lines with mixed ends."""
    return "".join(line + draw(ENDS) for line in draw(LINES)).encode() + draw(st.sampled_from([b"", b"OLE: z", b"z"]))


SEVERAL = several("(?<who>[A-Z]+): (?<a>[^:]*)(?:: (?<b>.*))?", '["a", "b"]', "begins = '^$|==='", role='"who"')


@pytest.mark.slow
@given(texts(), st.sampled_from([SCENES, SEVERAL]), st.integers(1, 12), st.integers(0, 2))
@invented_examples(200)
def test_any_lines_come_back_however_they_are_cut(raw: bytes, declaration: Declaration, block: int, ways: int) -> None:
    whole = read_back(declaration, {"a.txt": raw})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_BLOCK", block)
        patch.setattr(text_files, "_MOST_WAYS", ways)
        patch.setattr(text_files, "_AT_ONCE", 1)
        patch.setattr("talkhouse.ingest.sources._PIECE", 3)
        patch.setattr(spool, "_IN_MEMORY", 100)
        cut = read_back(declaration, {"a.txt": raw})
    assert [(row.dialogue_id, row.text) for row in cut.of(Turn)] == [
        (row.dialogue_id, row.text) for row in whole.of(Turn)
    ]
    assert cut.places == whole.places


@pytest.mark.slow
def test_a_turn_of_lines_a_line_and_a_file_are_no_larger_than_a_record() -> None:
    raw = b"IDA: a\n" + b"more words\n" * 500_000
    with source("a.txt", raw, Limits(record=1_000_000)) as file:
        assert SCRIPT.lines is not None
        rows = text_files.LineRows(FileContent(file), SCRIPT.lines, ["said"])
        with pytest.raises(SourceError, match="too much to read"):
            list(rows.tables())
    for declaration in (FILES, EACH_LINE):
        long = source("a.txt", b"Agent: " + b"a" * 1_000_000, Limits(record=1_000_000))
        with long as file, pytest.raises(SourceError, match="too much to read"):
            list(open_records(file, declaration))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?<a", "unclosed capture group name"),
        (r"(?<a>x)\1", "backreferences are not supported"),
        ("(?<a>x)(?=y)", "look-around"),
        ("(?<a>x)(?<a>y)", "duplicate capture group name"),
        ("(?<a>(?:a{1000}){1000})", "too large"),
        (r"(?<a>\w{1,200})", "too large"),
        ("(?<a>x)" + "y" * 1_000, "1 to 1,000 letters"),
        ("", "1 to 1,000 letters"),
    ],
)
def test_what_is_no_pattern_or_too_large_is_refused_with_the_engines_words(pattern: str, words: str) -> None:
    with pytest.raises(BadRegex, match=words):
        named_groups(pattern)
    assert named_groups(r"(x)(?<who>\w{1,32})(?P<said>.*)") == ["who", "said"]


@pytest.mark.slow
def test_a_pattern_takes_no_longer_for_a_line_that_almost_fits() -> None:
    # Python's would take longer than the sun will shine.
    almost = lines("(?<who>(?:[a-z]+)+)!(?<said>.*)", role="who")
    assert read(almost, {"a.txt": b"a" * 200_000}).places == [("GF-12", "a.txt#/0")]


TEXT = 'text = "$"\n'
MARKS = '[markers]\n"Agent: " = "agent"\n"\\nAgent: " = "agent"\n"\\nCaller: " = "caller"\n'
FILES = declared('[dialogue]\nrecord = "$"\n' + TEXT + MARKS, "transcript")
EACH_LINE = declared("[dialogue]\n" + TEXT + MARKS, "transcript")
SEPARATED = declared("[dialogue]\n" + TEXT + 'separator = [" __eou__ ", " __eou__"]\n', "transcript")


@pytest.mark.slow
def test_each_line_that_is_not_blank_is_a_record() -> None:
    result = comes_back(EACH_LINE, a_txt=b"Agent: Hi\r\n\n \nhm\nAgent: \xff\nAgent:  Ho ", b_txt=b"\n", c_txt=b"")
    assert [(turn.dialogue_id, turn.text) for turn in result.of(Turn)] == [
        ("quay:a.txt/0", "Hi"),
        ("quay:a.txt/3", " Ho "),
    ]
    assert result.places == [("GF-10", "a.txt#/3"), ("TH-02", "a.txt#/4")]
    assert "line 5: not UTF-8" in result.rejected[1].detail


@pytest.mark.slow
def test_a_file_that_is_a_record_and_refused_comes_back() -> None:
    bad = {"a_txt": b"Hm.\n", "b_txt": b"Agent: \xff\n", "c_txt_gz": gzip.compress(b"Hm.\n", 1), "d_json": b'{"x":1}\n'}
    result = comes_back(FILES, **bad, e_txt=b"")
    assert result.places == [
        ("GF-02", "e.txt#"),
        ("GF-10", "a.txt#"),
        ("TH-02", "b.txt#"),
        ("GF-10", "c.txt.gz#"),
        ("GF-01", "d.json#"),
    ]


@pytest.mark.slow
@given(texts(), st.sampled_from([FILES, EACH_LINE, SEPARATED]))
@invented_examples(100)
def test_any_text_comes_back(raw: bytes, declaration: Declaration) -> None:
    comes_back(declaration, a_txt=raw, b_txt=raw.replace(b"IDA", b"Agent").replace(b"OLE", b"Caller"))


@pytest.mark.slow
def test_text_files_on_disk_and_in_archives_are_built_and_verified(tmp_path: Path) -> None:
    call = b"Agent: Hello.\r\nAgent: I see.\r\n"
    rows = b"12.01.21, 10:00 - No one said it\n12.01.21, 10:01 - Ida: Hi\nand\n\n" * 3
    files = {
        "calls": (FILES, {"a.txt": call, "b.zip": zipped({"in/c.log": BOM + call, "d.txt": b"Hm."}), "e.txt": b""}),
        "lines": (EACH_LINE, {"a.txt": call + b"\n\xff\nhm", "b.txt.gz": gzip.compress(call, mtime=0)}),
        "chats": (ANDROID, {"a.txt": BOM + rows, "b.zip": zipped({"c.text": rows, "d.txt": b"hm\n"}), "e.txt": b"\n"}),
    }
    corpora = {name: Invented(declaration.text, raw, {}) for name, (declaration, raw) in files.items()}
    assert problems_of(corpora, tmp_path) == []
