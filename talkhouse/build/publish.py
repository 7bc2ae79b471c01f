"""Publishes a staged warehouse by one atomic rename."""

from collections.abc import Iterator
from contextlib import contextmanager

from talkhouse.build.workspace import Workspace
from talkhouse.schema import warehouse
from talkhouse.system import ctrl_c
from talkhouse.system.files import sync


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
