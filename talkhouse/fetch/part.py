"""What there is of a file that is not yet whole, also from an earlier run."""

import os
from pathlib import Path
from typing import BinaryIO

import msgspec


class Known(msgspec.Struct, frozen=True):
    """What is known of the version of a file of which a part is here."""

    url: str
    validator: str | None
    """A strong ETag, or else the time of its last change: what a server tells two versions apart by."""
    total: int | None
    """Bytes that it has as a whole."""


class Part:
    """The bytes at the begin of one version of a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._facts = path.with_name(f"{path.name}.json")
        self.known: Known | None = None

    def load(self, url: str) -> None:
        """Take up what an earlier run left from the same address; anything else is removed."""
        try:
            known = msgspec.json.decode(self._facts.read_bytes(), type=Known)
        except (OSError, msgspec.DecodeError):
            known = None
        if known is None or known.url != url or self.path.is_symlink() or not self.path.is_file():
            self.clear()
        else:
            self.known = known

    @property
    def size(self) -> int:
        """Bytes that are here."""
        return self.path.stat().st_size if self.known else 0

    def begin(self, known: Known) -> None:
        """Start from nothing with a version of the file. Raises OSError."""
        self.clear()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._facts.write_bytes(msgspec.json.encode(known))
        with self.open():
            self.known = known

    def open(self) -> BinaryIO:
        """Open it to write at its end; no link is followed. Raises OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        return os.fdopen(os.open(self.path, flags, 0o666), "ab")

    def clear(self) -> None:
        """Remove it."""
        self.known = None
        self.path.unlink(missing_ok=True)
        self._facts.unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove what is known of it, once it has been moved to where it belongs."""
        self.known = None
        self._facts.unlink(missing_ok=True)
