"""DeliData: groups of any text and spelling, through a build and back, equal byte for byte."""

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.ingest.corpora.delidata import CORPUS
from talkhouse.ingest.corpora.delidata.format import GroupRow, _leniently, quote
from tests.conftest import ONCE_BROKEN, invented_builds, invented_examples
from tests.corpora.delidata.rules import HEADER
from tests.corpora.unusual import BOM, ODD_TEXTS, files_back

CONTROLS = "".join(chr(code) for code in range(0x20) if chr(code) not in "\t\n\r")
QUOTED = ("'", "''", "'''", "''''", "'a'", " 'a' ", "'a''b'", "a''b", "it's", '"a"', "\U0001f600'" * 30_000)
SIGNS = '\\ \\\\u0041 \\t \\n " \' \\" / ~ ~0 ~1 %s {} && , ;'
ANY = st.sampled_from([*ODD_TEXTS, *QUOTED, CONTROLS, SIGNS, "a\rb", "None"]) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\n\t\r"), max_size=9
)
"""All of Unicode's planes and control characters; a tab or a line feed in a cell is what no quoting can mend here."""

CELL = ANY | ANY.map(quote)
ID = CELL | st.sampled_from(["-1", "m1", "'m1'"])
KIND = st.sampled_from(["MESSAGE", "SUBMIT", "'MESSAGE'", "message"]) | CELL
ORIGIN = st.sampled_from(["Fox", "Elk", "'Fox'", "SYSTEM", "Fox/Elk"]) | CELL
NUMBERS = ["0.0", "-0.0", "1", "1.0", "1e3", "1e-3", ".5", "0.50", "+0.5", "1e400", "nan", "", "\u0665", "0x1"]
NUMBERS += ["9" * 400]
NUMBER = st.sampled_from(NUMBERS) | st.floats(0, 1).map(str) | CELL
ITEMS = st.lists(ANY, max_size=3).map(",".join) | st.sampled_from(["0", "", ",", "partial_solution"])
CARDS = st.lists(ANY | st.sampled_from(["A", "7", "N/A"]), max_size=3) | st.permutations(["N", "/", "A"])
USERS = st.dictionaries(st.sampled_from(["Fox", "", "O'Hare"]) | ANY, CARDS, max_size=3)
SPELLED = st.builds(
    lambda users, blanks, ascii_only: json.dumps(users, separators=blanks, ensure_ascii=ascii_only),
    USERS,
    st.sampled_from([(", ", ": "), (",", ":")]),
    st.booleans(),
)
BROKEN_JSON = ['{"a": ["b"], "a": []}', '{"a": 1}', '{"a": [1]}', "[]", "{", '{"a": ["\\ud800"]}', "[" * 2_000, "NaN"]
TRACKER = SPELLED.filter(lambda text: not set("\n\t\r") & set(text)).flatmap(
    lambda text: st.sampled_from([text, quote(text)])
) | st.sampled_from(BROKEN_JSON)
ROW = st.tuples(ID, KIND, ORIGIN, CELL, CELL, CELL, CELL, ITEMS, NUMBER, NUMBER, ITEMS, TRACKER)
OPENING = st.tuples(
    *map(st.just, ("-1", "INITIAL", "SYSTEM")),
    st.sampled_from(["Fox,SYSTEM,Elk&&A,K,4,7", "&&,,,", ",,Fox,Fox&&A,A,A,A"])
    | ANY.map(lambda name: f"{name}&&A,K,4,7"),
    *([CELL] * 4),
    *([NUMBER] * 2),
    CELL,
    TRACKER,
)
NAMES = ["g", "'g'", "it's", "'it''s'", "''", "'", "g&h", "\u0434\U0001f600", "a b", "\u202eg", "g\x01"]
END = st.sampled_from(["\n", "\n", "\r\n"])
BROKEN = [b"", BOM, b"\t", b"\xff\t", BOM + BOM + b"\t", *(f"{HEADER}{end}".encode() for end in ("", "\n", "\n\n"))]


@st.composite
def folder(draw: st.DrawFn) -> dict[str, bytes]:
    """Make files by path: groups, some given again with other spellings, and broken ones."""
    files: dict[str, bytes] = {}
    for number, name in enumerate(draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=10))):
        rows = [draw(OPENING), *draw(st.lists(ROW, max_size=5))]
        ends, mark = draw(END), draw(st.sampled_from([b"", b"", BOM]))
        for copy in range(draw(st.integers(1, 2))):
            given_as = [(row[0], *row[1:4], draw(CELL), *row[5:]) if copy else row for row in rows]
            lines = [HEADER, *("\t".join([name, *row]) for row in given_as)]
            text = ends.join(lines) + draw(st.sampled_from([ends, ends, ""]))
            files[f"{number}_{copy}/{name}"] = mark + text.encode()
    for number, raw in enumerate(draw(st.lists(st.sampled_from(BROKEN), max_size=3))):
        files[f"broken_{number}/b"] = raw
    cut = draw(st.sampled_from(sorted(files)))
    files["cut/cut"] = files[cut][: len(HEADER) + draw(st.integers(0, 200))]
    return files


GROUP = f"{HEADER}\ng\t-1\tINITIAL\tSYSTEM\tFox,SYSTEM&&A,K,4,7\t\t\t\t\t0.5\t0.0\t\t{{}}\n"


@pytest.mark.slow
@invented_builds(10, ONCE_BROKEN)
@given(files=folder(), form=st.sampled_from([None, "zip", "gztar"]))
def test_invented_files_come_back_equal(
    files: dict[str, bytes], form: str | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    files = {"whole/g": GROUP.encode()} | files
    went = files_back(tmp_path_factory.mktemp("groups"), CORPUS, files, "delidata_corpus", form)
    loaded = {name for name, raw in files.items() if b"\t" in raw.split(b"\n")[0] or raw.removeprefix(BOM) == b""}
    assert went == {name: raw for name, raw in files.items() if name in loaded}


def renamed(name: str) -> str:
    return GROUP.replace("\ng\t", f"\n{name}\t")


ONCE_LOST = {
    "name_in_quotes/'a''b'": renamed("'a''b'"),
    "line_ends_of_windows/g": GROUP.replace("\n", "\r\n"),
    "line_ends_of_two_kinds/i": renamed("i").replace("\n", "\r\n", 1),
    "blank_lines/j": renamed("j").replace("\n", "\n\n"),
    "a_column_more/k": renamed("k").replace("\n", "\tx\n"),
    "by_a_spreadsheet/l": '"' + renamed("l").replace("\t", '"\t"').replace("\n", '"\n"')[:-1].replace("4,7", "4,\n7"),
    "line_ends_of_windows_but_the_last/h": renamed("h").replace("\n", "\r\n").removesuffix("\r\n"),
}
"""What was once changed or refused, by what it was."""


@pytest.mark.slow
def test_what_was_once_lost_or_refused_is_loaded_and_comes_back(tmp_path: Path) -> None:
    files = {name: text.encode() for name, text in ONCE_LOST.items()}
    assert files_back(tmp_path, CORPUS, files, "delidata_corpus") == files
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        assert con.execute("select count(*) from main.records").fetchall() == [(len(files),)]


PIECE = st.sampled_from(["\t"] * 6 + ["\n", "\r\n", "\r", '"', '"', '""', " ", "a", "'", "x y"])


@invented_examples(200)
@given(st.permutations([*GroupRow._fields, "more"]), st.lists(PIECE, max_size=40).map("".join))
def test_an_unusual_file_has_the_rows_that_the_reference_reader_has(names: list[str], body: str) -> None:
    text = "\t".join(names) + "\n" + body
    reference = csv.DictReader(io.StringIO(text, newline=None), delimiter="\t", skipinitialspace=True)
    for row, expected in zip(_leniently(text).rows, reference, strict=True):
        for name, cell in row._asdict().items():
            assert cell.replace("\r\n", "\n").replace("\r", "\n").lstrip(" ") == (expected[name] or "").lstrip(" ")
