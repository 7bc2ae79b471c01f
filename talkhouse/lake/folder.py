"""The folder of a lake: a new snapshot is made beside the current one, and appears by one rename of the manifest."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from talkhouse.lake import snapshots
from talkhouse.lake.snapshots import Snapshots, name_of, number_of
from talkhouse.lake_format import documents, manifest
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.manifest import Manifest
from talkhouse.schema.errors import LakeDamaged, NotALake, UsageError
from talkhouse.system import ctrl_c
from talkhouse.system.atomic_output import Messages, output_errors, private_folder_at
from talkhouse.system.files import sync

_PRIVATE = f".{manifest.NAME}.part"
"""The private folder; with an ending, the file of its lock."""

_MESSAGES = Messages(
    "there is no room for the lake; the one that was there is unchanged",
    "make room, or name a folder on another disk",
    "the lake can't be written",
)


class State(NamedTuple):
    """What lies in the folder of a lake."""

    current: Manifest | None
    """The current snapshot; where the lake's manifest is missing, the newest one that can be read."""
    is_missing: bool
    """Whether there are snapshots of the lake, and no manifest that says which is the current one."""
    snapshots: Snapshots
    next: str
    """The name of the next snapshot, which nothing has."""


@dataclass(frozen=True)
class Workspace:
    """A private folder in the lake, which is deleted at the end."""

    lake: Path
    private: Path
    state: State
    at_end: ExitStack
    """Left after the private folder is deleted and the lock released."""
    left: set[str] = field(default_factory=set)
    """The names of old snapshots in which something else lies, and which therefore stay."""

    @property
    def snapshot(self) -> Inside:
        """The new snapshot while it is written; its name is the one that it will have."""
        return Inside(self.lake, f"{_PRIVATE}/{self.state.next}")


def private_path(lake: Path) -> Path:
    """Return the path of the private folder, which is in the lake whatever its manifest is."""
    return Path(os.path.realpath(lake)) / _PRIVATE  # which does not fail where a link leads to itself


def check(lake: Path) -> State:
    """See what is in the folder of a lake that is to be written.

    Raises UsageError or NotALake where the folder can't be one, and what ``manifest.read`` raises.
    """
    with reported(lake):
        if lake.exists() and not lake.is_dir():
            raise UsageError("a lake is a folder, and this is a file", where=lake, next_step="name a folder")
        if not lake.exists() and not lake.absolute().parent.is_dir():
            raise UsageError("there is no such folder", where=lake.absolute().parent, next_step="make it")
        if not lake.exists():
            return State(None, False, Snapshots.none(), name_of(1))
        current = manifest.find(lake)
        snapshots_there = snapshots.find(lake, current)
        if current is None and not snapshots_there.own:
            _check_empty(lake)
        return _state(lake, current, snapshots_there)


def _check_empty(lake: Path) -> None:
    """Raise NotALake for a folder in which something lies that no run has left that was killed."""
    if others := [name for name in Inside(lake).names() if not name.startswith(_PRIVATE)]:
        raise NotALake(
            "the folder holds something else than a lake",
            where=lake,
            expected=f"a folder with a {manifest.NAME}, an empty one, or a new one",
            found=", ".join(others[:3]) + (", ..." if len(others) > 3 else ""),
            next_step="name another folder, or empty this one yourself",
        )


def _state(lake: Path, current: Manifest | None, snapshots_there: Snapshots) -> State:
    """Choose the snapshot whose files can be kept, and a name for the next one."""
    is_missing = current is None and bool(snapshots_there.own)
    if is_missing:
        manifests = (manifest.read_of(Inside(lake, name_of(number))) for number in reversed(snapshots_there.own))
        current = next((readable for readable in manifests if readable), None)
    if current is not None:
        manifest.check_revision(current, lake)
    number = max((*snapshots_there.own, number_of(current) if current else 0)) + 1
    while Inside(lake).exists(name_of(number)):
        number += 1
    if number > snapshots.LAST:
        raise LakeDamaged(
            "there is no number left for another snapshot",
            where=lake,
            found=name_of(number - 1),
            next_step="write a lake in another folder",
        )
    return State(current, is_missing, snapshots_there, name_of(number))


@contextmanager
def acquire(lake: Path) -> Iterator[Workspace]:
    """Hold the lock of a lake and yield a private folder in it; what a killed run left is cleared first.

    Raises UsageError where another process writes it, OutputFailed where there is no room, and what ``check`` raises.
    """
    with ExitStack() as at_end, reported(lake):
        check(lake)
        is_new = not lake.exists()
        try:
            lake.mkdir(exist_ok=True)
            private = private_path(lake)
            with private_folder_at(private, lake), reported(lake):
                state = check(lake)  # again: another process may have written it
                workspace = Workspace(lake, private, state, at_end)
                _remove_older(workspace, _before(state))
                yield workspace
        finally:
            if is_new:
                with suppress(OSError):  # it is not empty where the lake is in it
                    lake.rmdir()


def start(workspace: Workspace) -> None:
    """Begin the new snapshot, with its marker."""
    snapshots.mark(workspace.snapshot, workspace.state.snapshots.lake_id)


def publish(workspace: Workspace, new: Manifest, check_complete: Callable[[], None]) -> None:
    """Put the new snapshot in its place and rename the manifest, which readers see at once and whole.

    The snapshot that was current stays for those who still read it; older ones go.
    """
    lake, private, snapshot = Inside(workspace.lake), Inside(workspace.lake, _PRIVATE), workspace.snapshot
    for folder in (snapshot, private):
        documents.write({manifest.NAME: manifest.encode(new)}, folder)
    private.sync()
    check_complete()
    # From here on Ctrl-C comes too late: it would be said that the lake is unchanged.
    workspace.at_end.enter_context(ctrl_c.ignored())
    private.move(snapshot.name, lake, snapshot.name)
    try:
        sync(workspace.lake)
        private.move(manifest.NAME, lake, manifest.NAME)
    except BaseException:
        lake.move(snapshot.name, private, snapshot.name)
        raise
    sync(workspace.lake)
    state = workspace.state
    if state.current is not None and not state.is_missing:
        _remove_older(workspace, number_of(state.current))


def _before(state: State) -> int:
    """Return the number of the snapshot before the current one; 0 where nothing tells which is the current one."""
    if state.current is None or state.is_missing:
        return 0
    return max((number for number in state.snapshots.own if number < number_of(state.current)), default=0)


def _remove_older(workspace: Workspace, number: int) -> None:
    """Remove the lake's own snapshots with lower numbers than this."""
    for own in workspace.state.snapshots.own:
        if own < number and snapshots.remove(Inside(workspace.lake, name_of(own))):
            workspace.left.add(name_of(own))


@contextmanager
def reported(lake: Path) -> Iterator[None]:
    """Turn an OSError into why the lake can't be written."""
    with output_errors(lake, _MESSAGES):
        yield
