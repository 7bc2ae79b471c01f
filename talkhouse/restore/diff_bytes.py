"""The first difference between two files, byte for byte: where it is, and what stands there."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

_SHOWN = 30
"""Bytes before and after a difference that are shown."""

_END = "the end of the file"


@dataclass(frozen=True)
class Difference:
    """The first place at which two files differ; of JSON its pointer, of anything else its line and byte, from 1."""

    what: str
    pointer: str | None = None
    line: int | None = None
    byte: int | None = None
    """Position in the line."""
    expected: str | None = None
    """What the publisher's file has there, shortened."""
    found: str | None = None
    """What the warehouse gave back."""


def first_difference(came: Iterable[bytes], went: IO[bytes]) -> Difference | None:
    """Compare a file that came in pieces with a stream; memory: one piece of each."""
    place = _Place()
    for piece in came:
        other = went.read(len(piece))
        if other != piece:
            return place.difference(piece, other + went.read(_SHOWN))
        place.advance(piece)
    rest = went.read(_SHOWN)
    return place.difference(b"", rest) if rest else None


class _Place:
    """Where in a file we are: the line, how many bytes of it are behind us, and the last of them."""

    def __init__(self) -> None:
        self.line, self.byte = 1, 0
        self._before = b""

    def advance(self, piece: bytes) -> None:
        """Go on by some bytes."""
        ends = piece.count(b"\n")
        last = piece[piece.rfind(b"\n") + 1 :] if ends else piece
        self.line += ends
        self.byte = len(last) if ends else self.byte + len(piece)
        self._before = last[-_SHOWN:] if ends else (self._before + last)[-_SHOWN:]

    def difference(self, piece: bytes, other: bytes) -> Difference:
        """Find the first byte that differs, and show both lines around it."""
        same = _common(piece, other)
        self.advance(piece[:same])
        one, two = piece[same:], other[same:]
        ended = "the file that was given back ends here" if not two else "the file that was given back goes on here"
        return Difference(
            ended if not one or not two else "other bytes",
            line=self.line,
            byte=self.byte + 1,
            expected=self._line(one) if one else _END,
            found=self._line(two) if two else _END,
        )

    def _line(self, rest: bytes) -> str:
        """Show the line around a place, its end included."""
        after = rest[: rest.find(b"\n", 0, _SHOWN) + 1 or _SHOWN]
        try:
            return repr((self._before + after).decode())
        except UnicodeDecodeError:
            return repr(self._before + after)[1:]


def _common(one: bytes, other: bytes) -> int:
    """Count the bytes that both begin with, by halving: whole slices are compared faster than bytes in a loop."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
