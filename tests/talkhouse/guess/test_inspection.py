"""What ``talkhouse inspect`` says of a file."""

import gzip
import json
from pathlib import Path

import pytest

from talkhouse.guess.inspection import Inspection, inspected
from talkhouse.guess.sample import MOST, Sample, records_inside
from talkhouse.guess.text_rules import markers_of
from talkhouse.schema.errors import SourceError
from tests.commands import on_a_terminal, run
from tests.data_files import data_of
from tests.talkhouse.guess.folders import CHANNEL, CHAT, FOLDERS, LOG, SCATTERED, lines, messages, parquet, write


def seen(folder: Path, name: str, content: bytes) -> Inspection:
    return inspected(write(folder, {name: content}) / name)


def test_fields_have_types_counts_ranges_and_members(tmp_path: Path) -> None:
    records = [
        {"id": "a", "messages": messages("Hi", "Ho"), "source": "web", "score": None},
        {"id": "b", "messages": [*messages("Hi", "Ho"), {"role": "user", "content": None}], "source": "web"},
    ]
    shown = seen(tmp_path, "a.jsonl", lines(*records))
    assert shown.about == "JSON Lines, 286 bytes; all of it was read, 2 records"
    assert shown.lines == [
        ("id", "text", "2", "all different", '"a"'),
        ("messages", "list", "2", "2 to 3 items", "role (user, assistant), content (text, null)"),
        ("source", "text", "2", "1 value", '"web"'),
        ("score", "null", "0", "", ""),
    ]
    assert shown.looks_like == "chat (each record has messages with role and content)"
    assert shown.first == [("user", "Hi"), ("assistant", "Ho")]


FIRST = data_of(__file__)["first"]


@pytest.mark.parametrize("name", FIRST)
def test_the_first_dialogue_is_shown(name: str, tmp_path: Path) -> None:
    files = FOLDERS[name]
    path = next(path for path in sorted(files, reverse=True) if "schema" not in path)
    assert inspected(write(tmp_path, files) / path).first == [tuple(turn) for turn in FIRST[name]]


def test_a_file_that_is_cut_off_is_known_by_its_beginning(tmp_path: Path) -> None:
    text = json.dumps(CHANNEL).encode()
    shown = seen(tmp_path, "a.json", text[: text.index(b'"101"')])
    assert shown.looks_like.startswith("dialogue")
    assert shown.problem == "malformed JSON: only its beginning can be read"


def test_the_first_thousand_records_are_read(tmp_path: Path) -> None:
    many = [{"id": str(n), "messages": messages("Hi", "Ho")} for n in range(1_001)]
    for name, content in {"a.jsonl": lines(*many), "a.json": json.dumps(many).encode()}.items():
        shown = seen(tmp_path, name, content)
        assert len(shown.sample.records) == 1_000
        assert "; the first 1,000 records were read" in shown.about
    assert "all of it was read" in seen(tmp_path, "b.jsonl", lines(*many[:1_000])).about


def test_parquet_that_is_packed(tmp_path: Path) -> None:
    plain = seen(tmp_path, "a.parquet", parquet(LOG)).sample
    packed = seen(tmp_path, "b.parquet.gz", gzip.compress(parquet(LOG))).sample
    assert (packed.records, packed.form, packed.problem) == (plain.records, "Parquet, gzip", None)


def test_quotes_that_open_nothing_are_letters_and_those_after_a_backslash_are_found(tmp_path: Path) -> None:
    shown = seen(tmp_path, "a.tsv", SCATTERED)
    assert shown.sample.dialect.quote_char == ""
    assert shown.sample.records[0]["said"] == '"Oh, you are late'
    shown = seen(tmp_path, "a.csv", b'who,said\nann,"say \\"hi\\""\n')
    assert shown.sample.dialect.escape_char == "\\"
    assert shown.sample.records == [{"who": "ann", "said": 'say "hi"'}]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("who,said\nann,hé\n".encode("utf-16"), "UTF-16, not UTF-8: write the file as UTF-8"),
        (b"who,said\rann,hi\r", "its lines end with a carriage return alone: write it with line feeds"),
    ],
)
def test_a_file_that_is_written_otherwise_is_not_shown_as_noise(content: bytes, problem: str, tmp_path: Path) -> None:
    shown = seen(tmp_path, "a.csv", content)
    assert (shown.problem, shown.sample.records) == (problem, [])


def test_records_of_a_document_are_no_more_than_those_of_a_file() -> None:
    document = Sample("a.json", "JSON object", 1, [{"chats": [{"a": [{}]}] * 3_000}], is_whole=True, record="file")
    assert [(len(found.records), found.is_whole) for found in records_inside(document)] == [(MOST.records, False)] * 2


def test_marks_begin_lines_and_recur() -> None:
    assert markers_of(["A: one\nB: two\nA: three\nB: four"]) == {"\nB: ": "b", "\nA: ": "a", "A: ": "a", "B: ": "b"}
    assert markers_of(["<|user|>Hi<|assistant|>Ho"] * 2) == {}, "inside of a line they would not begin a turn"
    assert not markers_of(["Note: one text.", "Then: another."])
    assert not markers_of(["No marks at all."])


def test_what_is_no_file_of_records(tmp_path: Path) -> None:
    write(tmp_path, {"a.pkl": b"x", "b.zip": b"x", "notes/README.md": b"# Notes", "notes/a.png": b"x"})
    for name, words in (
        ("a.pkl", "no form that is read"),
        ("notes", "no file of a form that is read"),
        ("b.zip", "the archive can't be read"),
        ("c.json", "no such file"),
    ):
        with pytest.raises(SourceError, match=words):
            inspected(tmp_path / name)


def test_archives_and_folders_are_looked_into(tmp_path: Path) -> None:
    import zipfile

    write(tmp_path / "talks", {"train.jsonl": lines(*CHAT), "photo.png": b"x"})
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("train.jsonl", lines(*CHAT))
        archive.writestr("photo.png", b"x")
    for path, inner in (("talks", "train.jsonl"), ("all.zip", "all/train.jsonl")):
        shown = inspected(tmp_path / path)
        assert shown.about.startswith(f"2 files; of {inner}, JSON Lines")
        assert [(name, what) for name, _, what in shown.files] == [
            (inner, "train"),
            (inner.replace("train.jsonl", "photo.png"), "no ending of a format that is known"),
        ]
        assert shown.first == [("user", "May I prune it?"), ("assistant", "In spring.")]


@pytest.mark.parametrize("path", ["talks/dev/a.jsonl", "talks/dev", "talks/a.jsonl"])
def test_a_corpus_is_no_split(path: str, tmp_path: Path) -> None:
    write(tmp_path, {"talks/dev/a.jsonl": lines(*CHAT), "talks/a.jsonl": lines(*CHAT)})
    assert inspected(tmp_path / path).next_folder == str(tmp_path / "talks")
    (tmp_path / "talks" / "corpus.toml").touch()
    assert inspected(tmp_path / path).next_folder is None


def test_the_words_of_parts_are_shown_whatever_their_name(tmp_path: Path) -> None:
    parts = [{"type": "text", "value": "Is it far?"}, {"type": "text", "text": " Is it?"}]
    record = {"messages": [{"role": "user", "content": parts}]}
    assert seen(tmp_path, "a.jsonl", lines(record)).first == [("user", "Is it far? Is it?")]


def test_the_commands_as_a_user_sees_them(tmp_path: Path) -> None:
    folder = write(tmp_path / "talks", {"train.jsonl": lines(*CHAT)})
    shown = run("inspect", "talks/train.jsonl", "--json", cwd=tmp_path)
    data = json.loads(shown.stdout)
    assert data["looks_like"]["format"] == "chat"
    assert data["next"] == "talkhouse new talks"
    done = run("new", "talks", cwd=tmp_path)
    assert done.stdout.splitlines() == [
        'wrote talks/corpus.toml: chat, train.jsonl (train), id = "id"',
        "  kept in extra: topic",
        "  to do: licence, citation",
        "read by it: 3 records, 3 dialogues, 6 turns (user 3, assistant 3)",
        "first dialogue, its beginning:",
        "  user       May I prune it?",
        "  assistant  In spring.",
        "next: talkhouse build --data . --dry-run",
    ]
    (folder / "corpus.toml").unlink()
    shown = json.loads(run("new", "talks", "--json", cwd=tmp_path).stdout)
    assert shown["format"] == "chat"
    assert shown["sample"]["roles"] == {"user": 3, "assistant": 3}
    assert shown["sample"]["first"][0] == {"who": "user", "text": "May I prune it?"}


def test_nothing_in_a_file_acts_on_a_terminal(tmp_path: Path) -> None:
    evil = {"id\x1b[2J": "\x1b]0;x\x07", "messages": messages("\x1b[31mred\u202e", "Ho\r\nHi " + "far " * 100)}
    write(tmp_path, {"a.jsonl": lines(evil)})
    shown = on_a_terminal(["inspect", "a.jsonl"], tmp_path, columns=40)
    assert "\\x1b[31mred\\u202e" in shown
    assert not [piece for piece in ("\x1b[2J", "\x1b]0", "\x1b[31m", "\u202e") if piece in shown]
    assert max(map(len, shown.splitlines())) <= 60
    write(tmp_path / "talks", {"a.jsonl": lines(evil, {"messages": [{"role": "\x1b[2J", "content": 3}]})})
    shown = on_a_terminal(["new", "talks"], tmp_path, columns=40)
    assert "GF-01 at a.jsonl#" in shown
    assert not [piece for piece in ("\x1b[2J", "\x1b]0", "\x1b[31m", "\u202e") if piece in shown]
    assert max(map(len, shown.splitlines())) <= 60
