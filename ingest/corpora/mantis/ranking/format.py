"""The cells of a TSV's row, as Python's csv module writes and reads them."""

import re
from collections.abc import Iterable

_CELL = re.compile(r'(?:\A|\t)(?:"([^"]*(?:""[^"]*)*)"(?=\t|\Z)|([^\t]*))')


def cells(row: str) -> list[str]:
    """Split a row at its tabs; a cell in quotes may hold tabs, and has its own quotes doubled (CSV's rule)."""
    if '"' not in row:
        return row.split("\t")
    return [cell[2] if cell[1] is None else cell[1].replace('""', '"') for cell in _CELL.finditer(row)]


def cell(text: str) -> str:
    """Write a cell as Python's csv writer does by default: in quotes where it holds a quote, a tab or a newline."""
    if '"' in text or "\t" in text or "\n" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def plain(cell: bytes) -> bytes | None:
    """Return the text of a row's last cell; None where it is not written as the csv module would, or not one cell."""
    if b'"' not in cell:
        return None if b"\t" in cell else cell
    if cell[:1] != b'"' or cell[-1:] != b'"':
        return None
    inner = cell[1:-1].replace(b'""', b'"')
    # A cell that needs no quotes, or has a quote that is not doubled, would be written otherwise.
    is_needed = b'"' in inner or b"\t" in inner or b"\n" in inner
    return inner if is_needed and len(inner) + inner.count(b'"') + 2 == len(cell) else None


def row(texts: Iterable[str]) -> str:
    """Write a row, without its line end."""
    return "\t".join(map(cell, texts))
