"""Negatives for one context after the other, drawn in this process or in several that share the texts in a folder.

The processes are started as programs of their own, in process groups of their own: nothing is forked while threads run,
no caller's main module is imported again, and Ctrl-C reaches only who started them.
"""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from talkhouse.ingest.corpora.mantis.make.negatives import Postings, Scores, best


class TooFewTexts(Exception):
    """A corpus has fewer texts other than a response than negatives are asked for."""

    def __init__(self, category: str | None, distinct_texts: int, negatives: int, largest: int) -> None:
        super().__init__(category, distinct_texts, negatives, largest)
        self.category = category
        """The category whose documents they are; None for all documents."""
        self.distinct_texts = distinct_texts
        self.negatives = negatives
        self.largest = largest
        """The largest number of negatives that every context of this corpus can have."""

    def __str__(self) -> str:
        where = "all categories together have" if self.category is None else f"category {self.category} has"
        return f"{where} {self.distinct_texts} texts; at most {self.largest} negatives, not {self.negatives}"


class WorkerEnded(Exception):
    """A process that draws negatives ended before its work was done."""

    def __init__(self, returncode: int) -> None:
        super().__init__(returncode)
        self.returncode = returncode
        """As subprocess has it: negative for the signal that ended the process."""

    def __str__(self) -> str:
        how = f"by signal {-self.returncode}" if self.returncode < 0 else f"with exit code {self.returncode}"
        return f"a process that draws negatives ended {how}"


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
    """Return the seed of the draw for one context: no context's draw depends on another's."""
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


Asked = TypeVar("Asked")
"""The caller's data that accompany a request."""


class NegativesRequest(NamedTuple):
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

    def draw(self, request: NegativesRequest) -> Drawn:
        """Draw the negatives of one context."""
        corpus = self._corpora[request.corpus]
        scores = corpus.postings.scores(request.query)
        return Drawn(*draw(scores, corpus.texts, request.response, self._count, request.seed))

    def draw_all(self, asked: Iterable[tuple[Asked, NegativesRequest]]) -> Iterator[tuple[Asked, Drawn]]:
        """Yield the negatives for each request, with the caller's data."""
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


_BATCH = 16
"""Requests in a line. The answers to two lines fit into a pipe, so that nobody waits for a reader who waits too."""

_AHEAD = 2
"""Lines that a process has at once: one to work at, and one that waits."""


_MODULE = "talkhouse.ingest.corpora.mantis.make.sampler"
"""The name of this module also where it is the program."""


class Workers:
    """The processes."""

    def __init__(self, processes: list["subprocess.Popen[bytes]"]) -> None:
        self._processes = processes

    def draw(self, asked: Iterable[tuple[Asked, NegativesRequest]]) -> Iterator[tuple[Asked, Drawn]]:
        """Yield the negatives for each request, with the caller's data; WorkerEnded if a process ends too soon."""
        asked, turns = iter(asked), cycle(self._processes)
        waiting = deque[tuple["subprocess.Popen[bytes]", list[Asked]]]()
        while batch := list(islice(asked, _BATCH)):
            if len(waiting) == _AHEAD * len(self._processes):
                yield from _answers(*waiting.popleft())
            process = next(turns)
            _send(process, [request for _, request in batch])
            waiting.append((process, [beside for beside, _ in batch]))
        while waiting:
            yield from _answers(*waiting.popleft())


@contextmanager
def started(folder: Path, count: int, jobs: int) -> Iterator[Workers]:
    """Start processes that draw ``count`` negatives from the corpora in a folder; they end with the block."""
    command = [sys.executable, "-P", "-m", _MODULE, str(folder), str(count)]
    processes = list["subprocess.Popen[bytes]"]()
    try:
        for _ in range(jobs):
            process = subprocess.Popen(  # noqa: S603 - our own program; no shell reads the arguments
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
            )
            processes.append(process)
        yield Workers(processes)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.communicate()


def _send(process: "subprocess.Popen[bytes]", requests: list[NegativesRequest]) -> None:
    lines = cast("BinaryIO", process.stdin)
    try:
        lines.write(msgspec.json.encode(requests) + b"\n")
        lines.flush()
    except BrokenPipeError:
        raise WorkerEnded(process.wait()) from None


def _answers(process: "subprocess.Popen[bytes]", asked: list[Asked]) -> Iterator[tuple[Asked, Drawn]]:
    line = cast("BinaryIO", process.stdout).readline()
    if not line.endswith(b"\n"):
        raise WorkerEnded(process.wait())
    return zip(asked, msgspec.json.decode(line, type=list[Drawn]), strict=True)


def answer_requests(folder: str, count: str) -> None:
    """Answer requests over the corpora in a folder until standard input ends, also because its writer was killed."""
    sampler = Sampler(opened(Path(folder)), int(count))
    decoder = msgspec.json.Decoder(list[NegativesRequest])
    for line in sys.stdin.buffer:
        answers = [sampler.draw(request) for request in decoder.decode(line)]
        try:
            sys.stdout.buffer.write(msgspec.json.encode(answers) + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            os._exit(1)  # nobody reads any more; no message, as the interpreter would print at its end


if __name__ == "__main__":
    answer_requests(*sys.argv[1:])
