"""``show``: one dialogue or record with all that belongs to it, found by its id or by the publisher's."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.dialogues.dialogue import Target, resolve, show, show_dialogues
from talkhouse.dialogues.turns import readable
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.schema.errors import UsageError
from tests.commands import on_a_terminal, run
from tests.data_files import data_of

TOY = r"""
from talkhouse.ingest.corpus import Corpus, Scheme
from talkhouse.ingest.outcomes import Loaded, SourceLocation
from talkhouse.ingest.rows import (
    Annotation, Candidate, CandidateText, Dialogue, Participant, Persona, PersonaUse, Record, Speaker, Turn)

TALK = "toy:talk"

def record(file, name, index, dialogue, native=None, release=None, extra=None):
    return Record(f"toy/{name}", "toy", dialogue, native, None, name.split("/")[0], release, "val", None, index,
        file.id, f"/val/{index}", extra)

def vote(name, turn, index, label, who=None, value=None, item=0, scheme="toy.mood"):
    return Annotation(f"toy/{name}", turn, None, None, scheme, index, item, TALK, None, who, label, value)

def use(name, turn, group, position, dialogue=TALK, speaker="toy:ann"):
    return PersonaUse(f"toy/{name}", turn, group, position, dialogue, f"toy:p{position}", speaker)

def talk():
    extra = '{"weather":{"sun":1.50},"cards":["A","7"]}'
    yield Dialogue(TALK, "toy", "talk", "boats", "A [bold]trip[/bold]", "en", extra=extra)
    for name, kind in (("ann", "human"), ("bob", "bot")):
        yield Speaker(f"toy:{name}", "toy", None, name.title(), kind, False)
        yield Participant(TALK, f"toy:{name}", "user")
    for index, text in enumerate(("Ahoy\nthere \x1b[31mred\x07 \u202eabc", "", "long " * 60 + "end")):
        yield Turn(TALK, index, "toy:bob" if index % 2 else "toy:ann", "user", "message", text)
    for number in range(7):
        yield Persona(f"toy:p{number}", "toy", f"p{number}", None, f"i own {number} kayaks", image_file=f"{number}.jpg")
    for number in range(100):
        yield CandidateText(f"toy:t{number}", "toy", f"answer {number}")

def nrp(file):
    yield record(file, "nrp/0", 0, TALK, release="one")
    for position in range(7):
        yield use("nrp/0", None, "candidate", position)
    for position in range(100):
        yield Candidate("toy/nrp/0", 2, "nrp_response", position, 0, TALK, f"toy:t{position}", None, "model",
            position == 42)
    for index in range(8):
        yield vote("nrp/0", 0, index, "good" if index % 4 else "bad")
    yield vote("nrp/0", 1, 0, "good", "w1")
    yield vote("nrp/0", 1, 1, "bad", "", item=0)
    yield vote("nrp/0", 1, 1, "good", "", item=1)
    yield vote("nrp/0", None, 0, None, value=0.25, scheme="toy.score")
    yield vote("nrp/0", 2, 0, "good", value=0.5)
    yield vote("nrp/0", 2, 1, "1", value=1.0)
    yield vote("nrp/0", 2, 2, "")

def gpp(file):
    yield record(file, "gpp/0", 1, TALK, release="two")
    yield use("gpp/0", 2, "remainder", 3)
    for position in range(2):
        for item in range(2):
            yield Candidate("toy/gpp/0", 2, "authors", position, item, TALK, None, f"toy:p{item}")
    yield vote("gpp/0", 0, 0, "bad")

def loaded(file, rows):
    rows = list(rows)
    (one,) = [row for row in rows if isinstance(row, Record)]
    facts = (one.source_pointer, one.subset, one.release, one.split, one.record_index, one.native_id)
    return Loaded(SourceLocation(file, *facts), rows)

def read(files):
    for file in files:
        file.read()
        yield loaded(file, [*talk(), *nrp(file)])
        yield loaded(file, gpp(file))
        lists = record(file, "lists/0", 2, None, "list-7", extra='{"topic":"kayaks"}')
        yield loaded(file, [lists, use("lists/0", None, "all", 0, None, None)])
        for number in range(2):
            twin = f"toy:twin~{number}"
            yield loaded(file, [record(file, f"twins/{number}", 3 + number, twin), Dialogue(twin, "toy", "twin"),
                Turn(twin, 0, None, "user", "message", "hello")])

def write(records):
    return iter(())

def write_record(published):
    return b"hello"

SCHEMES = (Scheme("toy.mood", "Mood.", "turn", {"good": "Good.", "bad": "Bad."}),
    Scheme("toy.score", "Score.", "dialogue"))
CORPUS = Corpus(id="toy", version=1, title="Toy", description="", homepage="", licence="none", citation="none",
    languages=("en",), files="text files", splits={"val": None}, schemes=SCHEMES, read=read, write=write,
    write_record=write_record)
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with personas and candidates, of a corpus that is declared in a folder of its own."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "roots" / "toy").mkdir(parents=True)
    (folder / "roots" / "toy" / "__init__.py").write_text(TOY)
    (folder / "data" / "toy").mkdir(parents=True)
    (folder / "data" / "toy" / "a.txt").write_text("hello")
    build(folder / "w.duckdb", Silent(), data=folder / "data", corpus_roots=(folder / "roots",))
    return folder / "w.duckdb"


@pytest.fixture
def toys(toy: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with talkhouse.open(toy) as con:
        yield con


def plain(shown: str) -> list[str]:
    return re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\r", "").splitlines()


def test_a_dialogue_has_everything_of_all_its_records(toys: duckdb.DuckDBPyConnection) -> None:
    found = show(toys, "toy:talk")
    assert (found["kind"], found["id"], found["corpus"]["title"]) == ("dialogue", "toy:talk", "Toy")
    assert [turn["turn_index"] for turn in found["turns"]] == [0, 1, 2]
    assert found["turns"][0]["text"] == "Ahoy\nthere \x1b[31mred\x07 \u202eabc"
    records = {record["record_id"]: record for record in found["records"]}
    assert list(records) == ["toy/gpp/0", "toy/nrp/0"]
    for table, kind in (("annotations", "annotations"), ("persona_uses", "personas"), ("candidates", "candidates")):
        for name, record in records.items():
            rows = toys.execute(f"select count(*) from main.{table} where record_id = ?", [name]).fetchall()
            assert len(record[kind]) == rows[0][0]
    texts = [row["text"] for row in records["toy/nrp/0"]["candidates"]]
    assert texts == [f"answer {number}" for number in range(100)]
    assert [row["text"] for row in records["toy/gpp/0"]["candidates"]] == ["i own 0 kayaks", "i own 1 kayaks"] * 2
    assert [row["image_file"] for row in records["toy/gpp/0"]["personas"]] == ["3.jpg"]


@pytest.mark.slow
def test_of_several_dialogues_each_is_what_it_is_alone(filled: Path) -> None:
    with talkhouse.open(filled) as con:
        query = "select dialogue_id from main.dialogues order by hash(dialogue_id)"
        ids = [key for (key,) in con.execute(query).fetchall()]
        assert list(show_dialogues(con, ids)) == [show(con, dialogue_id) for dialogue_id in ids]


def test_a_record_has_its_own_and_no_others(toys: duckdb.DuckDBPyConnection) -> None:
    found = show(toys, "toy/gpp/0")
    assert [record["record_id"] for record in found["records"]] == ["toy/gpp/0"]
    assert len(found["turns"]) == 3
    (annotation,) = found["records"][0]["annotations"]
    assert (annotation["turn_index"], annotation["label"]) == (0, "bad")


def test_the_source_is_named_to_the_byte(toys: duckdb.DuckDBPyConnection) -> None:
    source = show(toys, "toy/gpp/0")["records"][0]["source"]
    assert source["sha256"] == hashlib.sha256(b"hello").hexdigest()
    assert (source["source_file_id"], source["pointer"]) == ("toy/a.txt", "/val/1")


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("toy:talk", Target("dialogue", "toy:talk")),
        ("toy/nrp/0", Target("record", "toy/nrp/0")),
        ("talk", Target("dialogue", "toy:talk")),
        ("list-7", Target("record", "toy/lists/0")),
    ],
)
def test_a_name_is_an_id_or_the_publishers(toys: duckdb.DuckDBPyConnection, name: str, target: Target) -> None:
    assert resolve(toys, name) == target


def test_a_dialogue_and_its_records_share_the_publishers_id(con: duckdb.DuckDBPyConnection) -> None:
    query = data_of(__file__)["query"]
    ((name,),) = con.execute(query).fetchall()
    assert resolve(con, name).kind == "dialogue"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("twin", ["2 dialogues or records", "toy:twin~0, toy:twin~1"]),
        ("toy:tlak", ["no dialogue or record 'toy:tlak'", "an id such as: toy:talk"]),
        ("toy:twi", ["an id such as: toy:twin~0, toy:twin~1"]),
        ("toy/nrp/7", ["an id such as: toy/nrp/0"]),
        ("", ["talkhouse search TEXT"]),
    ],
)
def test_a_wrong_name_gets_similar_ones(toys: duckdb.DuckDBPyConnection, name: str, words: list[str]) -> None:
    with pytest.raises(UsageError) as raised:
        resolve(toys, name)
    assert all(word in str(raised.value) for word in words), raised.value


def test_labels_of_few_are_named_and_of_many_counted(toy: Path) -> None:
    lines = run("show", "talk", "--db", toy).stdout.splitlines()
    assert "       one mood: bad 2  good 6 (8 annotators)" in lines
    assert "       two mood: bad" in lines
    assert "       one mood: good (w1); bad, good (#1)" in lines
    assert "  one score: 0.25" in lines
    assert '       one mood: good 0.5 (#0); 1 (#1); "" (#2)' in lines
    alone = run("show", "toy/nrp/0", "--db", toy).stdout.splitlines()
    assert "       mood: bad 2  good 6 (8 annotators)" in alone
    assert not [line for line in alone if "two" in line]


def test_lists_show_the_first_and_the_gold_and_all_on_demand(toy: Path) -> None:
    lines = run("show", "talk", "--db", toy).stdout.splitlines()
    assert "       one candidates nrp_response: 100, gold at 42" in lines
    assert [line for line in lines if "answer" in line] == [
        "           0  answer 0 [model]",
        "           1  answer 1 [model]",
        "           2  answer 2 [model]",
        "       *  42  answer 42 [model]",
    ]
    assert "              ... 96 more (--all)" in lines
    assert "         ... 2 more (--all)" in lines
    assert "           1  i own 0 kayaks [0.jpg] / i own 1 kayaks [1.jpg]" in lines
    whole = run("show", "talk", "--db", toy, "--all").stdout
    assert len(re.findall(r"answer \d+ \[model\]", whole)) == 100
    assert "--all" not in whole


def test_a_pipe_gets_texts_whole_with_controls_visible(toy: Path) -> None:
    shown = run("show", "talk", "--db", toy).stdout
    assert "    0  user Ann: Ahoy\n       there \\x1b[31mred\\x07 \\u202eabc\n" in shown
    assert f"    2  user Ann: {'long ' * 60}end\n" in shown
    assert "title: A [bold]trip[/bold]" in shown
    assert '  weather: {"sun":1.50}' in shown
    assert "  cards: A, 7" in shown


@pytest.mark.parametrize("columns", [40, 100])
def test_a_terminal_gets_hanging_indents_and_no_control_characters(toy: Path, tmp_path: Path, columns: int) -> None:
    lines = plain(on_a_terminal(["show", "talk", "--db", toy], tmp_path, columns))
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", "".join(lines))
    assert max(map(len, lines)) <= columns
    begin = next(index for index, line in enumerate(lines) if line.startswith("    2  user Ann: long"))
    end = next(index for index, line in enumerate(lines) if line.endswith("long end"))
    assert end > begin
    assert all(line.startswith("       long") for line in lines[begin + 1 : end])
    assert " ".join(lines[begin : end + 1]).count("long") == 60


def test_a_tree_is_read_branch_by_branch() -> None:
    def read(*answered: int | None) -> list[object]:
        rows = [{"turn_index": turn, "reply_to": to, "text": ""} for turn, to in enumerate(answered)]
        dialogue = readable({"records": [], "turns": rows, "parts": []})
        around = [[turn.turn_index for turn in dialogue.around(at, 2, 2)] for at in (2, 3)]
        return [*((turn.turn_index, turn.level, turn.rival) for turn in dialogue.turns), *around]

    assert read(None, 0, 0, 1, 2, 2) == [
        *((0, 0, ""), (1, 1, "1 of 2"), (3, 1, ""), (2, 1, "2 of 2"), (4, 2, "1 of 2"), (5, 2, "2 of 2")),
        *([0, 2, 4, 5], [0, 1, 3]),
    ]
    in_order = [(turn, 0, "") for turn in range(5)]
    for chat in ((None, None, 0, 0, None), (None, 0, 1, 2, 3)):
        assert read(*chat) == [*in_order, [0, 1, 2, 3, 4], [1, 2, 3, 4]]


def test_a_record_without_dialogue_shows_its_own(toy: Path) -> None:
    lines = run("show", "list-7", "--db", toy).stdout.splitlines()
    assert lines[0] == "toy/lists/0"
    assert "  topic: kayaks" in lines
    assert "      0  i own 0 kayaks [0.jpg]" in lines
    assert "  pointer: /val/2" in lines


def test_json_is_everything_in_full(toy: Path, toys: duckdb.DuckDBPyConnection) -> None:
    shown = run("show", "talk", "--db", toy, "--json").stdout
    assert '"sun": 1.50' in shown
    assert "\u202e" not in shown
    found = json.loads(shown)
    expected = show(toys, "talk")
    assert found["dialogue"]["extra"] == {"weather": {"sun": 1.5}, "cards": ["A", "7"]}
    assert found["turns"] == expected["turns"]
    assert found["records"] == expected["records"]


def test_an_unknown_id_is_wrong_use(toy: Path) -> None:
    shown = run("show", "toy:tlak", "--db", toy)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "toy:talk" in shown.stderr


@pytest.mark.slow
def test_the_bundled_sample_shows_every_dialogue_and_record(con: duckdb.DuckDBPyConnection) -> None:
    query = "select dialogue_id from main.dialogues union all select record_id from main.records"
    for (name,) in con.execute(query).fetchall():
        found = show(con, name)
        assert found["id"] == name
        assert found["records"]
        assert bool(found["turns"]) == (found["dialogue"] is not None)
