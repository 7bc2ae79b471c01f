"""The folder of a lake: a new snapshot is written next to the current, and appears by one rename of the manifest."""

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, NamedTuple
from uuid import uuid4

import msgspec
from msgspec import Meta

from talkhouse.lake_format import documents, lake_manifest
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.lake_manifest import LakeManifest
from talkhouse.schema.errors import LakeDamaged, NotALake, UsageError
from talkhouse.system import ctrl_c
from talkhouse.system.atomic_output import OutputMessages, output_errors, private_folder_at
from talkhouse.system.files import sync

_PRIVATE = f".{lake_manifest.NAME}.part"
"""The private folder; with an ending, the file of its lock."""

_MESSAGES = OutputMessages(
    "there is no room for the lake; the one that was there is unchanged",
    "make room, or name a folder on another disk",
    "the lake can't be written",
)


class Snapshots(NamedTuple):
    """What is named like a snapshot in a lake."""

    lake_id: str
    own: tuple[int, ...]
    """The numbers of the lake's own, in order."""
    others: tuple[str, ...]
    """The names of what is not the lake's."""

    @classmethod
    def none(cls) -> "Snapshots":
        """Return those of a new lake."""
        return cls(uuid4().hex, (), ())


class LakeState(NamedTuple):
    """What lies in the folder of a lake."""

    current: LakeManifest | None
    """The current snapshot; where the lake's manifest is missing, the newest one that can be read."""
    is_missing: bool
    """Whether there are snapshots of the lake, and no manifest that says which is the current one."""
    snapshots: Snapshots
    next: str
    """The name of the next snapshot, which nothing has."""

    @property
    def has_delta_logs(self) -> bool:
        """Whether there are logs of Delta; the next snapshot has them, too."""
        return self.current is not None and self.current.delta


@dataclass(frozen=True)
class LakeWorkspace:
    """A private folder in the lake, which is deleted at the end."""

    lake: Path
    private: Path
    state: LakeState
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


def check(lake: Path) -> LakeState:
    """See what is in the folder of a lake that is to be written.

    Raises UsageError or NotALake where the folder can't be one, and what ``manifest.read`` raises.
    """
    with _reported(lake):
        if lake.exists() and not lake.is_dir():
            raise UsageError("a lake is a folder, and this is a file", where=lake, next_step="name a folder")
        if not lake.exists() and not lake.absolute().parent.is_dir():
            raise UsageError("there is no such folder", where=lake.absolute().parent, next_step="make it")
        if not lake.exists():
            return LakeState(None, False, Snapshots.none(), _name_of(1))
        current = lake_manifest.find(lake)
        snapshots_there = find_snapshots(lake, current)
        if current is None and not snapshots_there.own:
            _check_empty(lake)
        return _state(lake, current, snapshots_there)


def _check_empty(lake: Path) -> None:
    """Raise NotALake for a folder in which something lies that no run has left that was killed."""
    if others := [name for name in Inside(lake).names() if not name.startswith(_PRIVATE)]:
        raise NotALake(
            "the folder holds something else than a lake",
            where=lake,
            expected=f"a folder with a {lake_manifest.NAME}, an empty one, or a new one",
            found=", ".join(others[:3]) + (", ..." if len(others) > 3 else ""),
            next_step="name another folder, or empty this one yourself",
        )


def _state(lake: Path, current: LakeManifest | None, snapshots_there: Snapshots) -> LakeState:
    """Choose the snapshot whose files can be kept, and a name for the next one."""
    is_missing = current is None and bool(snapshots_there.own)
    if is_missing:
        manifests = (lake_manifest.read_of(Inside(lake, _name_of(number))) for number in reversed(snapshots_there.own))
        current = next((readable for readable in manifests if readable), None)
    if current is not None:
        lake_manifest.check_revision(current, lake)
    number = max((*snapshots_there.own, _number_of(current) if current else 0)) + 1
    while Inside(lake).exists(_name_of(number)):
        number += 1
    if number > HIGHEST_NUMBER:
        raise LakeDamaged(
            "there is no number left for another snapshot",
            where=lake,
            found=_name_of(number - 1),
            next_step="write a lake in another folder",
        )
    return LakeState(current, is_missing, snapshots_there, _name_of(number))


@contextmanager
def acquire(lake: Path) -> Iterator[LakeWorkspace]:
    """Hold the lock of a lake and yield a private folder in it; what a killed run left is cleared first.

    Raises UsageError where another process writes it, OutputFailed where there is no room, and what ``check`` raises.
    """
    with ExitStack() as at_end, _reported(lake):
        check(lake)
        is_new = not lake.exists()
        try:
            lake.mkdir(exist_ok=True)
            private = private_path(lake)
            with private_folder_at(private, lake), _reported(lake):
                state = check(lake)  # again: another process may have written it
                workspace = LakeWorkspace(lake, private, state, at_end)
                _remove_older(workspace, _before(state))
                yield workspace
        finally:
            if is_new:
                with suppress(OSError):  # it is not empty where the lake is in it
                    lake.rmdir()


def start(workspace: LakeWorkspace) -> None:
    """Begin the new snapshot by writing its marker, before anything else."""
    marker = _Marker(1, workspace.state.snapshots.lake_id, workspace.snapshot.name)
    documents.write({_MARKER: msgspec.json.encode(marker) + b"\n"}, workspace.snapshot)


def publish(workspace: LakeWorkspace, new: LakeManifest, check_complete: Callable[[], None]) -> None:
    """Move the new snapshot into place and rename the manifest, which readers see at once and whole.

    The snapshot that was current stays for those who still read it; older ones go.
    """
    lake, private, snapshot = Inside(workspace.lake), Inside(workspace.lake, _PRIVATE), workspace.snapshot
    for folder in (snapshot, private):
        documents.write({lake_manifest.NAME: lake_manifest.encode(new)}, folder)
    private.sync()
    check_complete()
    # From here on Ctrl-C comes too late: it would be said that the lake is unchanged.
    workspace.at_end.enter_context(ctrl_c.ignored())
    private.move(snapshot.name, lake, snapshot.name)
    try:
        sync(workspace.lake)
        private.move(lake_manifest.NAME, lake, lake_manifest.NAME)
    except BaseException:
        lake.move(snapshot.name, private, snapshot.name)
        raise
    sync(workspace.lake)
    state = workspace.state
    if state.current is not None and not state.is_missing:
        _remove_older(workspace, _number_of(state.current))


def _before(state: LakeState) -> int:
    """Return the number of the snapshot before the current one; 0 where nothing tells which is the current one."""
    if state.current is None or state.is_missing:
        return 0
    return max((number for number in state.snapshots.own if number < _number_of(state.current)), default=0)


def _remove_older(workspace: LakeWorkspace, number: int) -> None:
    for own in workspace.state.snapshots.own:
        if own < number and remove_snapshot(Inside(workspace.lake, _name_of(own))):
            workspace.left.add(_name_of(own))


@contextmanager
def _reported(lake: Path) -> Iterator[None]:
    """Turn an OSError into why the lake can't be written."""
    with output_errors(lake, _MESSAGES):
        yield


_MARKER = "snapshot.json"

HIGHEST_NUMBER = 10**15 - 1
"""The highest number of a snapshot."""

_NAME = re.compile(r"snapshot-([1-9][0-9]{0,14})")
_LIKE = "snapshot-"

_DOCUMENTS = (documents.SCRIPT, documents.TRANSLATION, lake_manifest.NAME, _MARKER)
"""What a snapshot has besides the tables; the marker goes last, so that what a killed run leaves is known as well."""


class _Marker(msgspec.Struct):
    format: Literal[1]
    lake: Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]
    snapshot: str


def find_snapshots(lake: Path, current: LakeManifest | None) -> Snapshots:
    """Return the snapshots of a lake, and what else is there by such a name; OSError where it can't be read."""
    names = [name for name in Inside(lake).names() if name.startswith(_LIKE)]
    numbers = sorted(int(match[1]) for name in names if (match := _NAME.fullmatch(name)))
    markers = {number: _marker(Inside(lake, _name_of(number))) for number in numbers}
    # Without a manifest the newest snapshot tells; a lake of a Talkhouse before the marker gets its id now.
    ids = [markers.get(_number_of(current))] if current else [markers[number] for number in reversed(numbers)]
    lake_id = next((marker.lake for marker in ids if isinstance(marker, _Marker)), uuid4().hex)
    own = tuple(number for number in numbers if _is_own(Inside(lake, _name_of(number)), markers[number], lake_id))
    return Snapshots(lake_id, own, tuple(name for name in names if name not in {_name_of(number) for number in own}))


def _name_of(number: int) -> str:
    return f"{_LIKE}{number}"


def _number_of(current: LakeManifest) -> int:
    return int(current.snapshot.removeprefix(_LIKE))


def _marker(snapshot: Inside) -> _Marker | bool:
    """Read a marker; False where there is none, True for one that is not Talkhouse's."""
    try:
        return msgspec.json.decode(snapshot.document(_MARKER), type=_Marker)
    except FileNotFoundError:
        return False
    except (OSError, ValueError, RecursionError):
        return True


def _is_own(snapshot: Inside, marker: _Marker | bool, lake_id: str) -> bool:
    if isinstance(marker, _Marker):
        return (marker.lake, marker.snapshot) == (lake_id, snapshot.name)
    return not marker and lake_manifest.read_of(snapshot) is not None


def remove_snapshot(snapshot: Inside) -> bool:
    """Remove what Talkhouse wrote to a snapshot, by the list in its manifest; tell whether anything is left.

    What else is there stays where it is. Without a manifest nothing is removed, unless only the marker is left.
    """
    written = lake_manifest.read_of(snapshot)
    if written is None and _names(snapshot) != [_MARKER]:
        return True
    named = [file.path for table in written.tables for file in table.files] if written else []
    if written and written.delta:
        named += [table.delta_log for table in written.tables]
    paths = [path.partition("/")[2] for path in named]
    try:
        for path in paths:
            _remove_file(snapshot, path)
        for folder in sorted({above for path in paths for above in _above(path)}, key=len, reverse=True):
            _remove_folder(snapshot, folder)
        for name in _DOCUMENTS:
            _remove_file(snapshot, name)
        _remove_folder(Inside(snapshot.lake), snapshot.path)
        return Inside(snapshot.lake).exists(snapshot.path)
    except OSError:  # it may not be removed: what is left is known by its documents, which go last
        return True


def _remove_file(snapshot: Inside, path: str) -> None:
    try:
        snapshot.remove(path)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):  # a link is somebody else's
            raise


def _remove_folder(snapshot: Inside, path: str) -> None:
    try:
        snapshot.remove_empty(path)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENOTEMPTY, errno.EEXIST):
            raise


def _names(snapshot: Inside) -> list[str]:
    try:
        return snapshot.names()
    except OSError:
        return []


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
