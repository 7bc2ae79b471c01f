"""What negatives are drawn from: all that agents say in train and dev, ranked by BM25 as gensim 3 computed it.

No kept library gives the scores of ``gensim.summarization.bm25``, gone since gensim 4. They are the same to the last
bit on every machine: logarithms are correctly rounded, every other step is one addition, multiplication or division,
and sums go through tokens in order.
"""

import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Context
from functools import cache
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from talkhouse.ingest.corpora.mantis.ranking import contexts
from talkhouse.ingest.corpora.mantis.tsv import cell

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


AGENT = "agent"


class Conversation(NamedTuple):
    """One dialogue of a merged file."""

    key: str
    category: str
    roles: Sequence[str]
    """Who says each utterance: ``user`` or ``agent``."""
    texts: Sequence[str]

    def answers(self) -> Iterator[str]:
        """Yield what the agent says, in order."""
        return (text for role, text in zip(self.roles, self.texts, strict=True) if role == AGENT)

    def examples(self) -> Iterator["Example"]:
        """Yield every context with its response, in order."""
        for number, picked in enumerate(contexts(self.roles, range(1, len(self.texts) + 1))):
            *context, response = [self.texts[index] for index in picked]
            yield Example(self, number, context, response)


class Example(NamedTuple):
    """What is said before a response, and the response."""

    conversation: Conversation
    number: int
    """0-based position among the contexts of its dialogue."""
    context: Sequence[str]
    response: str


TOKENIZER = "words of letters and digits, 1"
"""Name and version, for manifests; a change of the words or of the ranges makes another version."""

_ENGLISH = """
a about after all also am an and any are as at be because been but by can could did do does don for from get had has
have he her here his how i if in into is it its just like ll m me more my no not of on one only or other our out re s
she should so some such t than that the their them then there these they this those to too up us use ve very was we were
what when where which while who why will with would you your
"""

_MARKUP = "blockquote br code href http https nofollow noreferrer pre rel www"
"""What is left of tags and links."""

STOP_WORDS = frozenset(f"{_ENGLISH} {_MARKUP}".split())
"""Words that say nothing of a topic."""

_WORD = re.compile(
    "[0-9a-z"
    "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff"  # Latin, Greek ... without signs
    "\u2c00-\u2dff\u3040-\ud7ff\uf900-\ufdff\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uffdc"
    "\U00010000-\U0001cfff\U00020000-\U000dffff]+"  # without the block of music, emoji and other symbols
)


def tokens(text: str) -> list[str]:
    """List the tokens of a text in order, repeated ones too."""
    return [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


UNKNOWN = -1
"""Stands for a response that no document has."""


class DocumentCorpus(msgspec.Struct, frozen=True):
    """The documents of one category, or (None) of all."""

    category: str | None
    texts: int
    distinct_texts: int


class Documents:
    """The documents, each text once, and the contexts that negatives are drawn for."""

    def __init__(self) -> None:
        self.cells: list[bytes] = []
        """Each distinct text as a cell of a TSV has it; a text's number is its place here."""
        self.contexts = 0
        """The contexts of all splits."""
        self.categories: list[str] = []
        """In the order in which they come first."""
        self._numbers: dict[bytes, int] = {}
        self._terms: dict[str, int] = {}
        self._flat, self._lengths, self._texts, self._sites = (array("i") for _ in range(4))

    def add(self, conversation: Conversation, *, is_drawn_from: bool) -> None:
        """Count a conversation's contexts, and keep what its agent says if negatives are drawn from it."""
        if conversation.category not in self.categories:
            self.categories.append(conversation.category)
        self.contexts += sum(1 for _ in conversation.examples())
        site = self.categories.index(conversation.category)
        for text in conversation.answers() if is_drawn_from else ():
            self._keep(text, site)

    def number(self, text: str) -> int:
        """Return the number of a text; UNKNOWN where no document has it."""
        return self._numbers.get(cell(text).encode(), UNKNOWN)

    def query(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens, in order; one that no document has adds nothing to a score."""
        return [self._terms[word] for word in tokens(text) if word in self._terms]

    def corpus(self, category: str | None) -> DocumentCorpus:
        """Count the documents of a category."""
        texts = self.texts(category)
        return DocumentCorpus(category, len(texts), len(np.unique(texts)))

    def texts(self, category: str | None) -> NDArray[np.int32]:
        """Return the number of the text of each document of a category."""
        return _view(self._texts)[self._is_in(category)]

    def postings(self, category: str | None) -> Postings:
        """Index the documents of a category."""
        lengths, is_in = _view(self._lengths), self._is_in(category)
        terms = _view(self._flat)
        if category is not None:
            terms = terms[np.repeat(is_in, lengths)]
        return postings(terms, lengths[is_in].astype(np.int64), len(self._terms))

    def fewest(self, examples: Iterable[Example], categories: Collection[str | None]) -> dict[str | None, int]:
        """For each of these corpora that has contexts: the fewest texts that one of them has besides the response."""
        known = {category: frozenset(self.texts(category).tolist()) for category in categories}
        left = dict[str | None, int]()
        for example in examples:
            category = None if None in known else example.conversation.category
            if category in known:
                is_known = self.number(example.response) in known[category]
                left[category] = min(left.get(category, len(known[category])), len(known[category]) - is_known)
        return left

    def _keep(self, text: str, site: int) -> None:
        raw = cell(text).encode()
        number = self._numbers.setdefault(raw, len(self.cells))
        if number == len(self.cells):
            self.cells.append(raw)
        terms = [self._terms.setdefault(word, len(self._terms)) for word in tokens(text)]
        self._flat.extend(terms)
        self._lengths.append(len(terms))
        self._texts.append(number)
        self._sites.append(site)

    def _is_in(self, category: str | None) -> NDArray[np.bool_]:
        sites = _view(self._sites)
        if category is None:
            return np.ones(len(sites), bool)
        return np.equal(sites, self.categories.index(category) if category in self.categories else UNKNOWN)


def _view(numbers: "array[int]") -> NDArray[np.int32]:
    """Return an array's numbers, without a copy; while there is a view, the array can't grow."""
    return np.frombuffer(numbers, np.int32)


K1, B, EPSILON = 1.5, 0.75, 0.25
"""The library's constants."""

_STEP, _MARGIN = 64, 8
"""One score in so many is in a sample; so many more of the sample are taken than are needed."""

_EXACT = Context(prec=40)


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
