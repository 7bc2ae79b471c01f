"""What is kept in the user's cache folder, and what came with the code."""

import os
from pathlib import Path

import pytest

from talkhouse.system import cache
from talkhouse.system.cache import Cache, key_of


def test_what_is_kept_is_read_before_what_came_with_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "SHIPPED", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    views = Cache("views", ".bin", most=2)
    (tmp_path / "views-key.bin").write_bytes(b"our views")
    assert views.read("key") == b"our views"
    views.keep(b"our views and theirs", "key")
    assert views.read("key") == b"our views and theirs"
    assert views.read("another key") is None


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


def test_what_was_used_is_among_the_newest(files: Cache, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "talkhouse"
    for number in range(2):
        files.keep(b"text", str(number))
        os.utime(folder / f"toy-{number}.txt", (number, number))
    files.mark_used(folder / "toy-0.txt")
    files.keep(b"text", "2")
    assert sorted(path.name for path in folder.iterdir()) == ["toy-0.txt", "toy-2.txt"]
    assert (folder / "toy-0.txt").stat().st_mtime == 0


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
