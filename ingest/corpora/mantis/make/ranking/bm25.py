"""BM25 as gensim 3 computed it (``gensim.summarization.bm25``, gone since gensim 4), over postings in numpy.

No kept library gives these scores. They are the same to the last bit on every machine: logarithms are correctly
rounded, every other step is one addition, multiplication or division, and sums go through tokens in order.
"""

from decimal import Context
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

K1, B, EPSILON = 1.5, 0.75, 0.25
"""The library's constants."""

_STEP, _MARGIN = 64, 8
"""One score in so many is in a sample; so many more of the sample are taken than are needed."""

_EXACT = Context(prec=40)

Numbers = NDArray[np.int64]
Scores = NDArray[np.float64]


class Postings(NamedTuple):
    """For each term, the documents that have it, and what it adds to their scores."""

    starts: Numbers
    """Where the postings of each term begin, and where the last ones end."""
    documents: NDArray[np.int32]
    """Positions of documents, ascending within a term."""
    weights: Scores
    size: int
    """How many documents there are."""

    def scores(self, terms: list[int]) -> Scores:
        """Score all documents against a query; a term that it has twice counts twice.

        Terms add up in the order of the query, as in the library: ``bincount`` goes through its input from the first
        to the last.
        """
        parts = [slice(self.starts[term], self.starts[term + 1]) for term in terms]
        if not parts:
            return np.zeros(self.size)
        documents = np.concatenate([self.documents[part] for part in parts])
        weights = np.concatenate([self.weights[part] for part in parts])
        return np.bincount(documents, weights, self.size).astype(np.float64, copy=False)


def postings(terms: NDArray[np.int32], lengths: Numbers, words: int) -> Postings:
    """Index documents: all their terms one after the other, each below ``words``, and how many each document has."""
    size = len(lengths)
    pairs = terms * np.int64(size)
    pairs += np.repeat(np.arange(size, dtype=np.int32), lengths)
    pairs.sort()
    is_first = np.ones(len(pairs), bool)
    np.not_equal(pairs[1:], pairs[:-1], out=is_first[1:])
    firsts = np.flatnonzero(is_first)
    counts = np.diff(firsts, append=len(pairs)).astype(np.int32)
    pairs = pairs[firsts]
    del firsts
    documents = (pairs % max(size, 1)).astype(np.int32)
    starts = np.searchsorted(pairs, np.arange(words + 1) * size)
    del pairs
    return Postings(starts, documents, _weights(terms, lengths, starts, documents, counts), size)


def best(scores: Scores, count: int) -> Numbers:
    """Return the positions of the best documents, the best first, of equal ones the lower position first."""
    size = len(scores)
    if count >= size:
        return np.argsort(-scores, kind="stable")
    border = _border(scores, count)
    above = np.flatnonzero(scores > border)
    level = np.flatnonzero(scores == border)[: count - len(above)]
    found = np.sort(np.concatenate([above, level]))
    return found[np.argsort(-scores[found], kind="stable")]


def _border(scores: Scores, count: int) -> float:
    """Return the score of the last one of the best.

    A sample tells which score surely more than ``count`` reach: to partition all, of which most are 0, takes longer
    than to compute them. Where the sample is wrong, or says nothing, all are.
    """
    sample = np.sort(scores[::_STEP])
    high = scores[scores >= sample[-min(len(sample), _MARGIN + 2 * count // _STEP)]]
    if len(high) < count:
        high = scores
    return float(np.partition(high, len(high) - count)[len(high) - count])


def _weights(
    terms: NDArray[np.int32], lengths: Numbers, starts: Numbers, documents: NDArray[np.int32], counts: NDArray[np.int32]
) -> Scores:
    """Compute what each posting adds: idf * f * (k1 + 1) / (f + k1 * (1 - b + b * length / mean length))."""
    size, frequencies = len(lengths), np.diff(starts)
    mean = int(lengths.sum()) / max(size, 1) or 1.0
    weights = np.repeat(_idf(terms, frequencies, size), frequencies)
    weights *= counts
    weights *= K1 + 1
    divisors = (K1 * (1 - B + B * lengths / mean))[documents]
    divisors += counts
    weights /= divisors
    return weights


def _idf(terms: NDArray[np.int32], frequencies: Numbers, size: int) -> Scores:
    """Compute each term's idf; a negative one is replaced by a part of the mean of all.

    The mean is of the sum in the order in which the terms occur first; ``sum`` adds floats otherwise since Python 3.12.
    """
    values = {number: _log(size - number + 0.5) - _log(number + 0.5) for number in np.unique(frequencies).tolist()}
    idf = np.array([values[number] for number in frequencies.tolist()])
    present, firsts = np.unique(terms, return_index=True)
    total = 0.0
    for value in idf[present[np.argsort(firsts)]].tolist():
        total += value
    idf[idf < 0] = EPSILON * (total / max(len(present), 1))
    return idf


@cache
def _log(number: float) -> float:
    """Return the logarithm, correctly rounded; that of the platform's library may differ in the last bit."""
    return float(_EXACT.ln(_EXACT.create_decimal_from_float(number)))
