"""Files that a corpus declares: what is missing of them is told and counted, and what is another file is told."""

import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora
from talkhouse.load.run import BuildResult, build
from tests.commands import run

TALKS = """
from talkhouse.ingest.corpus import Corpus, Source
from talkhouse.ingest.outcomes import Loaded, SourceLocation
from talkhouse.ingest.rows import Dialogue, Turn

def read(files):
    for file in files:
        text = file.read().decode()
        location = SourceLocation(file, split="all")
        record = location.record(f"talks/{file.path}", f"talks:{file.path}")
        yield Loaded(location, [record, Dialogue(record.dialogue_id, "talks"),
            Turn(record.dialogue_id, 0, None, "user", "message", text)])

def write(records):
    for stored in records:
        yield stored.path, stored.turns[0].text.encode()

CORPUS = Corpus(id="talks", version=1, title="Talks", description="", homepage="", licence="none", citation="none",
    languages=("en",), files="text files", splits={"all": None}, read=read, write=write, sources=(
        *(Source(f"dev/{number:02}.txt", f"https://example.org/{number:02}.txt") for number in range(6)),
        Source("known.txt", "https://example.org/known.txt", "%(known)s"),
        Source("packed.zip", "https://example.org/packed.zip", holds=("train.txt", "test.txt")),
    ))
"""
DEV = {f"dev/{number:02}.txt": f"{number}" for number in range(6)}
PACKED = {"packed/train.txt": "train", "packed/test.txt": "test"}
ALL = {**DEV, **PACKED, "known.txt": "known"}

Built = Callable[[dict[str, str]], BuildResult]


@pytest.fixture
def built(tmp_path: Path) -> Built:
    (tmp_path / "roots" / "talks").mkdir(parents=True)
    (tmp_path / "roots" / "talks" / "__init__.py").write_text(TALKS % {"known": sha256(b"known").hexdigest()})

    def make(files: dict[str, str]) -> BuildResult:
        for name, text in files.items():
            path = tmp_path / "data" / "talks" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:  # what is written again is read again
                path.write_text(text)
        return build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data", corpus_roots=(tmp_path / "roots",))

    return make


def found(path: Path) -> list[tuple[str, ...]]:
    with talkhouse.open(path) as con:
        return con.execute("select rule, severity, source_file_id, detail from meta.findings order by all").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize(
    "files",
    [
        ALL,
        {f"around/{name}": text for name, text in ALL.items()},
        {**{name: text for name, text in ALL.items() if name != "known.txt"}, "renamed.txt": "known"},
        {"other.txt": "another form of the corpus"},
    ],
    ids=["as declared", "in a folder", "renamed", "none of them"],
)
def test_nothing_is_said_where_nothing_is_missing(built: Built, files: dict[str, str], tmp_path: Path) -> None:
    assert built(files).notes == []
    assert found(tmp_path / "w.duckdb") == []


def test_what_is_missing_is_counted_and_named(built: Built, tmp_path: Path) -> None:
    result = built({"dev/01.txt": "1", "packed/train.txt": "train", "known.txt": "known"})
    assert result.notes == [
        "talks: 6 of 8 files missing: dev/00.txt, dev/02.txt, dev/03.txt and 3 more, "
        "see talkhouse findings --corpus talks"
    ]
    missing = "dev/00.txt, dev/02.txt, dev/03.txt, dev/04.txt, dev/05.txt, packed.zip"
    assert found(tmp_path / "w.duckdb") == [("TH-08", "note", None, f"6 of 8 files missing: {missing}")]
    shown = run("findings", "--db", tmp_path / "w.duckdb").stdout
    assert "6 of 8 files missing" in shown
    assert "talkhouse fetch" in shown


@pytest.mark.slow
def test_another_file_under_the_name_is_told_with_both_checksums(built: Built, tmp_path: Path) -> None:
    result = built({**ALL, "known.txt": "changed"})
    assert result.notes == ["talks: 1 file is not the publisher's, by checksum: known.txt"]
    ((rule, severity, file, detail),) = found(tmp_path / "w.duckdb")
    assert (rule, severity, file) == ("TH-09", "warn", "talks/known.txt")
    assert sha256(b"changed").hexdigest() in detail
    assert sha256(b"known").hexdigest() in detail


@pytest.mark.slow
def test_files_in_an_archive_count_as_those_in_a_folder(built: Built, tmp_path: Path) -> None:
    (tmp_path / "data" / "talks").mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "data" / "talks" / "all.zip", "w") as archive:
        for name, text in ALL.items():
            archive.writestr(name, text)
    assert built({}).notes == []


@pytest.mark.slow
def test_what_is_kept_keeps_its_findings_and_the_whole_set_clears_them(built: Built, tmp_path: Path) -> None:
    built({"dev/01.txt": "1"})
    before = found(tmp_path / "w.duckdb")
    assert built({"dev/01.txt": "1"}).unchanged_since is not None
    assert found(tmp_path / "w.duckdb") == before != []
    built(ALL)
    assert found(tmp_path / "w.duckdb") == []


@pytest.mark.slow
def test_a_sample_is_not_compared(tmp_path: Path) -> None:
    assert build(tmp_path / "s.duckdb", Silent(), only=(min(corpora()),)).notes == []
