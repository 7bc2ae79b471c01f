"""``talkhouse report``: what it says, and one clear message for each mistake."""

import sys
from pathlib import Path

import pytest

from talkhouse.ingest.registry import corpora
from tests.commands import run


def test_it_says_what_it_wrote(sample: Path, reported: tuple[Path, str]) -> None:
    folder, said = reported
    assert said.startswith(f"Wrote a report on {len(corpora())} corpora, with ")
    assert said.endswith(" to r.html\n")
    assert [path.name for path in folder.iterdir()] == ["r.html"]
    again = run("report", "--output", "r.html", "--db", sample, cwd=folder)
    assert again.returncode == 2
    assert "the file exists already" in again.stderr


@pytest.mark.slow
def test_force_replaces_a_file(sample: Path, report: Path, tmp_path: Path) -> None:
    (tmp_path / "r.html").write_text("something else")
    assert run("report", "--output", "r.html", "--force", "--db", sample, cwd=tmp_path).returncode == 0
    assert (tmp_path / "r.html").read_bytes() == report.read_bytes()


@pytest.mark.parametrize(
    ("db", "problem"), [("missing.duckdb", "there is no warehouse here"), ("note.txt", "this is not a warehouse")]
)
def test_without_a_warehouse_it_says_so(tmp_path: Path, db: str, problem: str) -> None:
    (tmp_path / "note.txt").write_text("not a database")
    done = run("report", "--output", "r.html", "--db", db, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr
    assert not (tmp_path / "r.html").exists()


def without_altair() -> None:
    sys.modules["altair"] = None  # type: ignore[assignment]


def test_without_the_extra_it_says_what_to_type(sample: Path, tmp_path: Path) -> None:
    done = run("report", "--output", "r.html", "--db", sample, cwd=tmp_path, before=without_altair)
    assert (done.returncode, done.stdout) == (2, "")
    assert "altair is not installed" in done.stderr
    assert "pip install 'talkhouse[dashboard]'" in done.stderr
