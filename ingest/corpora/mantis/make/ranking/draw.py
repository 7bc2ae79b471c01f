"""Draws negatives: which of the best texts stand beside a response.

The generator is our own, of SHA-256 alone, so that a seed gives the same negatives in every version of Python.
"""

from collections.abc import Iterator
from hashlib import sha256

import msgspec
import numpy as np
from numpy.typing import NDArray

from talkhouse.ingest.corpora.mantis.make.ranking.bm25 import Scores, best

BEST = 1_000
"""How many of the best documents negatives are drawn from."""

GENERATOR = "sha256 in counter mode, 1"
"""Name and version, for manifests."""

_WORD = 64
"""Bits of a random number."""


def draw(scores: Scores, texts: NDArray[np.int32], response: int, count: int, seed: bytes) -> tuple[list[int], bool]:
    """Draw so many distinct texts from those of the best documents, in the order of the ranking, without the response.

    ``texts`` has the text's number for each document. Where the best have too few other texts, all that they have are
    taken, and the next ones of the ranking; the second value says so. There must be enough of them.
    """
    reach = BEST
    while True:
        pool = dict.fromkeys(texts[best(scores, reach)].tolist())
        pool.pop(response, None)
        if len(pool) >= count or reach >= len(scores):
            break
        reach *= 2
    is_extended = reach > BEST
    candidates = list(pool)[:count] if is_extended else list(pool)
    return _sample(candidates, count, seed), is_extended


def seed_of(seed: int, split: str, key: str, number: int, count: int) -> bytes:
    """Return what the draw for one context depends on, besides the texts: no context's draw depends on another's."""
    return msgspec.json.encode((seed, split, key, number, count))


def _sample(candidates: list[int], count: int, seed: bytes) -> list[int]:
    """Draw without replacement: the first steps of a shuffle by Fisher and Yates."""
    for position, word in zip(range(count), _random(seed), strict=False):
        other = position + (word * (len(candidates) - position) >> _WORD)
        candidates[position], candidates[other] = candidates[other], candidates[position]
    return candidates[:count]


def _random(seed: bytes) -> Iterator[int]:
    """Yield whole numbers of 64 bits: of SHA-256 over the seed's hash and a counter, four at a time."""
    start, counter = sha256(seed).digest(), 0
    while True:
        block = sha256(start + counter.to_bytes(8, "big")).digest()
        yield from (int.from_bytes(block[at : at + 8], "big") for at in range(0, len(block), 8))
        counter += 1
