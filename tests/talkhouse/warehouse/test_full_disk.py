"""Files next to a warehouse on a full disk: the error says so, and names the file that has no room."""

import os
import resource
import shutil
from pathlib import Path

import pytest

from tests.commands import run
from tests.limits import Limit, small_disk

COMMANDS = {
    "notes.duckdb": "notes --take notes.csv",
    "scores.duckdb": "score dbdc3.breakdown_detection --split dev --release dbdc3 --baseline majority --save mine",
    "w.overlap.duckdb": "overlap",
    "w.search.duckdb": "search --rank lighthouse",
}


def assert_told(folder: Path, file: str, **how: Limit) -> bool:
    """Run the command that writes a file; return whether it could."""
    (folder / "notes.csv").write_text("dialogue_id,label\ndbdc3:CIC9001,odd\n")
    env = {"TALKHOUSE_DB": "w.duckdb"}
    done = run(*COMMANDS[file].split(), cwd=folder, env=env, before=how.get("before", os.getpid))
    if done.returncode:
        assert f"{file}: there is no room" in done.stderr, done.stderr
        assert "next:     make room" in done.stderr, done.stderr
        assert "build it again" not in done.stderr, done.stderr
        assert {path.name for path in folder.iterdir()} <= {"w.duckdb", "notes.csv", "filler"}
    return done.returncode == 0


def test_no_file_may_grow(sample: Path, tmp_path: Path) -> None:
    shutil.copyfile(sample, tmp_path / "w.duckdb")
    for file in COMMANDS:
        assert not assert_told(tmp_path, file, before=Limit(resource.RLIMIT_FSIZE, 40_000))


@pytest.mark.slow
@pytest.mark.parametrize("file", COMMANDS)
def test_a_full_disk(sample: Path, file: str) -> None:
    with small_disk("size=64M") as disk:
        shutil.copyfile(sample, disk / "w.duckdb")
        ended = []
        for free in (1, 4, 16, 40, 80, 130, 200, 300, 400, 600, 4_000):
            left = os.statvfs(disk)
            (disk / "filler").write_bytes(bytes((left.f_bavail - free) * left.f_bsize))
            ended.append(assert_told(disk, file))
            (disk / "filler").unlink()
            (disk / file).unlink(missing_ok=True)
        assert (ended[0], ended[-1]) == (False, True)
