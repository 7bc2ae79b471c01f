"""The folder of a lake: a new snapshot is made beside the current one, and appears by one rename of the manifest."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from schema.errors import NotALake, UsageError
from talkhouse import ctrl_c
from talkhouse.atomic_output import Messages, output_errors, private_folder, private_folder_path, sync
from talkhouse.lake import manifest
from talkhouse.lake.manifest import Manifest

_SNAPSHOT = re.compile(r"snapshot-([1-9]\d*)")
_MESSAGES = Messages(
    "there is no room for the lake; the one that was there is unchanged",
    "make room, or name a folder on another disk",
    "the lake can't be written",
)


@dataclass(frozen=True)
class Workspace:
    """A private folder in the lake, which is deleted at the end."""

    lake: Path
    private: Path
    current: Manifest | None
    at_end: ExitStack
    """Left after the private folder is deleted and the lock released."""

    @property
    def snapshot(self) -> Path:
        """The new snapshot while it is written; its name is the one that it will have."""
        return self.private / name_after(self.current)


def name_after(current: Manifest | None) -> str:
    """Return the name of the snapshot after the current one."""
    return f"snapshot-{_number(current.snapshot) + 1 if current else 1}"


def check(lake: Path) -> Manifest | None:
    """Read the manifest of a lake that is to be written, None for a new one.

    Raises UsageError or NotALake where the folder can't be one, and what ``manifest.read`` raises.
    """
    with output_errors(lake, _MESSAGES):
        if lake.exists() and not lake.is_dir():
            raise UsageError("a lake is a folder, and this is a file", where=lake, next_step="name a folder")
        if not lake.exists() and not lake.absolute().parent.is_dir():
            raise UsageError("there is no such folder", where=lake.absolute().parent, next_step="make it")
        current = manifest.find(lake)
        if current is not None:
            manifest.check_revision(current, lake)
        elif lake.exists() and (others := sorted(path.name for path in lake.iterdir() if not _is_ours(path))):
            raise NotALake(
                "the folder holds something else than a lake",
                where=lake,
                expected=f"a folder with a {manifest.NAME}, an empty one, or a new one",
                found=", ".join(others[:3]) + (", ..." if len(others) > 3 else ""),
                next_step="name another folder, or empty this one yourself",
            )
        return current


@contextmanager
def acquire(lake: Path) -> Iterator[Workspace]:
    """Hold the lock of a lake and yield a private folder in it; what a killed run left is cleared first.

    Raises UsageError where another process writes it, OutputFailed where there is no room, and what ``check`` raises.
    """
    pointer = lake / manifest.NAME
    with ExitStack() as at_end, output_errors(lake, _MESSAGES):
        check(lake)
        is_new = not lake.exists()
        try:
            lake.mkdir(exist_ok=True)
            with private_folder(pointer) as private, output_errors(lake, _MESSAGES):
                current = check(lake)  # again: another process may have written it
                _remove_others(lake, private, current)
                yield Workspace(lake, private, current, at_end)
        finally:
            if is_new:
                with suppress(OSError):  # it is not empty where the lake is in it
                    lake.rmdir()


def publish(workspace: Workspace, made: Manifest, check_complete: Callable[[], None]) -> None:
    """Put the new snapshot in its place and rename the manifest, which readers see at once and whole.

    The snapshot that was current stays for those who still read it; older ones go.
    """
    lake, private, snapshot = workspace.lake, workspace.private, workspace.snapshot
    (snapshot / manifest.NAME).write_bytes(manifest.encode(made))
    (private / manifest.NAME).write_bytes(manifest.encode(made))
    for path in [*snapshot.rglob("*"), snapshot, private / manifest.NAME]:
        sync(path)
    check_complete()
    # From here on Ctrl-C comes too late: it would be said that the lake is unchanged.
    workspace.at_end.enter_context(ctrl_c.ignored())
    snapshot.rename(lake / snapshot.name)
    try:
        sync(lake)
        (private / manifest.NAME).replace(lake / manifest.NAME)
    except BaseException:
        (lake / snapshot.name).rename(snapshot)
        raise
    sync(lake)
    _remove_others(lake, private, made)


def _remove_others(lake: Path, private: Path, current: Manifest | None) -> None:
    """Remove all snapshots but the current one and the one before: they go with the private folder."""
    number = _number(current.snapshot) if current else 0
    for path in list(lake.iterdir()):
        if _SNAPSHOT.fullmatch(path.name) and _number(path.name) not in (number, number - 1):
            path.rename(private / f"old-{path.name}")


def _is_ours(path: Path) -> bool:
    """Whether a folder without a manifest may have this: a run was killed before its first snapshot was published."""
    if _SNAPSHOT.fullmatch(path.name):
        return (path / manifest.NAME).is_file()
    return path.name.startswith(private_folder_path(path.with_name(manifest.NAME)).name)


def _number(snapshot: str) -> int:
    return int(snapshot.rpartition("-")[2])
