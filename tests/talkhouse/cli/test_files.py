"""What ``talkhouse files`` says of all that lies next to a warehouse, also of what is not Talkhouse's."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.search.search_index import INDEX, make_index
from talkhouse.system.atomic_output import private_folder_path
from tests.commands import on_a_terminal, run
from tests.root_rights import drop
from tests.samples import RELEASES
from tests.talkhouse.cli.test_terminal_safety import OURS, UNSAFE
from tests.talkhouse.scores.test_saved_runs import SCORE


@pytest.fixture
def warehouse(sample: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))


def listed(warehouse: Path, *options: str) -> dict[str, dict[str, Any]]:
    done = run("files", "--json", *options, cwd=warehouse.parent, env={"TALKHOUSE_DB": str(warehouse)})
    assert done.returncode == 0, done.stderr
    return {file["kind"]: file for file in json.loads(done.stdout)}


def states(warehouse: Path) -> dict[str, str]:
    return {kind: file["state"] for kind, file in listed(warehouse).items() if kind != "cache"}


def test_what_fits_what_is_stale_and_what_is_foreign_is_told_apart(warehouse: Path) -> None:
    folder = warehouse.parent
    index = make_index(warehouse, lambda _: None)
    assert run("notes", "--add", f"{RELEASES}:CIC9001", "--label", "odd", "--db", warehouse).returncode == 0
    (folder / "scores.duckdb").write_text("my own scores")
    (folder / "releases").mkdir()
    (folder / ".w.duckdb.lock").touch()
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    found = listed(warehouse)
    assert {(file["kind"], file["state"], file["advice"]) for file in found.values() if file["kind"] != "cache"} == {
        ("warehouse", "fits", "back up, or build again"),
        ("ranked search", "fits", "may be deleted"),
        ("notes", "fits", "back up"),
        ("saved runs", "not Talkhouse's", "leave it"),
        ("releases", "not Talkhouse's", "leave it"),
        ("build lock", "in use or left over", "leave it"),
    }
    assert (found["ranked search"]["path"], found["ranked search"]["bytes"]) == (str(index), index.stat().st_size)
    assert "not a valid DuckDB database file" in found["saved runs"]["why"]
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    with duckdb.connect(warehouse) as con:
        con.execute("update main.corpora set reader_version = reader_version + 1")
    stale = listed(warehouse)["ranked search"]
    assert (stale["state"], stale["advice"]) == ("another build", "may be deleted")
    assert INDEX.made_by in stale["why"]
    warehouse.unlink()
    assert states(warehouse)["ranked search"] == states(warehouse)["warehouse"] == "no warehouse"


@pytest.mark.slow
def test_what_each_command_makes_is_listed(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(warehouse.with_name("cache")))
    for command in (["overlap"], [*SCORE, "--save", "mine"], ["release", "create", "one"]):
        done = run(*command, "--db", warehouse)
        assert done.returncode == 0, done.stderr
    (warehouse.parent / "bookmarks.toml").write_text('[[bookmark]]\nname = "a"\npage = "read"\n')
    kinds = {"warehouse", "overlap", "saved runs", "bookmarks", "releases"}
    assert states(warehouse) == dict.fromkeys(kinds, "fits")
    release = listed(warehouse, "--db", "release:one")
    assert (release["warehouse"]["state"], release["warehouse"]["advice"]) == ("fits", "may be deleted")
    assert release["saved runs"]["path"] == str(warehouse.with_name("scores.duckdb"))
    assert release["cache"]["advice"] == "may be deleted"
    of_pages = Path(release["warehouse"]["path"]).with_name("notes.duckdb")
    of_pages.touch()
    assert listed(warehouse)["cache"]["advice"] == "back up"
    of_pages.unlink()
    next(warehouse.parent.glob("releases/releases/one/release.json")).write_text("{}")
    (warehouse.parent / "bookmarks.toml").write_text("[[bookmark]]\n")
    with duckdb.connect(warehouse) as con:
        con.execute("update meta.alembic_version set version_num = '9999'")
    changed = {"warehouse": "another Talkhouse", "overlap": "no warehouse", "releases": "damaged"}
    assert states(warehouse) == {**dict.fromkeys(kinds, "fits"), **changed, "bookmarks": "not Talkhouse's"}


@pytest.mark.slow
def test_nothing_foreign_stops_it_acts_on_a_terminal_or_has_it_wait(warehouse: Path) -> None:
    folder = warehouse.parent
    os.mkfifo(folder / "bookmarks.toml")
    os.mkfifo(folder / "scores.duckdb")
    (folder / "notes.duckdb").symlink_to(warehouse)
    (folder / "w.overlap.duckdb").mkdir()
    (folder / "w.vectors.duckdb").write_bytes(warehouse.read_bytes()[:100_000])
    (folder / "w.duckdb.wal.stale-\x1b[666m\udcff").touch()
    private_folder_path(folder / "w.search.duckdb").mkdir()
    os.utime(folder / "w.vectors.duckdb", (2**40, 2**40))
    found = states(warehouse)
    for kind in ("bookmarks", "saved runs", "notes", "overlap", "vectors"):
        assert found.pop(kind) == "not Talkhouse's", kind
    # What a killed command has left is removed as the warehouse is opened.
    assert found == {"warehouse": "fits", "stale log": "moved aside"}
    assert listed(warehouse)["stale log"]["path"].endswith("\x1b[666m\udcff")
    piped = run("files", "--db", warehouse)
    assert UNSAFE.findall((piped.stdout + piped.stderr).replace("\t", " ")) == []
    assert UNSAFE.findall(OURS.sub("", on_a_terminal(["files", "--db", str(warehouse)], folder))) == []


@pytest.mark.slow
@pytest.mark.usefixtures("unprivileged")
def test_a_file_that_may_not_be_read_is_not_called_foreign(warehouse: Path) -> None:
    notes = warehouse.with_name("notes.duckdb")
    notes.touch()
    notes.chmod(0)
    done = run("files", "--db", warehouse, before=drop)
    assert f"{notes}\tnotes\t0\t" in done.stdout
    assert "\tcan't be read\ttalkhouse notes --add\tleave it\n" in done.stdout
