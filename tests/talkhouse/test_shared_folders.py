"""Another user of the machine, in the folders that all share: what they put there is not followed, read or trusted."""

import os
import shutil
import stat
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import duckdb
import pytest
from filelock import FileLock

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.load import base_copy
from talkhouse.load.run import build
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.errors import NotAWarehouse, TalkhouseError, UsageError, WarehouseLocked
from talkhouse.superset.bundle import database as superset_database
from talkhouse.system.atomic_output import atomic_file, atomic_folder
from talkhouse.system.files import target_of, temporary_folder

OTHER = 65534


def as_other(work: Callable[[], object]) -> None:
    pid = os.fork()
    if not pid:
        try:
            os.setgroups([])
            os.setgid(OTHER)
            os.setuid(OTHER)
            work()
        except BaseException:  # noqa: BLE001 - it must not go on as a second run of the tests
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    closed = [path for path in folder.parents if not path.stat().st_mode & stat.S_IXOTH]
    before = [path.stat().st_mode for path in closed]
    for path in closed:
        path.chmod(path.stat().st_mode | stat.S_IXOTH)
    yield folder
    for path, mode in zip(closed, before, strict=True):
        path.chmod(mode)


def test_nothing_is_written_where_another_users_link_leads(shared: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "kept.csv").write_text("mine")
    targets = {"kept": mine / "kept.csv", "new": mine / "new.csv", "deep": mine, "folder": mine / "folder"}
    as_other(lambda: [(shared / name).symlink_to(target) for name, target in targets.items()])
    for output in (shared / "kept", shared / "new", shared / "deep" / "x.csv"):
        with pytest.raises(UsageError, match="another user has put a link"), atomic_file(output) as path:
            path.write_text("theirs")
    with pytest.raises(UsageError, match="another user has put a link"), atomic_folder(shared / "folder"):
        pass
    with pytest.raises(UsageError, match="another user has put a link"):
        build(shared / "new", Silent())
    assert {path.name: path.read_text() for path in mine.iterdir()} == {"kept.csv": "mine"}


@pytest.mark.slow
def test_ones_own_links_are_followed(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (shared / "link").symlink_to("../mine")
    (shared / "again").symlink_to(shared / "link" / "x.csv")
    (shared / "round").symlink_to("round")
    with atomic_file(shared / "again") as path:
        path.write_text("mine")
    assert (tmp_path / "mine" / "x.csv").read_text() == "mine"
    assert (shared / "again").is_symlink()
    with pytest.raises(OSError, match="Too many levels"):
        target_of(shared / "round")
    monkeypatch.chdir(shared)
    for item in ("x", "link/x", "../shared/again", "link/../x", ".", "/", "none/../x"):
        assert target_of(Path(item)) == Path(item).resolve()
    foreign = tmp_path / "theirs"
    foreign.mkdir()
    os.chown(foreign, OTHER, OTHER)
    as_other(lambda: (foreign / "out").symlink_to(foreign / "there"))
    assert target_of(foreign / "out") == foreign / "there"  # a folder in which they alone may write


def write_file(folder: Path) -> None:
    with atomic_file(folder / "out") as path:
        path.write_text("theirs")


def write_folder(folder: Path) -> None:
    with atomic_folder(folder / "out") as path:
        (path / "kept").write_text("theirs")


def write_warehouse(folder: Path) -> None:
    build(folder / "out", Silent(), wait=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "name"),
    [
        (write_file, ".out.part"),
        (write_file, ".out.part.lock"),
        (write_folder, ".out.talkhouse.part"),
        (write_folder, ".out.talkhouse.part.lock"),
        (write_warehouse, ".out.build"),
        (write_warehouse, ".out.lock"),
    ],
)
def test_a_link_in_the_place_of_private_files_is_not_followed(
    shared: Path, tmp_path: Path, write: Callable[[Path], None], name: str
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "kept").write_text("mine")
    target = mine / "kept" if name.endswith("lock") else mine
    as_other(lambda: (shared / name).symlink_to(target))
    with pytest.raises(TalkhouseError):
        write(shared)
    assert [(path.name, path.read_text()) for path in mine.iterdir()] == [("kept", "mine")]
    assert not (shared / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"pid": 1}', b"[" * 999, b"\xff", b"x" * 100_000, None])
def test_whoever_holds_the_build_lock_can_write_anything_into_it(shared: Path, text: bytes | None) -> None:
    path = shared / ".w.duckdb.lock"

    def plant() -> None:
        os.mkfifo(path) if text is None else path.write_bytes(text)
        path.chmod(0o666)

    as_other(plant)
    with FileLock(path), pytest.raises(WarehouseLocked, match="a process that has just started"):
        build(shared / "w.duckdb", Silent(), wait=False)


@pytest.mark.slow
def test_the_temporary_folder_is_private_and_only_our_own_are_cleared(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    left, foreign, linked = (f"talkhouse-{letter * 32}" for letter in "abc")
    (tmp_path / "mine").mkdir()
    for name in (left, "talkhouse-notes"):
        (shared / name).mkdir()
        (shared / f"{name}.lock").touch()
    as_other(lambda: [(shared / foreign).mkdir(), (shared / f"{foreign}.lock").touch()])
    as_other(lambda: (shared / linked).symlink_to(tmp_path / "mine"))
    (shared / f"{linked}.lock").touch()
    with temporary_folder() as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.parent == shared
    assert (tmp_path / "mine").exists()
    names = {"talkhouse-notes", "talkhouse-notes.lock", foreign, f"{foreign}.lock", linked}
    assert {path.name for path in shared.iterdir()} == names


@pytest.mark.slow
def test_a_template_that_others_can_have_made_is_not_used(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared))
    cache = shared / "talkhouse"

    def opens(name: str) -> bool:
        """Whether the opened template is one that another user has changed."""
        with base_copy.open_template(shared / name, catalogue(), {}) as con:
            return ("planted",) in con.execute("select table_name from duckdb_tables()").fetchall()

    assert not opens("a")
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    (cached,) = cache.iterdir()
    with duckdb.connect(cached) as con:
        con.execute("create table planted (x int)")
    assert opens("b")
    cache.chmod(0o770)  # as umask 002 makes it: the group may have put it there
    assert not opens("c")
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    with duckdb.connect(cached) as con:
        con.execute("create table planted (x int)")
    os.chown(cache, OTHER, OTHER)  # as under sudo, where the home folder is still that of the other user
    before = cached.stat()
    assert not opens("d")
    assert cached.stat() == before


@pytest.mark.slow
def test_a_warehouse_can_be_read_by_whom_its_user_lets_read_it(shared: Path) -> None:
    mask = os.umask(0o077)
    try:
        build(shared / "w.duckdb", Silent(), only=("dbdc3",))
        assert stat.S_IMODE((shared / "w.duckdb").stat().st_mode) == 0o400
    finally:
        os.umask(mask)
    build(shared / "w.duckdb", Silent(), only=("mpchat",))
    assert stat.S_IMODE((shared / "w.duckdb").stat().st_mode) == 0o400
    (shared / "w.duckdb").chmod(0o440)
    build(shared / "w.duckdb", Silent(), only=("delidata",))
    assert stat.S_IMODE((shared / "w.duckdb").stat().st_mode) == 0o440


def test_a_log_of_another_user_is_not_read_as_a_part_of_a_warehouse(shared: Path, sample: Path) -> None:
    path = Path(shutil.copyfile(sample, shared / "w.duckdb"))
    log = shared / "w.duckdb.wal"
    as_other(lambda: log.write_bytes(b"forged") and None)
    with pytest.raises(NotAWarehouse, match="another user has put next to the warehouse"):
        talkhouse.open(path)
    log.unlink()
    talkhouse.open(path).close()


@pytest.mark.slow
def test_superset_writes_nothing_as_a_user_who_may_only_read(shared: Path, sample: Path) -> None:
    shared.chmod(0o755)
    path = Path(shutil.copyfile(sample, shared / "w.duckdb"))
    before = {path: path.read_bytes() for path in shared.iterdir()}
    connection = superset_database(PurePosixPath(path))["extra"]["engine_params"]["connect_args"]

    def write() -> None:
        with duckdb.connect(path, **connection) as con:
            for target in ("w.duckdb", "w.duckdb.wal", "w.duckdb.tmp/x", "w.duckdb.tmp"):
                copy = f"copy (select 1) to '{shared / target}' (format csv, use_tmp_file false)"
                for query in (copy, f"with x as ({copy}) from x"):
                    with pytest.raises(
                        duckdb.Error, match=r"Permission denied|No such file|disabled|belongs to an attached database"
                    ):
                        con.execute(query).fetchall()

    as_other(write)
    assert {path: path.read_bytes() for path in shared.iterdir()} == before
