"""The first difference between two files, byte for byte: where it is, and what stands there."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

_SHOWN = 30
"""Bytes before and after a difference that are shown."""

_END = "the end of the file"


@dataclass(frozen=True)
class Difference:
    """Where two files first differ: in JSON a pointer, in anything else line and byte, from 1."""

    what: str
    pointer: str | None = None
    line: int | None = None
    byte: int | None = None
    """Position in the line."""
    expected: str | None = None
    """What the publisher's file has there, shortened."""
    found: str | None = None
    """What the file that was written back has there."""


def first_difference(published: Iterable[bytes], restored: IO[bytes]) -> Difference | None:
    """Compare a file that is read in chunks with a stream; memory: one chunk of each."""
    position = _Position()
    for chunk in published:
        other = restored.read(len(chunk))
        if other != chunk:
            return position.difference(chunk, other + restored.read(_SHOWN))
        position.advance(chunk)
    rest = restored.read(_SHOWN)
    return position.difference(b"", rest) if rest else None


class _Position:
    """A position in a file: the line, how many of its bytes have been read, and the last of them."""

    def __init__(self) -> None:
        self.line, self.byte = 1, 0
        self._before = b""

    def advance(self, chunk: bytes) -> None:
        """Move on by some bytes."""
        ends = chunk.count(b"\n")
        last = chunk[chunk.rfind(b"\n") + 1 :] if ends else chunk
        self.line += ends
        self.byte = len(last) if ends else self.byte + len(chunk)
        self._before = last[-_SHOWN:] if ends else (self._before + last)[-_SHOWN:]

    def difference(self, chunk: bytes, other: bytes) -> Difference:
        """Find the first byte that differs, and show both lines around it."""
        same = _common(chunk, other)
        self.advance(chunk[:same])
        published, restored = chunk[same:], other[same:]
        ended = "the restored file ends here" if not restored else "the restored file goes on here"
        return Difference(
            ended if not published or not restored else "other bytes",
            line=self.line,
            byte=self.byte + 1,
            expected=self._line(published) if published else _END,
            found=self._line(restored) if restored else _END,
        )

    def _line(self, rest: bytes) -> str:
        """Show the line around the position, its end included."""
        after = rest[: rest.find(b"\n", 0, _SHOWN) + 1 or _SHOWN]
        try:
            return repr((self._before + after).decode())
        except UnicodeDecodeError:
            return repr(self._before + after)[1:]


def _common(first: bytes, second: bytes) -> int:
    """Count the bytes that both begin with, by halving: whole slices are compared faster than bytes in a loop."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
