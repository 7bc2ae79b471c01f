"""A second name for a file, or a copy of it; and locks."""

import os
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

from talkhouse.system.files import Taken, link_or_copy, locked


def test_a_second_name_is_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    link_or_copy(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").samefile(tmp_path / "a")
    with pytest.raises(FileExistsError):
        link_or_copy(tmp_path / "a", tmp_path / "b")


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no other file system")  # noqa: S108
def test_on_another_file_system_it_is_a_copy(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        if Path(folder).stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("it is the same one")
        link_or_copy(tmp_path / "a", Path(folder, "b"))
        assert Path(folder, "b").read_text() == "text"


def test_a_lock_is_gone_when_nobody_holds_it(tmp_path: Path) -> None:
    file = tmp_path / "a.lock"
    with locked(file):
        assert file.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_of_somebody_else_is_waited_for_as_long_as_is_said(tmp_path: Path) -> None:
    file, asked = tmp_path / "a.lock", []

    def on_taken() -> float:
        asked.append(file)
        return 0.01

    with FileLock(file):
        with pytest.raises(Taken), locked(file, on_taken):
            pytest.fail("nobody else can hold it")
        assert asked == [file]
        assert file.exists()
    with locked(file, on_taken):
        assert asked == [file]
