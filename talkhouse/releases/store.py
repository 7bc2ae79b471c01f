"""The store: a folder of releases and their objects, which may be a stranger's; no link in it is followed."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from talkhouse.lake_format.inside import Inside
from talkhouse.releases import manifest
from talkhouse.releases.manifest import ReleaseManifest
from talkhouse.schema.errors import ReleaseDamaged, UsageError, closest, error_text
from talkhouse.settings import database
from talkhouse.system.cache import is_kept
from talkhouse.system.files import locked_by_name

RELEASES, OBJECTS = "releases", "objects"
_PART = ".part-"
_LOCK = ".lock"
_OBJECT = re.compile(
    r"(main|meta)\.[a-z][a-z0-9_]*-[a-z][a-z0-9_]*-[0-9a-f]{32}\.parquet|frame-[0-9]{4}-[0-9a-f]{32}\.duckdb"
)


class Stored(NamedTuple):
    """A release in a store."""

    store: Path
    release: ReleaseManifest
    sha256: str
    """Of the manifest, which says all the rest."""

    @property
    def objects(self) -> Inside:
        """The folder of its files."""
        return Inside(self.store, OBJECTS)


class Problem(NamedTuple):
    """A defect of a release, and the file that has it."""

    file: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


def store_of(path: Path | None = None, db: Path | None = None) -> Path:
    """Return the store: ``path``, ``$TALKHOUSE_RELEASES``, or ``releases`` next to the warehouse.

    Beside a release that was opened there is none: then that of the warehouse of here.
    """
    named = path or os.environ.get("TALKHOUSE_RELEASES")
    beside = database(None if db is not None and is_kept(db) else db)
    return Path(named) if named else beside.absolute().parent / RELEASES


def names(store: Path) -> list[str]:
    """List the names of the releases, damaged ones too, sorted."""
    try:
        found = Inside(store, RELEASES).names()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UsageError("the store can't be read", where=store, **error_text(error, store)) from error
    return [name for name in found if manifest.NAME.fullmatch(name)]


def read(store: Path, name: str) -> Stored:
    """Read a release; UsageError where there is none, ReleaseDamaged where its manifest is not as it was written."""
    found = names(store)
    if name not in found:
        near = closest(name, found)
        raise UsageError(
            f"no release '{name:.100}'",
            where=store,
            expected=f"one of: {', '.join(near)}" if near else "a store with releases",
            next_step="list them with: talkhouse release list   or name another store with --store DIR",
        )
    folder = Inside(store, f"{RELEASES}/{name}")
    try:
        content, checksum = (folder.document(file) for file in (manifest.MANIFEST, manifest.CHECKSUM))
        found_sha256, release = manifest.sha256(content), manifest.decode(content)
        if release.name != name:
            raise ValueError(f"it is of another release, {release.name}")
        wrong = ["other bytes"] if checksum != checksum_line(found_sha256).encode() else []
        if release.expected_id != release.content_id:
            wrong.append("not of this release's content_id")
        if wrong:
            raise ValueError("; ".join(wrong))
    except manifest.NewerFormat as error:
        raise ReleaseDamaged(
            f"the release '{name}' is of a newer Talkhouse than this",
            where=folder.lake / folder.path / manifest.MANIFEST,
            expected=f"format {manifest.SPLIT_FORMAT} or older",
            found=str(error),
            next_step="install a newer Talkhouse: pip install --upgrade talkhouse",
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise ReleaseDamaged(
            f"the release '{name}' is damaged, and was left as it is",
            where=folder.lake / folder.path / manifest.MANIFEST,
            expected="the manifest that Talkhouse wrote",
            found=str(error),
            next_step="take the store from a copy, or make another release",
        ) from error
    return Stored(store, release, found_sha256)


def checksum_line(sha256: str) -> str:
    """Write what ``sha256sum --check`` reads."""
    return f"{sha256}  {manifest.MANIFEST}\n"


def read_all(store: Path) -> tuple[list[Stored], list[ReleaseDamaged]]:
    """Read all releases, from the first to the newest, and what is wrong with those that can't be."""
    good, bad = [], []
    for name in names(store):
        try:
            good.append(read(store, name))
        except ReleaseDamaged as error:
            bad.append(error)
    return sorted(good, key=lambda item: (item.release.created_at, item.release.name)), bad


def problem_of(stored: Stored, file: str, size: int, sha256: str | None) -> Problem | None:
    """Compare a file with its manifest: its size, and its bytes unless their hash is None."""
    try:
        with stored.objects.reading(file) as stream:
            if os.fstat(stream.fileno()).st_size != size:
                return Problem(file, "other size")
            if sha256 is not None and hashlib.file_digest(stream, "sha256").hexdigest() != sha256:
                return Problem(file, "other bytes")
    except FileNotFoundError:
        return Problem(file, "missing")
    except OSError as error:
        return Problem(file, f"can't be read: {error.strerror or error}")
    return None


def problems_of_bytes(stored: Stored) -> list[Problem]:
    """Compare all files of a release with what its manifest says of their bytes."""
    found = (problem_of(stored, file.file, file.bytes, file.sha256) for file in stored.release.files)
    return [problem for problem in found if problem is not None]


def check_bytes(stored: Stored) -> None:
    """Raise ReleaseDamaged where a file of a release is missing, or has other bytes."""
    if problems := problems_of_bytes(stored):
        raise ReleaseDamaged(
            f"the release '{stored.release.name}' is damaged, and was not opened",
            where=stored.store / OBJECTS / problems[0].file,
            expected="files with the bytes that its manifest names",
            found="; ".join(map(str, problems[:3])) + (f"; {len(problems) - 3} more" if len(problems) > 3 else ""),
            next_step=f"see all of it with: talkhouse release verify {stored.release.name}",
        )


def objects_in(store: Path) -> dict[str, int]:
    """Return the objects that lie in a store, with their sizes; what is named otherwise is not the store's."""
    with suppress(FileNotFoundError, NotADirectoryError):
        folder = Inside(store, OBJECTS)
        found = {}
        for name in folder.names():
            with suppress(OSError):
                if _OBJECT.fullmatch(name):
                    with folder.reading(name) as stream:
                        found[name] = os.fstat(stream.fileno()).st_size
        return found
    return {}


@contextmanager
def held(store: Path, *, wait: bool = True, on_wait: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """Hold the lock of a store, and remove what killed processes have left in it.

    Another process that has it is waited for; ``on_wait`` is called with who that is. Without ``wait`` that raises
    WarehouseLocked.
    """
    taken = "another process writes to this store of releases"
    with locked_by_name(store / _LOCK, store, taken, wait=wait, on_wait=on_wait):
        for left in store.glob(f"{_PART}*"):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
        yield


def part_folder(store: Path) -> Path:
    """Return the path of this process's private folder in a store."""
    return store / f"{_PART}{os.getpid()}"
