"""Files that are written in pieces which alternate: a few stay open, the others are opened again to be continued."""

from collections import OrderedDict
from pathlib import Path
from typing import IO, Self

_OPEN = 16
"""Files that are open at once: fewer than any system allows, more than a writer has on hand at a time."""


class OpenFiles:
    """Appends pieces to files, which it makes with their folders; use it in a ``with``."""

    def __init__(self) -> None:
        self._streams: OrderedDict[Path, IO[bytes]] = OrderedDict()
        self._made: set[Path] = set()

    def append(self, path: Path, piece: bytes) -> None:
        """Write a piece to the end of a file; an empty one makes the file too.

        Raises OSError, FileExistsError where something else is there already.
        """
        stream = self._streams.get(path)
        if stream is None:
            if len(self._streams) == _OPEN:
                self._streams.popitem(last=False)[1].close()
            path.parent.mkdir(parents=True, exist_ok=True)
            # On some disks two paths are one: those that differ in case alone.
            stream = self._streams[path] = path.open("ab" if path in self._made else "xb")
            self._made.add(path)
        else:
            self._streams.move_to_end(path)
        stream.write(piece)

    def __enter__(self) -> Self:
        """Return itself; nothing is open yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is open, even where one file can't be closed because the disk is full."""
        try:
            for stream in self._streams.values():
                stream.close()
        finally:
            self._streams.clear()
