"""Tables without a header, whose columns ``[dialect] names`` names."""

import gzip

import pytest

from talkhouse.ingest.declared.record_files import csv_files
from talkhouse.ingest.rows import Annotation, Turn
from tests.declared.rows_loaded import read_back
from tests.declared.test_declaration import mistake

NAMES = '[dialect]\nheader = false\nnames = ["conv", "who", "said"]\n'
TURNS = 'title = "Gate"\nformat = "turns"\n[dialogue]\nid = "conv"\n[turn]\ntext = "said"\nspeaker = "who"\n'
PAIRS = 'title = "Gate"\nformat = "pairs"\n[pair]\nprompt = "conv"\nquery = "who"\nresponse = "said"\n'


@pytest.mark.parametrize(("toml", "count"), [(TURNS, 1), (PAIRS, 3)])
def test_the_first_line_is_a_row_too(toml: str, count: int) -> None:
    result = read_back(toml + NAMES, {"a.tsv": b"conv\twho\tsaid\nc2\tole\tNo.\n", "b.csv": b'c3,ida,"Is it, now?"'})
    texts = [turn.text for turn in result.of(Turn)]
    assert len(texts) == 3 * count
    assert texts[count - 1 :: count] == ["said", "No.", "Is it, now?"]
    assert result.places == []


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


@pytest.mark.slow
@pytest.mark.parametrize("toml", [TURNS, PAIRS])
def test_another_number_of_cells_than_names_refuses_the_file(toml: str) -> None:
    for raw, line, cells in ((b"c1,ida\n", 1, 2), (b"c1,ida,a\nc1,ida,a,b\n", 2, 4)):
        (item,) = read_back(toml + NAMES, {"a.csv": raw}).rejected
        assert item.detail == f"line {line}: {cells} cells, and 3 names - at /{line - 1}"


@pytest.mark.slow
def test_files_of_labels_have_a_header_of_their_own() -> None:
    files = '[[files]]\npath = "a.csv"\n[[files]]\npath = "l.csv"\nholds = "annotations"\n'
    labels = '[[annotations]]\nscheme = "mood"\nfrom = "l.csv"\ndialogue = "d"\nlabel = "mood"\n'
    result = read_back(TURNS + NAMES + files + labels, {"a.csv": b"c1,ida,Is it?\n", "l.csv": b"mood,d\ncalm,c1\n"})
    assert [(row.dialogue_id, row.label) for row in result.of(Annotation)] == [("quay:c1", "calm")]


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
