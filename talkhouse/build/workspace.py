"""One builder at a time, in a private folder beside the published file."""

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from talkhouse import migrations
from talkhouse.schema import contents, warehouse
from talkhouse.schema.errors import UsageError, WarehouseLocked
from talkhouse.system import ctrl_c
from talkhouse.system.atomic_output import output_errors
from talkhouse.system.files import FOR_EVER, link_or_copy, locked, sync
from talkhouse.system.folders import new_folder, target_of

_THIS = os.O_NOFOLLOW | os.O_NONBLOCK
"""Not what a link leads to, and without waiting where there is a named pipe: in a folder that others share."""

_LONGEST = 1_000
"""Characters that are read of who holds the lock."""


@dataclass(frozen=True)
class Workspace:
    """A private folder beside the published file, which is deleted at the end."""

    published: Path
    folder: Path
    begun: datetime
    at_end: ExitStack
    """Left after the folder is deleted and the lock released."""

    @property
    def stage(self) -> Path:
        """The new warehouse while it is built; its name is not a schema's."""
        return self.folder / "stage.duckdb"

    @property
    def old(self) -> Path:
        """The previous warehouse: the published file by another name, or a migrated copy of it.

        No stale WAL belongs to the other name, and it shares the published file's locks.
        """
        return self.folder / "old.duckdb"

    @property
    def outdated(self) -> Path:
        """That other name, where the published file has an older schema and ``old`` is the copy."""
        return self.folder / "outdated.duckdb"

    @property
    def wal(self) -> Path:
        """Where DuckDB would look for a write-ahead log of the published file."""
        return self.published.with_name(self.published.name + ".wal")

    @property
    def stale_wal(self) -> Path:
        """Where such a log is moved: Talkhouse writes none, and beside a new file it makes that unreadable."""
        name = f"{self.wal.name}.stale-{self.begun:%Y%m%dT%H%M%S}"
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))  # a clock may be set back
        return next(path for path in map(self.wal.with_name, names) if not path.exists())

    def start_again(self) -> None:
        """Delete what was staged."""
        for path in (self.stage, self.stage.with_name(f"{self.stage.name}.wal")):
            path.unlink(missing_ok=True)


@contextmanager
def acquire_workspace(published: Path, *, wait: bool, on_wait: Callable[[str], None]) -> Iterator[Workspace]:
    """Hold the build lock of a warehouse and yield a clean private folder beside it.

    What a killed build left behind is cleared first. ``on_wait`` is called once with who holds the lock; without
    ``wait`` that raises WarehouseLocked.
    """
    with output_errors(published):
        published = target_of(published)
    if published.is_dir():
        raise UsageError(
            "the warehouse is a file, and this is a folder",
            where=published,
            next_step=f"name a file in it, such as: --db '{published / 'talkhouse.duckdb'}'",
        )
    _check_folder(published.parent)
    lock_file = published.with_name(f".{published.name}.lock")
    folder = published.with_name(f".{published.name}.build")
    with ExitStack() as at_end, locked(lock_file, lambda: _wait_for(lock_file, published, wait=wait, on_wait=on_wait)):
        _write_holder(lock_file)
        with new_folder(folder):
            workspace = Workspace(published, folder, datetime.now(UTC), at_end)
            if published.exists():
                link_or_copy(published, workspace.old)
            yield workspace


def migrate_old(workspace: Workspace) -> None:
    """Replace the old file by a migrated copy where its schema is older; the published inode is only read."""
    if not workspace.old.exists():
        return
    guard = warehouse.connect(workspace.old, shown=workspace.published)
    try:
        if contents.revision(guard, workspace.published) == migrations.head():
            return
        contents.check_before_writing(guard, workspace.published)
        workspace.old.rename(workspace.outdated)
        # It is held open meanwhile, so that nobody writes to it while it is copied.
        shutil.copyfile(workspace.outdated, workspace.old)
    finally:
        guard.close()
    migrations.upgrade(workspace.old)


def _wait_for(lock_file: Path, published: Path, *, wait: bool, on_wait: Callable[[str], None]) -> float:
    """Print who holds the lock, and return for how many seconds to wait; WarehouseLocked where nobody wants to."""
    holder = _holder(lock_file)
    if not wait:
        raise WarehouseLocked(
            "another build of this warehouse is running",
            where=published,
            found=holder,
            next_step="wait for it, or run the command without --no-wait to queue behind it",
        )
    on_wait(f"waiting for another build of this warehouse ({holder})")
    return FOR_EVER


def _write_holder(lock_file: Path) -> None:
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": f"{datetime.now(UTC):%F %T} UTC"}
    with os.fdopen(os.open(lock_file, os.O_WRONLY | os.O_TRUNC | _THIS), "w") as stream:
        json.dump(holder, stream)


def _holder(lock_file: Path) -> str:
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):  # anybody may have written it
        with os.fdopen(os.open(lock_file, os.O_RDONLY | _THIS)) as stream:
            holder = json.loads(stream.read(_LONGEST))
        return f"process {holder['pid']} on {holder['host']}, since {holder['since']}"
    return "a process that has just started"


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(
            "there is no such folder for the warehouse",
            where=folder,
            next_step=f"make it with: mkdir -p '{folder}'   or name another file with --db FILE",
        )
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise UsageError(
            "permission denied: a build needs to write to the folder of the warehouse",
            where=folder,
            expected="a folder that you may write to",
            next_step="name a file in another folder with --db FILE",
        )


def publish(workspace: Workspace) -> None:
    """Publish the staged file by one rename; readers of the old one keep it.

    Raises WarehouseLocked where somebody holds the published file open for writing.
    """
    with _no_writer(workspace):
        sync(workspace.stage)
        # Who may read it is what the user has set, for the file that it replaces or by umask; nobody may write to it.
        like = workspace.published if workspace.published.exists() else workspace.stage
        workspace.stage.chmod(like.stat().st_mode & 0o444 | 0o400)
        if workspace.wal.exists():
            workspace.wal.rename(workspace.stale_wal)
        # From here on Ctrl-C comes too late: it would be said that the published warehouse is unchanged.
        workspace.at_end.enter_context(ctrl_c.ignored())
        workspace.stage.replace(workspace.published)
        sync(workspace.published.parent)


@contextmanager
def _no_writer(workspace: Workspace) -> Iterator[None]:
    """Keep the old file open read-only, so that nobody can open it for writing until it is replaced."""
    if not workspace.old.exists():
        yield
        return
    link = workspace.outdated if workspace.outdated.exists() else workspace.old
    guard = warehouse.connect(link, shown=workspace.published)
    try:
        yield
    finally:
        guard.close()
