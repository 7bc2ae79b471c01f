"""Files of one kind: all are kept, and the first in path order that is not rejected counts."""

from pathlib import Path

from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.input_files import InputFile, InputFiles
from talkhouse.ingest.outcomes import SourceLocation
from talkhouse.ingest.sources import opened


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
    _, (one,) = taken(tmp_path, ["a.json"])
    location = one.record_location(3, "/train/3", 17, split="train")
    assert (location.file, location.subset, location.split) == (one.file, "nrp", "train")
    assert (location.pointer, location.record_index, location.size) == ("/train/3", 3, 17)
    record = location.record(f"{one.prefix}/train/3", extra={"repeats": one.repeats})
    assert (record.record_id, record.corpus_id, record.extra) == ("toy/nrp/train/3", "toy", None)
