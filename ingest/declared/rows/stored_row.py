"""One row on its way back to its file."""

from collections.abc import Callable, Mapping
from typing import Self

import msgspec
from msgspec import Raw

from talkhouse.ingest.declared.shapes import LITERAL, NULL

LEVEL = "row"
"""Of the shapes of rows."""


class StoredRow(msgspec.Struct, gc=False):
    """One row as a file has it."""

    line: int
    """Where it stands; of rows that follow one another, the line of the first."""
    cells: dict[str, bytes]
    """Column -> JSON text, in the file's order."""
    as_written: dict[str, str] = {}
    """Of CSV: the cells that the dialect would write otherwise."""
    verbatim: bytes | None = None
    """The row itself, of a record in quarantine."""

    @classmethod
    def of(cls, line: int, cells: dict[str, bytes], extra: Mapping[str, Raw]) -> Self:
        """Make a row of its cells, and of what ``extra`` has of how they are written."""
        written = extra.get("cells")
        as_written = msgspec.json.decode(written, type=dict[str, str]) if written is not None else {}
        return cls(line, cells, as_written)

    def as_object(self) -> bytes:
        """Write the row as a JSON object."""
        members = (msgspec.json.encode(key) + b":" + raw for key, raw in self.cells.items())
        return b"{" + b",".join(members) + b"}"


def cell(hole: str, text_of: Callable[[str], str | None], *, is_csv: bool) -> bytes:
    """Write the cell that a hole gives back, by its name in the shape, as JSON: an empty one is null, in CSV ``""``."""
    text = None if hole.endswith(NULL) else text_of(hole.removesuffix(LITERAL))
    if text is None:
        return b'""' if is_csv else b"null"
    return text.encode() if hole.endswith(LITERAL) else msgspec.json.encode(text)
