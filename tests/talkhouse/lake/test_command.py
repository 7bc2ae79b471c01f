"""The command ``lake``: what it prints, what it refuses, and the SQL of a lake without a warehouse."""

import json
import shutil
from pathlib import Path

import pytest

from tests.commands import on_a_terminal, run
from tests.corpora.unusual import files_in
from tests.data_files import data_of
from tests.lanes import first_quick


def test_it_says_what_was_written_kept_and_left_out(small: Path, tmp_path: Path) -> None:
    planned = run("lake", "lake", "--db", small, "--dry-run", cwd=tmp_path)
    assert planned.stdout.startswith("Dry run: nothing was written to lake. snapshot-1 would have:\n  27 tables, ")
    assert not (tmp_path / "lake").exists()
    first = run("lake", "lake", "--db", small, cwd=tmp_path)
    assert first.stdout.startswith("Wrote lake/snapshot-1 in ")
    assert planned.stdout.splitlines()[1] == first.stdout.splitlines()[1]
    again = run("lake", "lake", "--db", small, cwd=tmp_path)
    assert again.stdout.startswith("Nothing changed: lake holds this already, in snapshot-1\n")
    assert "left out" not in again.stdout


@pytest.mark.slow
def test_it_says_what_is_new_and_what_is_gone(small: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert "Wrote" in on_a_terminal(["lake", lake, "--db", small], tmp_path)
    assert "Nothing changed" in on_a_terminal(["lake", lake, "--db", small], tmp_path)
    less = run("lake", lake, "--db", small, "--corpus", "mpchat")
    assert "of mpchat\n" in less.stdout
    assert "no longer there: delidata\n" in less.stdout
    shown = json.loads(run("lake", lake, "--db", small, "--json").stdout)
    assert (shown["outcome"], shown["snapshot"], shown["removed"]) == ("written", "snapshot-3", [])
    assert shown["left_out"] == []
    new = {(part["table"], part["corpus"]) for part in shown["parts"] if part["is_new"]}
    assert ("main.turns", "delidata") in new
    assert ("main.turns", "mpchat") not in new


@pytest.mark.slow
def test_the_sql_needs_no_warehouse(small_lake: Path, lake: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.move(lake, moved)
    whole = run("lake", "moved", "--sql", cwd=tmp_path).stdout
    assert f"LOCATION '{moved}/snapshot-1/main/turns'" in whole
    assert whole.replace(str(moved), str(small_lake)) == (moved / "snapshot-1" / "views.sql").read_text()
    shown = run("lake", "moved", "--sql", "bi.turns", cwd=tmp_path).stdout
    assert shown.startswith("CREATE OR REPLACE VIEW `bi`.`turns` (")
    assert shown.count("CREATE") == 1
    assert shown in whole
    table = run("lake", "moved", "--sql", "turns", "--location", "s3a://bucket/lake/", cwd=tmp_path).stdout
    assert "LOCATION 's3a://bucket/lake/snapshot-1/main/turns'" in table


@pytest.mark.slow
def test_an_older_lake_prints_its_own_sql(lake: Path, tmp_path: Path) -> None:
    pointer = lake / "manifest.json"
    before = run("lake", "lake", "--sql", cwd=tmp_path).stdout
    pointer.write_text(pointer.read_text().replace('"revision": "0', '"revision": "00'))
    assert run("lake", "lake", "--sql", cwd=tmp_path).stdout == before


WRONG = data_of(__file__)["wrong"]


@pytest.mark.parametrize(("arguments", "message"), first_quick(map(tuple, WRONG), 4))
def test_wrong_use_is_one_message(lake: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    before = files_in(lake)
    done = run("lake", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert files_in(lake) == before


def test_a_corpus_that_is_not_there_is_named(small: Path, tmp_path: Path) -> None:
    done = run("lake", "lake", "--db", small, "--corpus", "delidatas", cwd=tmp_path)
    assert done.returncode == 2
    assert "no corpus 'delidatas' to write\n  expected: one of: delidata" in done.stderr


def _forget_pyspark() -> None:
    import sys

    sys.modules["pyspark"] = None  # type: ignore[assignment]


@pytest.mark.slow
def test_a_lake_is_written_without_pyspark(small: Path, lake: Path, tmp_path: Path) -> None:
    assert run("lake", "new", "--db", small, cwd=tmp_path, before=_forget_pyspark).returncode == 0
    assert run("lake", lake, "--sql", before=_forget_pyspark).returncode == 0


def test_without_pyspark_the_check_says_what_to_install(lake: Path) -> None:
    checked = run("lake", lake, "--check", "--master", "local[2]", before=_forget_pyspark)
    assert (checked.returncode, checked.stderr) == (
        2,
        "error: this needs PySpark; type: pip install 'talkhouse[spark]'\n",
    )
