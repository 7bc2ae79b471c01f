"""The cache folder, second names and copies of files, locks, queries that are stopped, and memory."""

import os
import tempfile
import threading
from pathlib import Path

import duckdb
import pytest
from filelock import FileLock

from talkhouse.schema.errors import QueryFailed
from talkhouse.system import cache
from talkhouse.system.cache import Cache, key_of
from talkhouse.system.files import Taken, link_or_copy, locked
from talkhouse.system.interrupt import stoppable
from talkhouse.system.memory import has_run_out, in_little_memory, out_of_memory


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


# A second name for a file, or a copy of it; and locks.


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


# A query that is stopped by a time limit or a signal.


def test_a_connection_that_is_closed_while_it_is_stopped_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    faults: list[object] = []
    monkeypatch.setattr(threading, "excepthook", faults.append)
    con = duckdb.connect()
    con.close()
    with stoppable(con, 0) as stop:
        assert stop.timed_out.wait(10)
    assert faults == []


# What counts as too little memory, and what fits into little.


def test_too_little_memory_is_not_a_text_that_speaks_of_it() -> None:
    with duckdb.connect(config={"memory_limit": "20MB", "temp_directory": ""}) as con:
        with pytest.raises(duckdb.Error) as caught:
            con.execute("select count(distinct i::varchar) from range(3_000_000) as t(i)")
        assert has_run_out(caught.value)
        error = out_of_memory(QueryFailed, "the query", caught.value, next_step="read less")
        with pytest.raises(duckdb.Error) as caught:
            con.execute("select 'Out of Memory'::integer")
        assert not has_run_out(caught.value)
    assert error.what == "the query needs more memory than it may take"
    assert str(error.found).startswith("Out of Memory Error: ")
    assert "\n" not in str(error.found)
    assert has_run_out(MemoryError())


@pytest.mark.slow
def test_rows_are_sorted_in_little_memory_however_many_cores_there_are(tmp_path: Path) -> None:
    query = "select repeat(md5(i::varchar), 32) as text from range(300_000) as t(i) order by hash(i)"
    settings = "select current_setting('memory_limit'), current_setting('threads')"
    seen = []

    def sort() -> None:
        seen.append(con.execute(settings).fetchone())
        rows = con.cursor().execute(query)
        assert sum(len(batch) for batch in iter(lambda: rows.fetchmany(10_000), [])) == 300_000

    with duckdb.connect(config={"threads": 8, "temp_directory": str(tmp_path)}) as con:
        before = con.execute(settings).fetchone()
        in_little_memory(con, 250_000_000, sort)
        assert seen == [("238.4 MiB", 8), ("238.4 MiB", 1)]
        assert con.execute(settings).fetchone() == before
