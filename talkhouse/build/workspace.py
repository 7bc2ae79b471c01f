"""One builder at a time, in a private folder beside the published file."""

import errno
import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

import migrations
from schema import warehouse
from schema.errors import BuildFailed, UsageError, WarehouseLocked


@dataclass(frozen=True)
class Workspace:
    """A private folder beside the published file; everything in it is thrown away at the end."""

    published: Path
    folder: Path
    begun: datetime

    @property
    def stage(self) -> Path:
        """The new warehouse while it is built; its name is no schema's."""
        return self.folder / "stage.duckdb"

    @property
    def old(self) -> Path:
        """The warehouse before this one: the published file under another name, or a migrated copy of it.

        The other name is out of reach of a stale WAL, and shares the published file's locks.
        """
        return self.folder / "old.duckdb"

    @property
    def outdated(self) -> Path:
        """That other name, where the published file is of an older schema and ``old`` is the copy."""
        return self.folder / "outdated.duckdb"

    @property
    def wal(self) -> Path:
        """Where DuckDB would look for a write-ahead log of the published file."""
        return self.published.with_name(self.published.name + ".wal")

    @property
    def stale_wal(self) -> Path:
        """Where such a log is kept: nothing of ours writes one, and beside a new file it makes that unreadable."""
        return self.wal.with_name(f"{self.wal.name}.stale-{self.begun:%Y%m%dT%H%M%S}")


@contextmanager
def acquire_workspace(published: Path, *, wait: bool, on_wait: Callable[[str], None]) -> Iterator[Workspace]:
    """Hold the build lock of a warehouse and give a clean private folder beside it.

    What a killed build left behind is cleared first. ``on_wait`` is told who holds the lock, once; without
    ``wait`` that is a WarehouseLocked.
    """
    published = published.resolve()
    if published.is_dir():
        raise UsageError(
            "the warehouse is a file, and this is a folder",
            where=published,
            next_step=f"name a file in it, for instance: --db '{published / 'talkhouse.duckdb'}'",
        )
    _check_folder(published.parent)
    lock = FileLock(published.with_name(f".{published.name}.lock"))
    folder = published.with_name(f".{published.name}.build")
    _acquire(lock, published, wait=wait, on_wait=on_wait)
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        found = Workspace(published, folder, datetime.now(UTC))
        if published.exists():
            _link(published, found.old)
        yield found
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        # Removed while it is held: a waiter that gets the lock of a removed file tries again.
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def migrate_old(workspace: Workspace) -> None:
    """Put a migrated copy in the place of the old file, if that is of an older schema; its inode is only read."""
    if not workspace.old.exists():
        return
    held = warehouse.connect(workspace.old, shown=workspace.published)
    try:
        if warehouse.revision(held, workspace.published) == migrations.head():
            return
        workspace.old.rename(workspace.outdated)
        # It is held open meanwhile, so that nobody writes to it while it is copied.
        shutil.copyfile(workspace.outdated, workspace.old)
    finally:
        held.close()
    migrations.upgrade(workspace.old)


def _acquire(lock: FileLock, published: Path, *, wait: bool, on_wait: Callable[[str], None]) -> None:
    holder = Path(lock.lock_file)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        who = _holder(holder)
        if not wait:
            raise WarehouseLocked(
                "another build of this warehouse is running",
                where=published,
                found=who,
                next_step="wait for it, or run the command without --no-wait to queue behind it",
            ) from error
        on_wait(who)
        lock.acquire()
    holder.write_text(
        json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": f"{datetime.now(UTC):%F %T} UTC"})
    )


def _holder(lock_file: Path) -> str:
    with suppress(OSError, ValueError):
        who = json.loads(lock_file.read_text())
        return f"process {who['pid']} on {who['host']}, since {who['since']}"
    return "a process that has just started"


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(
            "there is no such folder for the warehouse",
            where=folder,
            next_step=f"make it with: mkdir -p '{folder}'   or name another file with --db FILE",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(
            "permission denied: the warehouse is built beside its published file",
            where=folder,
            expected="a folder that you may write to",
            next_step="name a file in another folder with --db FILE",
        )


def _link(published: Path, old: Path) -> None:
    """Give the published file a second name; a copy where the file system has no hard links."""
    try:
        os.link(published, old)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
            raise BuildFailed("the published file can't be read", where=published, found=str(error)) from error
        shutil.copyfile(published, old)
