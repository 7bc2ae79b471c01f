"""Which folders in a lake are the lake's own: no other is removed, renamed or replaced, whatever it is called."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.lake.folder import acquire, check
from talkhouse.lake.write_lake import LakeOutcome, LakeResult, write_lake
from talkhouse.lake_format import lake_manifest
from talkhouse.lake_format.lake_manifest import is_whole
from talkhouse.schema.errors import NotALake
from tests.commands import run
from tests.talkhouse.lake.test_hostile import tree

SLOW = pytest.mark.slow


@pytest.fixture
def write(small: Path, tmp_path: Path, lake: Path) -> Callable[[], LakeResult]:
    path = Path(shutil.copyfile(small, tmp_path / "changing.duckdb"))

    def again() -> LakeResult:
        with duckdb.connect(path) as con:
            con.execute("update main.corpora set terms = terms || '!' where corpus_id = 'delidata'")
        return write_lake(lake, [path], Silent())

    return again


def names(lake: Path) -> list[str]:
    return sorted(path.name for path in lake.iterdir())


def of_others(lake: Path) -> dict[str, object]:
    for name in ("snapshot-2", "snapshot-7", "snapshot-2024", "snapshot-03", "snapshots"):
        (lake / name / "main").mkdir(parents=True)
        (lake / name / "main" / "1.jpg").write_text("a photo")
    (lake / "snapshot-4").write_text("a file")
    (lake / "snapshot-5").mkdir()
    (lake / "snapshot-6").symlink_to(lake / "snapshot-1")
    # Of another lake.
    shutil.copytree(lake / "snapshot-1", lake / "snapshot-8")
    content = json.loads((lake / "snapshot-8" / "manifest.json").read_text().replace("snapshot-1/", "snapshot-8/"))
    (lake / "snapshot-8" / "manifest.json").write_text(json.dumps({**content, "snapshot": "snapshot-8"}))
    marker = {"format": 1, "lake": "0" * 32, "snapshot": "snapshot-8"}
    (lake / "snapshot-8" / "snapshot.json").write_text(json.dumps(marker))
    # A copy of one of the lake's.
    shutil.copytree(lake / "snapshot-1", lake / "snapshot-100")
    # With a marker that no lake has.
    shutil.copytree(lake / "snapshot-1", lake / "snapshot-9")
    (lake / "snapshot-9" / "snapshot.json").write_text("{}")
    (lake / "README").write_text("read me")
    return strange(lake)


OTHERS = [f"snapshot-{name}" for name in ("03", "100", "2", "2024", "4", "5", "6", "7", "8", "9")]


def strange(lake: Path) -> dict[str, object]:
    return {path: found for path, found in tree(lake).items() if path.split("/")[0] in (*OTHERS, "snapshots", "README")}


def test_what_is_named_like_a_snapshot_but_is_none_stays(lake: Path) -> None:
    before = of_others(lake)
    found = check(lake)
    assert (found.snapshots.own, found.next) == ((1,), "snapshot-3")
    assert sorted(found.snapshots.others) == OTHERS
    with acquire(lake) as workspace:
        assert workspace.state.next == "snapshot-3"
    assert strange(lake) == before


@SLOW
def test_a_lake_is_written_beside_what_others_keep_in_it(lake: Path, write: Callable[[], LakeResult]) -> None:
    before = of_others(lake)
    done = [write() for _ in range(4)]
    assert [result.snapshot for result in done] == ["snapshot-3", "snapshot-10", "snapshot-11", "snapshot-12"]
    assert [sorted(result.left) for result in done] == [OTHERS] * 4
    assert strange(lake) == before
    own = ["snapshot-11", "snapshot-12"]
    assert names(lake) == sorted([*OTHERS, *own, "README", "manifest.json", "snapshots"])


@SLOW
def test_the_command_names_what_stays(lake: Path, small: Path) -> None:
    (lake / "snapshot-\x1b[2J").mkdir()
    (lake / "manifest.json").unlink()
    for arguments in (["--dry-run"], []):
        done = run("lake", lake, "--db", small, *arguments)
        assert "manifest.json was missing; the snapshots that are there stay" in done.stdout
        assert "not of this lake, and left as it is: snapshot-\\x1b[2J" in done.stdout
    shown = json.loads(run("lake", lake, "--db", small, "--json").stdout)
    assert (shown["outcome"], shown["recovered"], shown["left"]) == ("unchanged", False, ["snapshot-\x1b[2J"])


@SLOW
def test_a_file_in_an_old_snapshot_stays_when_that_is_removed(lake: Path, write: Callable[[], LakeResult]) -> None:
    note = lake / "snapshot-1/main/turns/note.txt"
    note.write_text("mine")
    assert write().left == ()
    done = write()
    assert (done.snapshot, done.left) == ("snapshot-3", ("snapshot-1",))
    assert [path for path in tree(lake / "snapshot-1") if (lake / "snapshot-1" / path).is_file()] == [
        "main/turns/note.txt"
    ]
    assert write().left == ("snapshot-1",)
    assert note.read_text() == "mine"
    assert names(lake) == ["manifest.json", "snapshot-1", "snapshot-3", "snapshot-4"]


@SLOW
def test_nothing_is_removed_through_a_link(lake: Path, tmp_path: Path, write: Callable[[], LakeResult]) -> None:
    write()
    shutil.move(lake / "snapshot-1" / "main", tmp_path / "main")
    (lake / "snapshot-1" / "main").symlink_to(tmp_path / "main")
    before = tree(tmp_path / "main")
    assert write().left == ("snapshot-1",)
    assert tree(tmp_path / "main") == before


@SLOW
def test_a_lake_without_its_manifest_goes_on_after_its_newest_snapshot(
    lake: Path, write: Callable[[], LakeResult]
) -> None:
    write()
    write()
    (lake / "manifest.json").unlink()
    before = tree(lake)
    done = write()
    assert (done.outcome, done.snapshot, done.recovered) == (LakeOutcome.WRITTEN, "snapshot-4", True)
    assert not any(part.damaged for part in done.parts)
    assert [part.table for part in done.parts if part.is_new] == ["main.corpora"]
    after = tree(lake)
    assert before.items() <= after.items()
    assert not write().recovered
    assert names(lake) == ["manifest.json", "snapshot-4", "snapshot-5"]


@SLOW
def test_the_states_of_a_lake_that_is_copied_lose_nothing(
    lake: Path, small: Path, tmp_path: Path, write: Callable[[], LakeResult]
) -> None:
    """Copied as the documentation says, the snapshot first: a run in between adds a snapshot, or refuses the folder."""
    write()
    copy = tmp_path / "copy"
    copy.mkdir()
    files = sorted(path for path in (lake / "snapshot-2").rglob("*") if path.is_file())
    for number, path in enumerate(files):
        target = copy / path.relative_to(lake)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        if number not in (0, len(files) // 2, len(files) - 1):
            continue
        before = tree(copy)
        try:
            assert write_lake(copy, [small], Silent()).snapshot == "snapshot-3"
        except NotALake:
            assert tree(copy) == before
            continue
        assert before.items() <= tree(copy).items()
        assert all(is_whole(file, copy) for table in lake_manifest.read(copy).tables for file in table.files)
        shutil.rmtree(copy / "snapshot-3")
        (copy / "manifest.json").unlink()
    shutil.copyfile(lake / "manifest.json", copy / "manifest.json")
    assert lake_manifest.read(copy) == lake_manifest.read(lake)


@SLOW
def test_a_newer_snapshot_than_the_current_one_is_not_replaced(lake: Path, write: Callable[[], LakeResult]) -> None:
    """The manifest of a lake that is copied a second time comes last, too."""
    pointer = (lake / "manifest.json").read_bytes()
    write()
    (lake / "manifest.json").write_bytes(pointer)
    before = tree(lake / "snapshot-2")
    assert write().snapshot == "snapshot-3"
    assert tree(lake / "snapshot-2") == before
    assert names(lake) == ["manifest.json", "snapshot-1", "snapshot-2", "snapshot-3"]
    write()
    assert names(lake) == ["manifest.json", "snapshot-3", "snapshot-4"]


@SLOW
def test_a_lake_of_a_talkhouse_without_the_marker_goes_on(lake: Path, write: Callable[[], LakeResult]) -> None:
    write()
    for number in (1, 2):
        (lake / f"snapshot-{number}" / "snapshot.json").unlink()
    assert check(lake).snapshots.own == (1, 2)
    done = write()
    assert (done.snapshot, done.left) == ("snapshot-3", ())
    assert names(lake) == ["manifest.json", "snapshot-2", "snapshot-3"]
    assert write().snapshot == "snapshot-4"
    assert names(lake) == ["manifest.json", "snapshot-3", "snapshot-4"]


@SLOW
def test_a_removal_that_was_stopped_goes_on(lake: Path, tmp_path: Path, write: Callable[[], LakeResult]) -> None:
    """Stopped after any of its steps: the documents go last, and of them the marker."""
    first = Path(shutil.copytree(lake / "snapshot-1", tmp_path / "first"))
    write()
    write()
    for name in ("meta/rules", "main", "meta", "views.sql", "translation.json", "manifest.json"):
        path = first / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(first, lake / "snapshot-1")
        with acquire(lake) as workspace:
            assert workspace.left == set(), name
        assert names(lake) == ["manifest.json", "snapshot-2", "snapshot-3"], name
