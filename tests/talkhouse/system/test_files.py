"""A second name for a file, or a copy of it; locks; and what is kept in the user's cache folder."""

import os
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

from talkhouse.system.cache import Cache, key_of
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


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Cache("toy", ".txt", most=2)


def test_what_is_kept_is_found_by_its_key(files: Cache, tmp_path: Path) -> None:
    assert files.read("a") is None
    files.keep(b"text", "a")
    assert (files.read("a"), files.read("b")) == (b"text", None)
    files.copy_to(tmp_path / "copy", "a")
    files.keep_copy(tmp_path / "copy", "b")
    assert files.read("b") == b"text"


def test_only_the_newest_are_kept(files: Cache, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "talkhouse"
    for number in range(4):
        files.keep(b"text", str(number))
        os.utime(folder / f"toy-{number}.txt", (number, number))
    assert sorted(path.name for path in folder.iterdir()) == ["toy-2.txt", "toy-3.txt"]


def test_what_others_can_have_put_there_is_not_taken(files: Cache, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "talkhouse"
    files.keep(b"text", "a")
    (folder / "folder").mkdir()
    folder.chmod(0o777)
    assert files.read("a") is None
    assert [path.name for path in folder.iterdir()] == ["folder"]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_where_nothing_can_be_kept_nothing_is_found(files: Cache, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "talkhouse").write_text("a file in the folder's place")
    files.keep(b"text", "a")
    assert files.read("a") is None


def test_a_key_depends_on_every_part_and_where_it_ends() -> None:
    assert key_of("ab", "c") == key_of("ab", b"c")
    assert len({key_of("ab", "c"), key_of("a", "bc"), key_of("abc"), key_of("c", "ab")}) == 4
