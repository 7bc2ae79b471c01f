"""Takes a block of a response-ranking TSV apart: one context, the right response, and the wrong ones."""

from collections.abc import Iterator
from typing import NamedTuple

from ingest.corpora.mantis.tsv import RawBlock, cells, row
from ingest.decode import BadRecord

_FEWEST = 2
"""Cells besides the label, at least: an utterance and a response."""


class Parsed(NamedTuple):
    """A block whose rows fit together."""

    context: list[str]
    response: str
    candidates: list[bytes]
    """The right response, then the wrong ones, in UTF-8."""
    written: dict[str, str]
    """Rows that are not written as the csv module would, by position."""


def parse(block: RawBlock, size: int, carriage: bytes) -> Parsed:
    """Take a block of ``size`` rows apart; ``carriage`` is what stands before each newline.

    Raises BadRecord MA-06 where the rows do not fit together, UnicodeDecodeError for bytes that are no UTF-8.
    """
    end = carriage.decode()
    head = block.head.decode()
    label, *words = cells(head.removesuffix(end))
    if label != "1":
        raise misfit(f"the block begins with the label {label[:20]!r}, expected 1", 0)
    if len(words) < _FEWEST:
        raise misfit("fewer than 3 columns", 0)
    if len(block) != size:
        raise misfit(f"{len(block)} rows of one context, expected {size}", 0)
    *context, response = words
    written = {} if row(["1", *words]) + end == head else {"0": head}
    candidates = [response.encode(), *_wrong(block, context, carriage, written)]
    b"\n".join(candidates).decode()  # a broken one must be found before any of them becomes a row
    return Parsed(context, response, candidates, written)


def misfit(detail: str, position: int) -> BadRecord:
    """Say what does not fit in a block, and in which of its rows."""
    return BadRecord("MA-06", detail, f"/{position}")


def _wrong(block: RawBlock, context: list[str], carriage: bytes, written: dict[str, str]) -> Iterator[bytes]:
    """Give the wrong responses; a row that is written in a way of its own is noted.

    The contexts of a block were compared as bytes: of a file of gigabytes all but the candidates is repetition.
    """
    end = carriage.decode()
    is_plain = block.begin == row(["0", *context, ""]).encode()
    for position, tail in enumerate(block.tails, 1):
        found = _plain(tail.removesuffix(carriage)) if is_plain and tail.endswith(carriage) else None
        if found is None:
            text = (block.begin + tail).decode()
            candidate = _candidate(text.removesuffix(end), context, position)
            if row(["0", *context, candidate]) + end != text:
                written[str(position)] = text
            found = candidate.encode()
        yield found


def _plain(cell: bytes) -> bytes | None:
    """Give the text of a last cell; None where it is not written as the csv module would, or not the last one."""
    if b'"' not in cell:
        return None if b"\t" in cell else cell
    if cell[:1] != b'"' or cell[-1:] != b'"':
        return None
    inner = cell[1:-1].replace(b'""', b'"')
    # A cell that needs no quotes, or has a quote that is not doubled, would be written otherwise.
    is_needed = b'"' in inner or b"\t" in inner or b"\n" in inner
    return inner if is_needed and len(inner) + inner.count(b'"') + 2 == len(cell) else None


def _candidate(text: str, context: list[str], position: int) -> str:
    """Give the candidate of a row that is written in another way; BadRecord where it is none of the block's."""
    label, *words = cells(text)
    if label != "0":
        raise misfit(f"the label {label[:20]!r}, expected 0", position)
    if len(words) < _FEWEST:
        raise misfit("fewer than 3 columns", position)
    if words[:-1] != context:
        raise misfit("another context than in the first row of the block", position)
    return words[-1]
