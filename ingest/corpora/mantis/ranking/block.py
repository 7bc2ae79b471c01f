"""Takes a block of a response-ranking TSV apart: one context, the right response, and the wrong ones."""

from typing import NamedTuple

from talkhouse.ingest.corpora.mantis.ranking.format import cells, plain, row
from talkhouse.ingest.corpora.mantis.ranking.tsv import RawBlock
from talkhouse.ingest.decode import BadRecord

_FEWEST = 2
"""Cells besides the label, at least: an utterance and a response."""


class Block(NamedTuple):
    """A block whose rows fit together."""

    raw: RawBlock
    context: list[str]
    response: str
    keys: list[str | None]
    """The keys of the wrong responses, None for those that are not known."""
    new: dict[int, bytes]
    """The UTF-8 of these others, by position."""
    written: dict[str, str]
    """Rows that are not written as the csv module would, by position."""


def parse(block: RawBlock, size: int, carriage: bytes) -> Block:
    """Take a block of ``size`` rows apart; ``carriage`` is what stands before each newline.

    The contexts of a block were compared as bytes: of a file of gigabytes all but the candidates is repetition.
    Raises BadRecord MA-06 where the rows do not fit together, UnicodeDecodeError for bytes that are not UTF-8.
    """
    end = carriage.decode()
    head = block.head.decode()
    *context, response = _words(head.removesuffix(end), "1", 0)
    if len(block) != size:
        raise misfit(f"{len(block)} rows of one context, expected {size}", 0)
    written = {} if row(["1", *context, response]) + end == head else {"0": head}
    is_plain = block.begin == row(["0", *context, ""]).encode()

    def wrong(tail: bytes, position: int) -> bytes:
        text = plain(tail.removesuffix(carriage)) if is_plain and tail.endswith(carriage) else None
        if text is not None:
            return text
        whole = (block.begin + tail).decode()
        words = _words(whole.removesuffix(end), "0", position)
        if words[:-1] != context:
            raise misfit("another context than in the first row of the block", position)
        if row(["0", *words]) + end != whole:
            written[str(position)] = whole
        return words[-1].encode()

    keys: list[str | None] = block.keys if is_plain else [None] * len(block.tails)
    new = {at: wrong(block.tails[at - 1], at) for at, key in enumerate(keys, 1) if key is None}
    # One that is not UTF-8 must be found before any of them becomes a row.
    b"\n".join(new.values()).decode()
    return Block(block, context, response, keys, new, written)


def misfit(detail: str, position: int) -> BadRecord:
    """Return the problem that rows of a block do not fit together, and the row that shows it."""
    return BadRecord("MA-06", detail, f"/{position}")


def _words(text: str, expected: str, position: int) -> list[str]:
    """Return context and candidate of a row; BadRecord where it has another label, or too few cells."""
    label, *words = cells(text)
    if label != expected:
        raise misfit(f"the label {label[:20]!r}, expected {expected}", position)
    if len(words) < _FEWEST:
        raise misfit("fewer than 3 columns", position)
    return words
