"""The snapshots in a lake's folder: which of them are its own, and how one is removed.

A snapshot is known by what is in it and never by its name alone: the first file that is written to it is a marker with
the lake's id and the snapshot's name. A Talkhouse before the marker wrote none: there, a snapshot is one whose manifest
is of its own name.
"""

import errno
import re
from pathlib import Path
from typing import Annotated, Literal, NamedTuple
from uuid import uuid4

import msgspec
from msgspec import Meta

from talkhouse.lake_format import documents, manifest
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.manifest import Manifest

MARKER = "snapshot.json"

LAST = 10**15 - 1
"""The highest number of a snapshot."""

_NAME = re.compile(r"snapshot-([1-9][0-9]{0,14})")
_LIKE = "snapshot-"
_DOCUMENTS = (documents.SCRIPT, documents.TRANSLATION, manifest.NAME, MARKER)
"""What a snapshot has beside the tables; the marker goes last, so that what a killed run leaves is known as well."""


class _Marker(msgspec.Struct):
    format: Literal[1]
    lake: Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]
    snapshot: str


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


def find(lake: Path, current: Manifest | None) -> Snapshots:
    """Tell the snapshots of a lake from what else is there by such a name; OSError where it can't be read."""
    names = [name for name in Inside(lake).names() if name.startswith(_LIKE)]
    numbers = sorted(int(match[1]) for name in names if (match := _NAME.fullmatch(name)))
    markers = {number: _marker(Inside(lake, name_of(number))) for number in numbers}
    # Without a manifest the newest snapshot tells; a lake of a Talkhouse before the marker gets its id now.
    ids = [markers.get(number_of(current))] if current else [markers[number] for number in reversed(numbers)]
    lake_id = next((marker.lake for marker in ids if isinstance(marker, _Marker)), uuid4().hex)
    own = tuple(number for number in numbers if _is_own(Inside(lake, name_of(number)), markers[number], lake_id))
    return Snapshots(lake_id, own, tuple(name for name in names if name not in {name_of(number) for number in own}))


def name_of(number: int) -> str:
    """Return the name of a snapshot."""
    return f"{_LIKE}{number}"


def number_of(current: Manifest) -> int:
    """Return the number of the snapshot that a manifest is about."""
    return int(current.snapshot.removeprefix(_LIKE))


def mark(snapshot: Inside, lake_id: str) -> None:
    """Write the marker of a new snapshot, before anything else."""
    documents.write({MARKER: msgspec.json.encode(_Marker(1, lake_id, snapshot.name)) + b"\n"}, snapshot)


def _marker(snapshot: Inside) -> _Marker | bool:
    """Read a marker; False where there is none, True for one that is not Talkhouse's."""
    try:
        return msgspec.json.decode(manifest.document(snapshot, MARKER), type=_Marker)
    except FileNotFoundError:
        return False
    except (OSError, ValueError, RecursionError):
        return True


def _is_own(snapshot: Inside, marker: _Marker | bool, lake_id: str) -> bool:
    if isinstance(marker, _Marker):
        return (marker.lake, marker.snapshot) == (lake_id, snapshot.name)
    return not marker and manifest.read_of(snapshot) is not None


def remove(snapshot: Inside) -> bool:
    """Remove what Talkhouse wrote to a snapshot, by the list in its manifest; tell whether anything is left.

    What else is there stays where it is. Without a manifest nothing is removed, unless only the marker is left.
    """
    written = manifest.read_of(snapshot)
    if written is None and _names(snapshot) != [MARKER]:
        return True
    paths = [file.path.partition("/")[2] for table in written.tables for file in table.files] if written else []
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
    """Return the folders in which a path lies."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
