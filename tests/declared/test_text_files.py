"""Text files: a file or a line as a record, lines as rows by a pattern; turns as they are said, and all of it back."""

import gzip
import json
from datetime import datetime
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
from talkhouse.ingest.rows import Dialogue, Record, Turn
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
IPHONE = clocked(r"\x{200e}?\[(?<at>[^\]]+)\] (?<who>[^:]+): (?<said>.*)", r"%d/%m/%Y, %I:%M:%S\u202f%p")
IRC = lines(r"\[(?<clock>[\d:]+)\] (?:<(?<who>[^>]+)>|-!-) (?<said>.*)", speaker="who")
SCRIPT = lines("(?<who>[A-Z ]+): (?<said>.*)", role="who")
SCENES = lines("(?<who>[A-Z ]+): (?<said>.*)", "begins = '^$|==='", role="who")
NUMBERED = lines(r"(?<n>\d+) (?<said>.*)", "begins = '1 '")


def turns_of(result: Read) -> list[tuple[str | None, str]]:
    turns = sorted(result.of(Turn), key=lambda turn: (turn.dialogue_id, turn.turn_index))
    return [(turn.speaker_id.partition(":")[2] if turn.speaker_id else None, turn.text) for turn in turns]


def comes_back(declaration: Declaration, **files: bytes) -> Read:
    """Read files, whose names have ``_`` for a point, and write them back."""
    return read_back(declaration, {name.replace("_", "."): raw for name, raw in files.items()})


def test_exports_of_chat_programs_are_turns_and_come_back() -> None:
    android = (
        "31.12.21, 22:04 - Messages are end-to-end encrypted.\n31.12.21, 22:05 - Ida: Hello\nand more\n\nlast of it\n\n"
        "31.12.21, 22:06 - Ole: <Media omitted>\n01.01.22, 00:00 - Ida: see 22:05 - Bo: x\n"
    )
    result = comes_back(ANDROID, chat_txt=android.encode())
    assert turns_of(result) == [
        (None, "Messages are end-to-end encrypted."),
        ("Ida", "Hello\nand more\n\nlast of it"),
        ("Ole", "<Media omitted>"),
        ("Ida", "see 22:05 - Bo: x"),
    ]
    assert [turn.said_at for turn in result.of(Turn)][-1] == datetime(2022, 1, 1)  # noqa: DTZ001
    assert result.places == []
    iphone = "[31/12/2021, 10:05:12\u202fPM] Ida: Hello\r\nmore\r\n"
    iphone += "\u200e[01/02/2022, 10:05:14\u202fAM] Ole: \u200eimage omitted"
    result = comes_back(IPHONE, chat_txt=BOM + iphone.encode(), packed_txt_gz=gzip.compress(iphone.encode(), mtime=0))
    assert turns_of(result) == [("Ida", "Hello\r\nmore"), ("Ole", "\u200eimage omitted")] * 2
    assert [turn.said_at for turn in result.of(Turn)][:2] == [
        datetime(2021, 12, 31, 22, 5, 12),  # noqa: DTZ001
        datetime(2022, 2, 1, 10, 5, 14),  # noqa: DTZ001
    ]


@pytest.mark.slow
def test_a_clock_without_a_date_is_kept_with_its_turn() -> None:
    result = comes_back(IRC, log_log=b"[12:01] <ida> hi\n[12:01] -!- ole has joined\n[12:02] <ole> <b> ho\n")
    assert turns_of(result) == [("ida", "hi"), (None, "ole has joined"), ("ole", "<b> ho")]
    assert result.of(Turn)[0].extra == '{"clock":"12:01"}'
    assert {turn.said_at for turn in result.of(Turn)} == {None}
    assert result.places == []


def test_lines_with_which_a_dialogue_begins() -> None:
    result = comes_back(NUMBERED, a_txt=b"1 hi\n2 ho\n1 again\n10 far\n1 end\n", b_txt=b"2 late\n1 new\n")
    assert [(turn.dialogue_id, turn.text) for turn in result.of(Turn)] == [
        ("quay:a.txt/0", "hi"),
        ("quay:a.txt/0", "ho"),
        ("quay:a.txt/1", "again"),
        ("quay:a.txt/1", "10 far".partition(" ")[2]),
        ("quay:a.txt/2", "end"),
        ("quay:b.txt/0", "late"),
        ("quay:b.txt/1", "new"),
    ]
    scenes = b"THE KITCHEN\n\nIDA: Tea?\nOLE: Yes.\nPlease.\n \n\n=== two ===\nat night\nIDA: Again?\n\n\nOLE: No\n"
    result = comes_back(SCENES, play_txt=scenes)
    assert result.turns("quay:play.txt/0") == [("IDA", "Tea?"), ("OLE", "Yes.\nPlease.")]
    assert result.turns("quay:play.txt/1") == [("IDA", "Again?")]
    assert result.turns("quay:play.txt/2") == [("OLE", "No")]
    assert [(found.rule, found.severity, found.pointer) for found in result.findings] == [("GF-10", "warn", "/0")]
    assert "2 lines belong to no turn" in result.findings[0].detail


def several(pattern: str, texts: str, more: str = "", **turn: str) -> Declaration:
    """Declare lines with several turns."""
    return declared(
        f"[lines]\npattern = '{pattern}'\n{more}\nturns = \"each\"\n[turn]\ntext = {texts}\n"
        + "".join(f"{key} = {groups}\n" for key, groups in turn.items())
    )


PAIRED = several(
    r"(?<n>\d+) (?<said>[^\t]*)(?:\t(?<answer>[^\t]*)(?:\t(?<more>.*))?)?", '["said", "answer"]', "begins = '1 '"
)


@pytest.mark.slow
def test_lines_with_several_turns() -> None:
    result = comes_back(PAIRED, a_txt=b"head\n1 hi\tho\n2 ho\tho\tone|two\n3 alone\nmore\n1 \tb\r\nmore\n\n2 x\t\n3 \n")
    assert [text for _, text in result.turns("quay:a.txt/0")] == ["hi", "ho", "ho", "ho", "alone\nmore"]
    assert [text for _, text in result.turns("quay:a.txt/1")] == ["b\r\nmore", "x", ""]
    second = [turn for turn in result.of(Turn) if turn.turn_index in (2, 3) and turn.dialogue_id == "quay:a.txt/0"]
    extras = [json.loads(turn.extra or "{}") for turn in second]
    assert [(extra["n"], extra["more"]) for extra in extras] == [("2", ""), ("", "one|two")]
    assert [record.source_pointer for record in result.of(Record)] == ["/1", "/5"]
    pattern = "(?<a>[A-Z]+)=(?<said>[a-z]*) (?<b>[A-Z]+)=(?<answer>[a-z]*)"
    result = comes_back(several(pattern, '["said", "answer"]', speaker='["a", "b"]'), a_txt=b"IDA=x OLE=y\nMIA=z OLE=")
    assert turns_of(result) == [("IDA", "x"), ("OLE", "y"), ("MIA", "z")]


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


@pytest.mark.slow
def test_groups_that_do_not_stand_one_behind_the_other_come_back() -> None:
    result = comes_back(lines("(?<all>(?<who>[A-Z]+): (?<said>.*))", role="who"), a_txt=b"IDA: a\nmore\nOLE: b\n")
    assert turns_of(result) == [(None, "a\nmore"), (None, "b")]
    result = comes_back(lines(r"(?<said>.*) \((?<who>[a-z]+)\)", role="who"), a_txt=b"a (ida)\nmore\nb (ole)\n")
    assert turns_of(result) == [(None, "a\nmore"), (None, "b")]
    either = lines("(?<who>[A-Z]+)>(?<said>.*)|(?<rest>-.*)", role="who")
    assert turns_of(comes_back(either, a_txt=b"A>x\n--\nB>y\n")) == [(None, "x"), (None, ""), (None, "y")]
    notices = declared(
        "[lines]\npattern = '(?<shape>[A-Z]*): (?<cells>.*)|\\* (?<__proto__>.*)'\n"
        '[turn]\ntext = ["cells", "__proto__"]\n'
    )
    result = comes_back(notices, a_txt=b"A: a\nb\n* c\nd\n: \n\nf\n")
    assert turns_of(result) == [(None, "a\nb"), (None, "c\nd"), (None, "\n\nf")]


@pytest.mark.slow
def test_most_lines_need_no_word_about_how_they_are_written() -> None:
    result = comes_back(ANDROID, a_txt=b"12.01.21, 10:00 - No one said it\n" + b"12.01.21, 10:00 - Ida: Hi\n" * 3)
    assert [turn.extra for turn in result.of(Turn)] == ['{"cells":{"":"1"}}', None, None, None]


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


def test_a_text_file_is_a_transcript_and_comes_back() -> None:
    call = b"Agent: Hello.\nCaller: My line is dead.\nSince noon.\nAgent: I see.\n"
    result = comes_back(FILES, a_txt=call, b_log=BOM + call[:-1], c_text_gz=gzip.compress(BOM + call, mtime=0))
    expected = [("agent", "Hello."), ("caller", "My line is dead.\nSince noon."), ("agent", "I see.")]
    assert [result.turns(row.dialogue_id) for row in result.of(Dialogue)] == [expected] * 3
    assert result.of(Dialogue)[0].dialogue_id == "quay:a.txt/0"


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
def test_turns_between_separators() -> None:
    result = comes_back(SEPARATED, a_txt=b"A __eou__ B __eou__\n\nC\nD __eou__  __eou__\t\r\n __eou__ E __eou__ F\n")
    turns = [result.turns(row.dialogue_id) for row in result.of(Dialogue)]
    assert [[text for _, text in talk] for talk in turns] == [["A", "B"], ["C"], ["D", ""], ["", "E", "F"]]
    assert {role for talk in turns for role, _ in talk} == {"speaker"}
    in_cells = declared('[dialogue]\ntext = "log"\nseparator = "|"\n', "transcript")
    result = comes_back(in_cells, a_csv=b'log\na|b\n"c,|"\n||\n', b_json=b'[{"log":"a||b"},{"log":""}]')
    assert [[text for _, text in result.turns(row.dialogue_id)] for row in result.of(Dialogue)] == [
        ["a", "b"],
        ["c,"],
        ["", ""],
        ["a", "", "b"],
        [],
    ]


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
@pytest.mark.parametrize("format_", ["chat", "pairs"])
def test_a_format_of_objects_does_not_read_a_text(format_: str) -> None:
    result = read(declared("", format_), {"a.txt": b'{"messages": []}\n'})
    assert [item.rule for item in result.rejected] == ["GF-14"]
    assert "rename it to .jsonl" in result.rejected[0].detail


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
