"""One builder at a time, in a private folder next to the published file."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from talkhouse import migrations
from talkhouse.schema import contents, warehouse
from talkhouse.schema.errors import UsageError
from talkhouse.system import ctrl_c
from talkhouse.system.atomic_output import output_errors
from talkhouse.system.cache import Cache
from talkhouse.system.files import link_or_copy, locked_by_name, new_folder, sync, target_of
from talkhouse.warehouse.byte_copy import WrittenFiles


@dataclass(frozen=True)
class Workspace:
    """A private folder next to the published file, which is deleted at the end."""

    published: Path
    folder: Path
    begun: datetime
    at_end: ExitStack
    """Left after the folder is deleted and the lock released."""

    @property
    def stage(self) -> Path:
        """The new warehouse while it is built; no corpus can have its name, which a schema would share."""
        return self.folder / "_stage.duckdb"

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
    def fresh(self) -> Path:
        """A warehouse of the files alone that are read, where others of their corpus are not."""
        return self.folder / "fresh.duckdb"

    @property
    def wal(self) -> Path:
        """Where DuckDB would look for a write-ahead log of the published file."""
        return self.published.with_name(self.published.name + ".wal")

    @property
    def stale_wal(self) -> Path:
        """Where such a log is moved: Talkhouse writes none, and next to a new file it makes that unreadable."""
        name = f"{self.wal.name}.stale-{self.begun:%Y%m%dT%H%M%S}"
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))  # a clock may be set back
        return next(path for path in map(self.wal.with_name, names) if not path.exists())

    def start_again(self) -> None:
        """Delete what was staged."""
        for path in (self.stage, self.stage.with_name(f"{self.stage.name}.wal"), self.fresh):
            path.unlink(missing_ok=True)


@contextmanager
def acquire_workspace(published: Path, *, wait: bool, on_wait: Callable[[str], None]) -> Iterator[Workspace]:
    """Hold the build lock of a warehouse and yield a clean private folder next to it.

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
    taken = "another build of this warehouse is running"

    def say(holder: str) -> None:
        on_wait(f"waiting for another build of this warehouse ({holder})")

    with ExitStack() as at_end, locked_by_name(lock_file, published, taken, wait=wait, on_wait=say), new_folder(folder):
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
        # It is held open meanwhile, so that no process writes to it while it is copied.
        shutil.copyfile(workspace.outdated, workspace.old)
    finally:
        guard.close()
    migrations.upgrade(workspace.old)


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


PUBLISHED = WrittenFiles(Cache("published", ".txt", most=256))
"""The files that builds have published, each with the key of its template."""


def publish(workspace: Workspace, template: str | None) -> None:
    """Publish the staged file by one rename; readers of the old one keep it.

    ``template``: that of the file, which is noted with its identity; None if not all of it is of this user's builds.

    Raises WarehouseLocked where somebody holds the published file open for writing.
    """
    with _no_writer(workspace):
        sync(workspace.stage)
        # Read permission is as on the file that it replaces, or by umask; there is no write permission.
        like = workspace.published if workspace.published.exists() else workspace.stage
        workspace.stage.chmod(like.stat().st_mode & 0o444 | 0o400)
        if workspace.wal.exists():
            workspace.wal.rename(workspace.stale_wal)
        # From here on Ctrl-C comes too late: it would be said that the published warehouse is unchanged.
        workspace.at_end.enter_context(ctrl_c.ignored())
        workspace.stage.replace(workspace.published)
        sync(workspace.published.parent)
        if template is not None:
            PUBLISHED.keep_note(workspace.published, template)


@contextmanager
def _no_writer(workspace: Workspace) -> Iterator[None]:
    """Keep the old file open read-only, so that no process can open it for writing until it is replaced."""
    if not workspace.old.exists():
        yield
        return
    link = workspace.outdated if workspace.outdated.exists() else workspace.old
    guard = warehouse.connect(link, shown=workspace.published)
    try:
        yield
    finally:
        guard.close()
