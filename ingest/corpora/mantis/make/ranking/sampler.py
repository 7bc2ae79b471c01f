"""Negatives for one context after the other, over corpora that lie in memory or, for other processes, in a folder."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from talkhouse.ingest.corpora.mantis.make.ranking.bm25 import Postings
from talkhouse.ingest.corpora.mantis.make.ranking.draw import draw

Asked = TypeVar("Asked")
"""What comes beside a request."""


class Request(NamedTuple):
    """A context for which negatives are drawn."""

    corpus: int
    query: list[int]
    """The numbers of the response's tokens."""
    response: int
    """The number of its text."""
    seed: bytes


class Drawn(NamedTuple):
    """The negatives of a context."""

    texts: list[int]
    is_extended: bool
    """Whether the best documents had too few texts, so that the next ones were taken too."""


class Searched(NamedTuple):
    """Documents that are indexed, and the number of the text of each."""

    postings: Postings
    texts: NDArray[np.int32]


class Sampler:
    """Draws so many negatives for each context."""

    def __init__(self, corpora: Sequence[Searched], count: int) -> None:
        self._corpora, self._count = corpora, count

    def draw(self, request: Request) -> Drawn:
        """Draw the negatives of one context."""
        corpus = self._corpora[request.corpus]
        scores = corpus.postings.scores(request.query)
        return Drawn(*draw(scores, corpus.texts, request.response, self._count, request.seed))

    def draw_all(self, asked: Iterable[tuple[Asked, Request]]) -> Iterator[tuple[Asked, Drawn]]:
        """Yield the negatives for each request, with what came beside it."""
        return ((beside, self.draw(request)) for beside, request in asked)


def save(corpora: Iterator[Searched], folder: Path) -> None:
    """Write corpora to files; one is in memory at a time."""
    for number, corpus in enumerate(corpora):
        for name, numbers in _arrays(corpus).items():
            np.save(folder / f"{number}.{name}.npy", numbers)


def opened(folder: Path) -> list[Searched]:
    """Map the files into memory: processes that do so share one copy, which the system keeps."""
    count = len(list(folder.glob("*.texts.npy")))
    return [_mapped(folder, number) for number in range(count)]


def _arrays(corpus: Searched) -> dict[str, NDArray[np.generic]]:
    starts, documents, weights, _ = corpus.postings
    return {"starts": starts, "documents": documents, "weights": weights, "texts": corpus.texts}


def _mapped(folder: Path, number: int) -> Searched:
    starts, documents, weights, texts = (
        np.asarray(np.load(folder / f"{number}.{name}.npy", mmap_mode="r"))  # slices of memmap are slow
        for name in ("starts", "documents", "weights", "texts")
    )
    return Searched(Postings(starts, documents, weights, len(texts)), texts)
