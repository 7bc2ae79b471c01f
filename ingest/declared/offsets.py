"""Offsets of spans: code points, or the units of UTF-16 that browsers count."""

from typing import Literal


class Offsets:
    """How the offsets of a scheme count."""

    def __init__(self, unit: Literal["code points", "utf-16"]) -> None:
        self._is_utf16 = unit == "utf-16"

    def span(self, start: str, end: str, text: str) -> tuple[int, int] | None:
        """Return a span in code points, its end exclusive; None where it is not inside the text.

        Half of a pair of UTF-16 units is no place in a text.
        """
        ends = [self._index(offset, text) for offset in (start, end)]
        first, last = ends
        return (first, last) if first is not None and last is not None and 0 <= first <= last <= len(text) else None

    def _index(self, offset: str, text: str) -> int | None:
        if not (offset.isascii() and offset.isdigit() and len(offset) < 10):
            return None
        index = int(offset)
        if not self._is_utf16 or text.isascii():
            return index
        units = text.encode("utf-16-le")
        try:
            return len(units[: 2 * index].decode("utf-16-le")) if 2 * index <= len(units) else None
        except UnicodeDecodeError:
            return None
