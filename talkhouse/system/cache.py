"""Files in the user's cache folder: what takes long to make, and is made again where it is missing or can't be read.

Each is kept under a key, which hashes all that decides what is in it. Nothing there is trusted that somebody else can
have put there. A cache never fails: where the folder can't be used, nothing is found in it and nothing is kept.
What a first build needs comes with the installed code, under the same names, and is read until another one is kept,
which may have more.
"""

import os
import shutil
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from talkhouse.system.files import sync

SHIPPED = Path(__file__).parent.parent / "shipped"
"""What ``hatch_build.py`` has made: anyone who can write there can write the code. It is only read."""


@dataclass(frozen=True)
class Cache:
    """The newest files of one kind in the user's cache folder, and those that came with the code."""

    kind: str
    """Begins the names of the files, such as ``template``."""
    ending: str
    """Ends them, such as ``.duckdb``."""
    most: int
    """Files that are kept."""

    def copy_to(self, path: Path, key: str) -> None:
        """Copy the file of a key to a path, where it is kept; the copy may be broken."""
        with suppress(OSError):
            if (cached := self._found(key)) is not None:
                shutil.copyfile(cached, path)

    def read(self, key: str) -> bytes | None:
        """Read the file of a key, or return None if it is not cached."""
        with suppress(OSError):
            if (cached := self._found(key)) is not None:
                return cached.read_bytes()
        return None

    def keep_copy(self, path: Path, key: str) -> None:
        """Keep a copy of a file under a key."""
        self._keep(key, lambda part: shutil.copyfile(path, part))

    def keep(self, content: bytes, key: str) -> None:
        """Keep bytes under a key."""
        self._keep(key, lambda part: part.write_bytes(content))

    def path_of(self, key: str) -> Path | None:
        """Return the path of a key's file, or None if the folder can't be used."""
        with suppress(OSError):
            return self._path(key)
        return None

    def mark_used(self, cached: Path) -> None:
        """Count a file among the newest; when it was changed stays, as by that others know what is in it."""
        with suppress(OSError):
            os.utime(cached, ns=(time.time_ns(), cached.stat().st_mtime_ns))

    def forget_oldest(self, cached: Path) -> None:
        """Remove the files that were made or used first; not this one, even if the clock was set back."""
        with suppress(OSError):
            others = set(cached.parent.glob(f"{self.kind}-*")) - {cached}
            by_age = sorted(others, key=_used_at)
            for oldest in by_age[: 1 - self.most]:
                oldest.unlink(missing_ok=True)

    def _found(self, key: str) -> Path | None:
        cached = self._path(key)
        return cached if cached is not None and cached.exists() else SHIPPED / self._name(key)

    def _path(self, key: str) -> Path | None:
        """Return the path of a key's file, or None if the folder can't be used."""
        folder = cache_folder()
        return folder / self._name(key) if _is_private(folder) else None

    def _name(self, key: str) -> str:
        return f"{self.kind}-{key}{self.ending}"

    def _keep(self, key: str, write: Callable[[Path], object]) -> None:
        """Write a file next to its place and rename it, and remove the oldest ones."""
        with suppress(OSError):
            if (cached := self._path(key)) is None:
                return
            part = cached.with_name(f"{cached.name}.{os.getpid()}")
            try:
                write(part)
                sync(part)
                part.replace(cached)
            finally:
                part.unlink(missing_ok=True)
            self.forget_oldest(cached)


def _used_at(path: Path) -> float:
    facts = path.stat()
    return max(facts.st_atime, facts.st_mtime)


def cache_folder() -> Path:
    """Return the user's cache folder, which need not be there."""
    from platformdirs import user_cache_path  # not for each command that opens a warehouse

    return user_cache_path("talkhouse")


def is_kept(path: Path) -> bool:
    """Whether a file lies in the user's cache folder, and so may be gone tomorrow."""
    return path.absolute().parent == cache_folder().absolute()


def key_of(*parts: str | bytes) -> str:
    """Hash what decides the content of a file: 32 hex digits."""
    encoded = [part.encode() if isinstance(part, str) else part for part in parts]
    return sha256(b"".join(b"%d:%b" % (len(part), part) for part in encoded)).hexdigest()[:32]


@cache
def code_of(*packages: ModuleType) -> bytes:
    """Hash what packages run and read, files of Python, SQL and TOML; once in a process."""
    folders = [Path(package.__path__[0]) for package in packages]
    files = [file for folder in folders for file in sorted(folder.rglob("*"))]
    sources = [file for file in files if file.suffix in {".py", ".sql", ".toml"}]
    return sha256(b"".join(source.read_bytes() for source in sources)).digest()


def _is_private(folder: Path) -> bool:
    """Make the cache folder where it is missing; return whether no other user can have put a file there.

    It may be another user's, as under sudo. One in which others may write is closed and emptied.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
        return False
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        folder.chmod(0o700)
        for path in folder.iterdir():
            if path.is_symlink() or not path.is_dir():
                path.unlink()
    return True
