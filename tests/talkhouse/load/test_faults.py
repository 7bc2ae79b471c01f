"""Faults of disks, files and clocks: one clear error or a right result, nothing half, and the old warehouse stays."""

import os
import resource
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from random import Random

import duckdb
import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load import staging
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.schema.errors import NotAWarehouse, SourceError, TalkhouseError, WarehouseDamaged
from tests.commands import COMMAND, run
from tests.data_files import data_of
from tests.limits import Limit
from tests.phases import Trace, last
from tests.talkhouse.load.test_run import CORPUS, contents, fetch, some_file

OTHER = corpora()["delidata"]
ALL = QuarantineLimit("100%")
BUILD = ["build", "--data", "data", "--db", "w.duckdb"]
WRITING = (
    *("build --data data", f"ingest {OTHER.id} data/{OTHER.id}"),
    *(f"restore {CORPUS.id} --output out", "export turns --output turns.csv"),
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder of two corpora; of one a file has changed since the warehouse ``w.duckdb`` was built."""
    for corpus in (CORPUS, OTHER):
        shutil.copytree(sample_of(corpus), tmp_path / "data" / corpus.id)
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data")
    os.utime(some_file(tmp_path / "data"), (1, 1))
    return tmp_path / "data"


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """Check that the published file stays as it is, and that there is no file next to it."""
    before = (folder / "w.duckdb").read_bytes()
    yield
    assert (folder / "w.duckdb").read_bytes() == before
    assert list(folder.glob(".*")) == []


def assert_told(done: "subprocess.CompletedProcess[str]", *words: str) -> None:
    assert done.returncode == 1, done.stderr
    assert sum(line.startswith("error: ") for line in done.stderr.splitlines()) == 1, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert all(word in done.stderr for word in (*words, "next:")), done.stderr


# A full disk, and too few file handles.


@pytest.mark.usefixtures("data")
@pytest.mark.slow
def test_a_quota_for_each_file(tmp_path: Path) -> None:
    for size in (2_000, 7_000_000):
        with unchanged(tmp_path):
            done = run(*BUILD, cwd=tmp_path, before=Limit(resource.RLIMIT_FSIZE, size))
            assert_told(done, "the published warehouse is unchanged", "File too large", "make room")
    for arguments in (BUILD, ["verify", "--db", "w.duckdb"]):
        with unchanged(tmp_path):
            limit = Limit(resource.RLIMIT_FSIZE, 0)
            done = subprocess.run(
                [*COMMAND, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300, preexec_fn=limit
            )
            assert_told(done, "make room")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 40 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "none", str(folder)], capture_output=True).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.slow
def test_a_full_disk_in_every_phase(data: Path, small_disk: Path, tmp_path: Path) -> None:
    shutil.copyfile(tmp_path / "w.duckdb", small_disk / "w.duckdb")
    arguments = ["build", "--data", data, "--db", small_disk / "w.duckdb"]
    phases = []
    for free in (0, 2, 3, 300, 1_000, 1_700):
        stat = os.statvfs(small_disk)
        with (small_disk / "filler").open("wb") as stream:
            stream.write(bytes((stat.f_bavail - free) * stat.f_bsize))
        with unchanged(small_disk):
            assert_told(run(*arguments, before=Trace("build", tmp_path / "trace")), "unchanged", "make room")
        phases.append(last(tmp_path / "trace"))
        (small_disk / "filler").unlink()
    print(f"\nfull in: {phases}")
    assert {"template", "record"} <= set(phases)
    assert run(*arguments).returncode == 0


@pytest.mark.usefixtures("data")
@pytest.mark.slow
def test_64_open_files_are_enough(tmp_path: Path) -> None:
    for command in (*WRITING, f"verify --corpus {OTHER.id}"):
        done = run(*command.split(), "--db", "w.duckdb", cwd=tmp_path, before=Limit(resource.RLIMIT_NOFILE, 64))
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_too_many_archives_for_64_open_files(data: Path, tmp_path: Path) -> None:
    for number in range(80):
        with zipfile.ZipFile(data / CORPUS.id / f"{number}.zip", "w") as archive:
            archive.writestr("x.log.json", "{}")
    with unchanged(tmp_path):
        assert_told(run(*BUILD, cwd=tmp_path, before=Limit(resource.RLIMIT_NOFILE, 64)), "Too many open", "ulimit -n")


# Files that can't be read, or change meanwhile.


def test_a_read_error_at_the_beginning(data: Path, tmp_path: Path) -> None:
    (data / OTHER.id / "delidata_corpus" / "bad").symlink_to("/proc/self/mem")
    with unchanged(tmp_path):
        done = run("ingest", OTHER.id, data / OTHER.id, "--follow-links", "--db", "w.duckdb", cwd=tmp_path)
        assert_told(done, "/bad: the file can't be read", "Input/output error")


FAILING = data_of(__file__)["failing"]
"""A disk whose second half of one file can't be read."""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.slow
def test_a_read_error_in_the_middle(data: Path, tmp_path: Path) -> None:
    (tmp_path / "failing.c").write_text(FAILING)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "failing.so", "failing.c", "-ldl"], cwd=tmp_path, check=True)
    bad = some_file(data)
    env = {**os.environ, "LD_PRELOAD": str(tmp_path / "failing.so"), "BAD_INODE": str(bad.stat().st_ino)}
    with unchanged(tmp_path):
        done = subprocess.run([*COMMAND, *BUILD], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
        assert_told(done, f"{bad.name}: the file can't be read", "Input/output error")


class During(Silent):
    """Does something when the first record of a corpus has been read."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action: Callable[[], object] | None = action

    def advance(self, *_: int) -> None:
        """Do it."""
        if self.action:
            self.action()
        self.action = None


def shorter(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def longer(path: Path) -> None:
    with path.open("ab") as stream:
        stream.write(b"\n")


def other(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.write(b" ")


def replaced(path: Path) -> None:
    shutil.copyfile(path, path.with_suffix(".new"))
    path.with_suffix(".new").rename(path)


CHANGES = [(change, packed) for packed in (False, True) for change in (other, shorter, longer, replaced, Path.unlink)]
IN_LONG = [(change, True) for change in (shorter, longer, replaced)]
"""An archive is looked at again like any file, and the slow lane has every change."""


@pytest.mark.parametrize(
    ("change", "packed"),
    [pytest.param(*case, marks=pytest.mark.long if case in IN_LONG else pytest.mark.slow) for case in CHANGES],
)
def test_a_file_changes_while_it_is_read(
    data: Path, tmp_path: Path, change: Callable[[Path], None], packed: bool
) -> None:
    files = sorted(path for path in data.rglob("*.json"))
    path = files[-1]  # it has not been read yet; the first one has
    if packed:
        shutil.make_archive(str(path.parent), "zip", path.parent.parent, path.parent.name)
        path = path.parent.with_suffix(".zip")
    for file in (files[0], path):
        with unchanged(tmp_path), pytest.raises(SourceError, match="changed while it was read") as caught:
            build(tmp_path / "w.duckdb", During(lambda file=file: change(file)), data=data, limit=ALL)  # type: ignore[misc]
        assert caught.value.where == file
        assert caught.value.expected is not None
        assert caught.value.next_step
    if not (packed and change is shorter):  # which is a broken archive now
        assert build(tmp_path / "w.duckdb", Silent(), data=data, limit=ALL).unchanged_since is None


# A damaged published file.


def damaged(path: Path, at: int) -> None:
    path.chmod(0o644)
    with path.open("r+b") as stream:
        stream.seek(at)
        stream.write(Random(at).randbytes(64))  # noqa: S311 - the same bytes every time


@pytest.mark.parametrize(
    "some",
    [
        slice(1),
        pytest.param(slice(1, None, 8), marks=pytest.mark.slow),
        *(pytest.param(slice(share, None, 8), marks=pytest.mark.long) for share in (0, *range(2, 8))),
    ],
    ids=str,
)
def test_damage_is_told_and_no_damaged_row_is_kept(data: Path, tmp_path: Path, some: slice) -> None:
    """What the new warehouse takes from the old one is read with its checksums; the rest may be damaged."""
    path, good = tmp_path / "w.duckdb", tmp_path / "good.duckdb"
    shutil.copyfile(path, good)
    build(good, Silent(), data=data)
    right, size = contents(good), path.stat().st_size
    errors: list[TalkhouseError] = []
    published = path.read_bytes()
    for at in range(0, size, 262_144)[some]:
        path.unlink()
        path.write_bytes(published)
        damaged(path, at + 5_000 if at else 0)
        before = path.read_bytes()
        try:
            build(path, Silent(), data=data)
        except (WarehouseDamaged, NotAWarehouse) as error:
            errors.append(error)
        assert path.read_bytes() == before or contents(path) == right
        assert list(tmp_path.glob(".*")) == []
    assert errors
    assert all(error.where == path and error.next_step for error in errors)


@pytest.mark.usefixtures("data")
@pytest.mark.slow
def test_a_cut_off_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    path.chmod(0o644)
    for size in (path.stat().st_size - 300_000, 100_000, 10_000, 100, 0):
        os.truncate(path, size)
        for arguments in (BUILD, ["status", "--db", "w.duckdb"]):
            with unchanged(tmp_path):
                done = run(*arguments, cwd=tmp_path)
            assert done.returncode in (1, 2), (size, arguments, done.stderr)
            assert "w.duckdb: " in done.stderr
            assert "next:" in done.stderr


@pytest.mark.usefixtures("data")
@pytest.mark.slow
def test_every_command_tells_of_damage(tmp_path: Path) -> None:
    for at in range(12_288, (tmp_path / "w.duckdb").stat().st_size, 262_144):
        damaged(tmp_path / "w.duckdb", at + 5_000)
    reading = ("status", "check", "findings", "views", "search a", "sql 'from main.turns'", "verify", "replay")
    for command in (*reading, "export --for superset --output s.zip", *WRITING):
        with unchanged(tmp_path):
            done = run(*shlex.split(command), "--db", "w.duckdb", cwd=tmp_path)
        assert done.returncode == 1, (command, done.stderr)
        assert "orrupt" in done.stderr or "damaged" in done.stderr, (command, done.stderr)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "w.duckdb"]


# Folders, clocks, versions.


@pytest.mark.usefixtures("unprivileged")
def test_a_folder_that_is_read_only(data: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    message = r"(?i)permission denied[\s\S]*another (file|folder)"
    with unchanged(tmp_path), pytest.raises(TalkhouseError, match=message) as caught:
        build(tmp_path / "w.duckdb", Silent(), data=data)
    assert caught.value.where in (tmp_path, tmp_path / "w.duckdb")


@pytest.mark.usefixtures("data")
@pytest.mark.slow
def test_a_temporary_folder_that_is_missing(tmp_path: Path) -> None:
    done = run("verify", "--db", "w.duckdb", "--corpus", OTHER.id, cwd=tmp_path, env={"TMPDIR": "/no/such/folder"})
    assert done.returncode == 0, done.stderr


class Clock(datetime):
    """Each time some days earlier."""

    passed, step = 0, 1

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "Clock":  # type: ignore[override]
        """Go back."""
        cls.passed += cls.step
        return cls(2001, 1, 1, tzinfo=tz) - timedelta(days=cls.passed)


@pytest.mark.slow
def test_the_clock_is_set_back(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "datetime", Clock)
    monkeypatch.setattr("talkhouse.load.workspace.datetime", Clock)
    path = tmp_path / "w.duckdb"
    assert build(path, Silent(), data=data).unchanged_since is None
    assert build(path, Silent(), data=data).unchanged_since is not None
    loads = "select load_id, started_at < timestamp '2001-01-01', finished_at between started_at and started_at + {} "
    query = loads.format("interval 1 hour") + "from meta.loads order by load_id"
    assert fetch(path, query)[-1] == (2, True, True)
    some_file(data).touch()
    assert build(path, Silent(), data=data).plan.keep == (OTHER.id,)
    assert len(fetch(path, "from meta.loads")) == 3


@pytest.mark.slow
def test_two_stale_logs_of_one_instant_are_kept(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Clock, "step", 0)
    monkeypatch.setattr("talkhouse.load.workspace.datetime", Clock)
    for number in range(2):
        (tmp_path / "w.duckdb.wal").write_text(str(number))
        build(tmp_path / "w.duckdb", Silent(), data=data)
    found = sorted(tmp_path.glob("w.duckdb.wal.stale-*"))
    assert [path.read_text() for path in found] == ["0", "1"]


@pytest.mark.usefixtures("data")
@pytest.mark.slow
def test_a_newer_talkhouse_has_built_it(tmp_path: Path) -> None:
    (tmp_path / "w.duckdb").chmod(0o644)
    with duckdb.connect(tmp_path / "w.duckdb") as con:
        con.execute("update meta.alembic_version set version_num = '9999'")
    for command in (*WRITING, "replay", "status", "verify"):
        with unchanged(tmp_path):
            assert_told(
                run(*command.split(), "--db", "w.duckdb", cwd=tmp_path), "newer schema", "9999", "upgrade Talkhouse"
            )
