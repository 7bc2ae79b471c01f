"""What is read of what a user names: links that stay in the folder, and sizes far above those that corpora have."""

import io
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path

from talkhouse.schema.errors import SourceError, UsageError

MB, GB = 1_000_000, 1_000_000_000

LIMIT_OPTION = "--input-limit"

DEPTH = 100
"""Levels of brackets in a record; one with more goes to the quarantine, and nothing is to raise. Corpora have 7."""


class BeyondLimit(SourceError):
    """There is more of something to read than its limit."""


@dataclass(frozen=True)
class Limits:
    """What a user may raise (``--input-limit NAME=VALUE``); each is several times the largest of any corpus."""

    record: int = 64 * MB
    """Bytes of one record. The largest is MPChat's file of image addresses, 17 MB; a dialogue or a block of a ranking
    has at most 2 MB."""
    file: int = 2 * GB
    """Bytes of a file that is held in memory, unpacked: all but the rankings of MANtIS. The largest has 0.5 GB."""
    archive: int = 64 * GB
    """Bytes of all files of an archive, unpacked. All rankings of MANtIS together have 24 GB."""
    ratio: int = 250
    """Unpacked bytes for each byte of an archive that unpacks to more than a record may have. DBDC3 has 38."""
    members: int = 100_000
    """Files and folders of an archive or a folder. DBDC3.zip has 600."""
    path: int = 1_000
    """Bytes of a path inside the data folder, with the path inside an archive. The longest has about 100."""

    def check(self, name: str, amount: int, where: object, found: str = "") -> None:
        """Raise SourceError, which says how to raise the limit, where there is more of something than its limit."""
        if amount > getattr(self, name):
            raise self.exceeded(name, amount, where, found)

    def exceeded(self, name: str, amount: int, where: object, found: str = "") -> BeyondLimit:
        """Return the error where there is more of something than its limit."""
        limit = getattr(self, name)
        return BeyondLimit(
            f"too much to read: {_MEANINGS[name]}",
            where=where,
            expected=f"at most {limit:,} (the input limit '{name}')",
            found=found or f"{amount:,}",
            next_step="remove the file; or, if you trust it, raise the limit: "
            f"{LIMIT_OPTION} {name}={_enough(name, amount)}",
        )


DEFAULT = Limits()
OF_TABLES = replace(DEFAULT, ratio=1_000_000)
"""For the tables of lakes and releases, whose rows may be so alike that they take far less than usual."""

_MEANINGS = {
    "record": "bytes of one record",
    "file": "bytes of one file, unpacked",
    "archive": "bytes of all files of an archive, unpacked",
    "ratio": "unpacked bytes for each byte of an archive",
    "members": "files and folders of an archive or a folder",
    "path": "bytes of a path",
}
_MOST = 10**18
"""Of any limit: more than a file has."""
_SIZES = ("record", "file", "archive")
_UNITS = {"": 1, "KB": 10**3, "MB": MB, "GB": GB, "TB": 10**12}
_VALUE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]B|)", re.IGNORECASE)


def described() -> str:
    """Name all limits with their defaults, for help."""
    defaults = (f"{field.name}={_shown(field.name, getattr(DEFAULT, field.name))}" for field in fields(Limits))
    return ", ".join(defaults)


def parse(texts: Iterable[str]) -> Limits:
    """Read limits as a user writes them, ``record=200MB``; raises UsageError."""
    limits = DEFAULT
    for text in texts:
        name, _, value = text.partition("=")
        match = _VALUE.fullmatch(value.strip())
        amount = int(min(float(match[1]) * _UNITS[match[2].upper()], _MOST + 1)) if match else 0
        if name not in _MEANINGS or not 1 <= amount <= _MOST or (match and match[2] and name not in _SIZES):
            raise UsageError(
                f"{LIMIT_OPTION} is not a limit and its value",
                expected=f"one of these, with another value: {described()}",
                found=f"'{text}'",
            )
        limits = replace(limits, **{name: amount})
    return limits


def _enough(name: str, amount: int) -> str:
    """Write a value that is enough for an amount."""
    return _shown(name, -(-amount // MB) * MB if name in _SIZES else amount)


def _shown(name: str, amount: int) -> str:
    """Write a limit as a user would."""
    if name not in _SIZES:
        return str(amount)
    return f"{amount // GB}GB" if amount % GB == 0 else f"{amount // MB}MB"


LINKS_OPTION = "--follow-links"

_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY  # a named pipe that replaced it does not block
_OPEN_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW


@dataclass(frozen=True)
class Boundary:
    """The folder out of which no link may lead, or None if links are followed wherever they lead.

    A hard link can't be told from any other file.
    """

    folder: Path | None
    """Without links itself."""

    @classmethod
    def around(cls, named: Path, *, follow_links: bool = False) -> "Boundary":
        """Return the boundary of the folder or file that a user named, which may itself be a link."""
        return cls(None if follow_links or not named.is_dir() else _real(named))

    def real(self, path: Path) -> Path:
        """Follow all links of a path; SourceError where that leads out of the folder."""
        real = _real(path)
        if self.folder is not None and not real.is_relative_to(self.folder):
            raise SourceError(
                "the link leads outside the named folder",
                where=path,
                expected=f"files and folders inside {self.folder}",
                found=f"a link to {real}",
                next_step=f"copy its target into the folder; or, if you trust the folder: {LINKS_OPTION}",
            )
        return real

    def open(self, path: Path) -> io.FileIO:
        """Open a file by its real path; a link that has replaced it, or a folder on the way to it, is not followed.

        Raises OSError; for such a link NotADirectoryError, or one with ELOOP.
        """
        if self.folder is None:
            return io.FileIO(os.open(path, _OPEN_FILE))
        *folders, name = path.relative_to(self.folder).parts
        handle = os.open(self.folder, _OPEN_FOLDER)
        try:
            for folder in folders:
                above, handle = handle, os.open(folder, _OPEN_FOLDER, dir_fd=handle)
                os.close(above)
            return io.FileIO(os.open(name, _OPEN_FILE, dir_fd=handle))
        finally:
            os.close(handle)


def _real(path: Path) -> Path:
    """Follow all links; of a loop and what does not exist the rest stays as it is."""
    return Path(os.path.realpath(path))
