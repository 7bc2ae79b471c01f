"""How readers go through files: one dialogue per file, or several kinds, of which the first that is good counts."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from talkhouse.ingest.decode import BadRecord, text
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.input_files import DialogueKeys, InputFile, InputFiles, people_and_turns, read_each
from talkhouse.ingest.outcomes import Loaded, Outcome, Rejected, SourceLocation, Unrecognised
from talkhouse.ingest.rows import FileRow, Participant, Record, Speaker, Turn
from talkhouse.ingest.sources import SourceFile, opened
from talkhouse.ingest.stored_record import StoredRecord, whole_files


@pytest.fixture
def files(tmp_path: Path) -> Iterator[list[SourceFile]]:
    contents = {
        "a/1.txt": b"Ann hello",
        "a/2.txt": b"caf\xe9",
        "a/3.csv": b"a,b",
        "a/4.txt": b"ignore me",
        "a/5.txt": b"Ann hello",
        "b/1.txt": b"Ann hello",
        "b/5.txt": b"Ben hello",
    }
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    with opened(disk_files(tmp_path, "toy")) as (found, _):
        yield found


def outcomes(files: list[SourceFile]) -> list[Outcome]:
    keys = DialogueKeys("toy")

    def locate(file: SourceFile) -> SourceLocation | Unrecognised:
        if file.path.suffix != ".txt":
            return Unrecognised(file, "not .txt")
        return SourceLocation(file, split=file.path.parent.name, native_id=file.path.stem)

    def load(location: SourceLocation, raw: bytes) -> Outcome:
        name, _, reason = text(raw).partition(" ")
        if name == "ignore":
            return Unrecognised(location.file, "no dialogue")
        record, *_ = keys.record(location, location.native_id or "", [(name, reason)], standard_split="train")
        return Loaded(location, [record])

    return list(read_each(files, locate, load))


def test_a_records_index_counts_the_files_of_its_folder_that_are_the_corpuss(files: list[SourceFile]) -> None:
    found = outcomes(files)
    assert [type(row) for row in found] == [Loaded, Rejected, Unrecognised, Unrecognised, Loaded, Loaded, Loaded]
    locations = [row.location for row in found if isinstance(row, Loaded | Rejected)]
    assert [(location.split, location.record_index, location.native_id) for location in locations] == [
        ("a", 0, "1"),
        ("a", 1, "2"),
        ("a", 2, "5"),
        ("b", 0, "1"),
        ("b", 1, "5"),
    ]
    assert all(location.size == location.file.size for location in locations)


def test_a_file_that_is_malformed_is_rejected_whole(files: list[SourceFile]) -> None:
    (rejected,) = [outcome for outcome in outcomes(files) if isinstance(outcome, Rejected)]
    assert (rejected.rule, rejected.raw, rejected.location.pointer) == ("TH-02", b"caf\xe9", "")


def test_equal_words_under_one_key_are_one_dialogue_and_every_file_is_a_record(files: list[SourceFile]) -> None:
    records = [outcome.rows[0] for outcome in outcomes(files) if isinstance(outcome, Loaded)]
    assert all(isinstance(record, Record) for record in records)
    ids = [(record.record_id.partition("~")[0], record.dialogue_id) for record in records if isinstance(record, Record)]
    assert ids[:3] == [("toy/1", "toy:1"), ("toy/5", "toy:5"), ("toy/1", "toy:1")]
    assert ids[3][0] == "toy/5"
    assert str(ids[3][1]).startswith("toy:5~"), "other words"
    assert len({record.record_id for record in records if isinstance(record, Record)}) == 4


def test_people_and_turns_of_plain_utterances() -> None:
    rows = list(people_and_turns("toy:1", [("Ann", "hello"), ("Ben", "hi"), ("Ann", "")], role="guest"))
    assert [(row.speaker_id, row.name, row.kind) for row in rows if isinstance(row, Speaker)] == [
        ("toy:1/Ann", "Ann", "human"),
        ("toy:1/Ben", "Ben", "human"),
    ]
    assert [row.speaker_id for row in rows if isinstance(row, Participant)] == ["toy:1/Ann", "toy:1/Ben"]
    assert [(row.turn_index, row.speaker_id, row.text) for row in rows if isinstance(row, Turn)] == [
        (0, "toy:1/Ann", "hello"),
        (1, "toy:1/Ben", "hi"),
        (2, "toy:1/Ann", ""),
    ]


def test_files_of_one_record_come_back_as_the_corpus_writes_them_or_as_they_were() -> None:
    file = FileRow("toy/a", "toy", "toy/a", None, "read", "", 0, datetime(2026, 1, 1), 0, 0, 1, 1, 0, None)  # noqa: DTZ001 - as stored
    loaded = StoredRecord(file, Record("toy/a", "toy", None, "a", None, None, None, None, None, 0, "toy/a", ""))
    rejected = StoredRecord(file, raw=b"\xff")
    write = whole_files(lambda stored: (stored.loaded.native_id or "").encode())
    assert list(write([loaded, rejected, StoredRecord(file, raw=b"")])) == [("a", b"a"), ("a", b"\xff"), ("a", b"")]
    with pytest.raises(ValueError, match="not a loaded record"):
        rejected.loaded  # noqa: B018 - it is a property


def test_text_that_is_not_utf8_names_the_byte() -> None:
    with pytest.raises(BadRecord, match="TH-02: not UTF-8: byte 0xe9 at byte 3"):
        text(b"caf\xe9")


def taken(root: Path, names: list[str], kind: str = "nrp") -> tuple[InputFiles, list[InputFile]]:
    for name in names:
        (root / name).write_text("{}")
    with opened(disk_files(root, "toy")) as (files, _):
        inputs = InputFiles("toy")
        return inputs, [inputs.take(SourceLocation(file, subset=kind, size=2), kind) for file in files]


def test_the_first_file_of_a_kind_has_the_plain_prefix_and_counts(tmp_path: Path) -> None:
    _, (first, other) = taken(tmp_path, ["a.json", "b.json"])
    assert (first.prefix, first.repeats, first.findings("XX-01")) == ("toy/nrp", None, [])
    assert other.prefix.startswith("toy/nrp~")
    assert other.repeats == "toy/a.json"
    (finding,) = other.findings("XX-01", makes="the lists")
    assert (finding.rule, finding.file, finding.pointer) == ("XX-01", other.file, "")
    assert finding.detail == "a file of this kind came before, from toy/a.json: that one makes the lists"


def test_a_rejected_file_does_not_count(tmp_path: Path) -> None:
    inputs, (first, other) = taken(tmp_path, ["a.json", "b.json"])
    inputs.drop(other)
    assert inputs.take(first.location, "nrp").repeats is None
    inputs.drop(first)
    assert inputs.take(other.location, "nrp").repeats is None


def test_a_record_is_located_in_its_file(tmp_path: Path) -> None:
    _, (file,) = taken(tmp_path, ["a.json"])
    location = file.record_location(3, "/train/3", 17, split="train")
    assert (location.file, location.subset, location.split) == (file.file, "nrp", "train")
    assert (location.pointer, location.record_index, location.size) == ("/train/3", 3, 17)
    record = location.record(f"{file.prefix}/train/3", extra={"repeats": file.repeats})
    assert (record.record_id, record.corpus_id, record.extra) == ("toy/nrp/train/3", "toy", None)
