"""What stands before, between and behind the records of a text file: line ends, blank lines, blanks around a line."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

LINE_END = "\n"


class Gaps:
    """Gaps on their way in: one before each record, and one behind the last. Equal ones in a row are kept once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._runs: list[int] = []
        """The number of a gap, and how many of it there are, in turns."""
        self._last: str | None = None

    def add(self, gap: str, count: int = 1) -> None:
        """Add a gap, or several that are the same."""
        if gap == self._last:
            self._runs[-1] += count
        elif count:
            self._runs += (self._numbers.setdefault(gap, len(self._numbers)), count)
            self._last = gap

    def layout(self) -> dict[str, Any]:
        """Return them as JSON; empty where each record is a line that ends in a line feed, and nothing stands before.

        ``gaps`` are texts and runs: the number of a text and how often it stands there.
        """
        count = sum(self._runs[1::2])
        ordinary = ["", LINE_END] if count > 1 else []
        if list(self._numbers) == ordinary and self._runs == [0, 1, 1, count - 1]:
            return {}
        return {"gaps": {"texts": list(self._numbers), "runs": self._runs}}


def gaps_of(layout: Mapping[str, Raw]) -> Iterator[bytes]:
    """Yield the gaps on their way back: the first, and then as many as there are, and ordinary ones without end."""
    raw = layout.get("gaps")
    if raw is None:
        yield b""
    else:
        gaps = msgspec.json.decode(raw)
        texts = [text.encode() for text in gaps["texts"]]
        runs = iter(gaps["runs"])
        for number, count in zip(runs, runs, strict=True):
            for _ in range(count):
                yield texts[number]
    while True:
        yield LINE_END.encode()
