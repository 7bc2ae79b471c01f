"""Takes a block of a response-ranking TSV apart: one context, the right response, and the wrong ones."""

from collections.abc import Sequence
from typing import NamedTuple

from ingest.corpora.mantis.ranking.format import cells, plain, row
from ingest.corpora.mantis.ranking.tsv import RawBlock
from ingest.decode import BadRecord

_FEWEST = 2
"""Cells besides the label, at least: an utterance and a response."""


class Block(NamedTuple):
    """A block whose rows fit together."""

    context: list[str]
    response: str
    new: dict[int, bytes | bytearray]
    """The wrong responses that are not known by their cell's hash, in UTF-8, by position."""
    written: dict[str, str]
    """Rows that are not written as the csv module would, by position."""


def parse(block: RawBlock, known: Sequence[object], size: int, carriage: bytes) -> Block:
    """Take a block of ``size`` rows apart; ``carriage`` is what stands before each newline.

    ``known`` is None for each tail whose text is not known. Raises BadRecord MA-06 where the rows do not fit
    together, UnicodeDecodeError for bytes that are no UTF-8.
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
    new = _new(block, known, context, carriage, written)
    b"\n".join(new.values()).decode()  # a broken one must be found before any of them becomes a row
    return Block(context, response, new, written)


def misfit(detail: str, position: int) -> BadRecord:
    """Return the problem that rows of a block do not fit together, and the row that shows it."""
    return BadRecord("MA-06", detail, f"/{position}")


def _new(
    block: RawBlock, known: Sequence[object], context: list[str], carriage: bytes, written: dict[str, str]
) -> dict[int, bytes | bytearray]:
    """Return the wrong responses that are not known; adds to ``written`` the rows that are written in their own way.

    The contexts of a block were compared as bytes: of a file of gigabytes all but the candidates is repetition.
    """
    end = carriage.decode()
    is_plain = block.begin == row(["0", *context, ""]).encode()
    found: dict[int, bytes | bytearray] = {}
    for position, tail in enumerate(block.tails, 1):
        if is_plain and known[position - 1] is not None:
            continue
        text = plain(tail.removesuffix(carriage)) if is_plain and tail.endswith(carriage) else None
        if text is None:
            whole = (block.begin + tail).decode()
            candidate = _candidate(whole.removesuffix(end), context, position)
            if row(["0", *context, candidate]) + end != whole:
                written[str(position)] = whole
            text = candidate.encode()
        found[position] = text
    return found


def _candidate(text: str, context: list[str], position: int) -> str:
    """Return the candidate of a row that is written in another way; BadRecord where it is none of the block's."""
    label, *words = cells(text)
    if label != "0":
        raise misfit(f"the label {label[:20]!r}, expected 0", position)
    if len(words) < _FEWEST:
        raise misfit("fewer than 3 columns", position)
    if words[:-1] != context:
        raise misfit("another context than in the first row of the block", position)
    return words[-1]
