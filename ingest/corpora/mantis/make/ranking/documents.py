"""What negatives are drawn from: all that agents say in train and dev, in order of keys, repeated texts too."""

import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from talkhouse.ingest.corpora.mantis.context_index import contexts
from talkhouse.ingest.corpora.mantis.make.ranking.bm25 import Postings, postings
from talkhouse.ingest.corpora.mantis.ranking.tsv import cell

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


class Corpus(msgspec.Struct, frozen=True):
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

    def corpus(self, category: str | None) -> Corpus:
        """Count the documents of a category."""
        texts = self.texts(category)
        return Corpus(category, len(texts), len(np.unique(texts)))

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
