"""Writes the response-ranking files of all splits, named and laid out as the authors' code does."""

import json
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import msgspec

from talkhouse.ingest.corpora.mantis.format import MERGED, RANKING, SPLITS, Role, name
from talkhouse.ingest.corpora.mantis.make import sampler
from talkhouse.ingest.corpora.mantis.make.negatives import (
    EPSILON,
    K1,
    TOKENIZER,
    B,
    Conversation,
    DocumentCorpus,
    Documents,
    Example,
)
from talkhouse.ingest.corpora.mantis.tsv import row
from talkhouse.ingest.progress import Progress

Draw = Callable[[Iterable[tuple[Example, sampler.NegativesRequest]]], Iterator[tuple[Example, sampler.Drawn]]]

_SUBSETS = {count: subset for subset, count in RANKING.items()}
_BUFFER = 1 << 20
"""Bytes that are written at once."""


class Written(msgspec.Struct):
    """What a TSV has."""

    contexts: int = 0
    rows: int = 0
    extended: int = 0
    """Contexts whose best documents had too few texts, so that the next ones of the ranking were taken too."""


class SplitExamples(msgspec.Struct, frozen=True):
    """What the files of one split are made with."""

    folder: Path
    split: str
    documents: Documents
    corpora: dict[str | None, int]
    """The number of the corpus of each category, or (None) of the one of all."""
    count: int
    """Negatives of a context."""
    seed: int

    def write(self, conversations: Iterator[Conversation], draw: Draw, advance: Callable[[int], None]) -> Written:
        """Write both files."""
        subset, written = _SUBSETS[self.count], Written()
        with (
            (self.folder / name(Role(subset, self.split))).open("wb", _BUFFER) as tsv,
            (self.folder / name(Role(f"{subset}_lookup", self.split))).open("wb", _BUFFER) as lookup,
        ):
            for example, drawn in draw(self._requests(conversations)):
                tsv.write(_block(example, [self.documents.cells[number] for number in drawn.texts]))
                lookup.write((example.conversation.key + "\n").encode() * (self.count + 1))
                written.contexts += 1
                written.extended += drawn.is_extended
                advance(1)
        written.rows = written.contexts * (self.count + 1)
        return written

    def _requests(self, conversations: Iterator[Conversation]) -> Iterator[tuple[Example, sampler.NegativesRequest]]:
        for conversation in conversations:
            corpus = self.corpora[None if None in self.corpora else conversation.category]
            for example in conversation.examples():
                query, response = self.documents.query(example.response), self.documents.number(example.response)
                seed = sampler.seed_of(self.seed, self.split, conversation.key, example.number, self.count)
                yield example, sampler.NegativesRequest(corpus, query, response, seed)


def _block(example: Example, cells: list[bytes]) -> bytes:
    """Write the rows of a context: the response, then the negatives."""
    right = row(["1", *example.context, example.response]).encode()
    begin = row(["0", *example.context, ""]).encode()
    return (b"\n" + begin).join([right, *cells]) + b"\n"


DRAWN_FROM = ("train", "dev")
"""The splits whose agents' texts are negatives; those of test are not."""

OF_ONE_CATEGORY = 10
"""So many negatives come from the texts of the dialogue's own category; where there are 50, they come from all."""

METHOD = {
    "tokens": TOKENIZER,
    "scores": f"BM25 of gensim 3: k1 {K1}, b {B}, epsilon {EPSILON}",
    "best": sampler.BEST,
    "draw": sampler.GENERATOR,
    "drawn_from": DRAWN_FROM,
}
"""How negatives are drawn, for manifests: with the same method and seed the same texts give the same negatives."""

Conversations = Callable[[str], Iterator[Conversation]]
"""Yields those of a split in the order of their keys, as often as it is called."""


class MadeRanking(msgspec.Struct, frozen=True):
    """What was written with one number of negatives."""

    corpora: list[DocumentCorpus]
    """What was drawn from: one corpus per category, or one of all."""
    splits: dict[str, Written]


Rankings = dict[int, MadeRanking]
"""By the number of negatives."""


def write_rankings(
    folder: Path,
    conversations: Conversations,
    sizes: Mapping[str, int],
    *,
    negatives: Sequence[int],
    seed: int,
    jobs: int,
    progress: Progress,
) -> Rankings:
    """Write the TSVs and lookup files of all splits into a folder; ``negatives`` are 10, 50, or both.

    ``sizes`` are the dialogues of each split. The same conversations and seed give the same bytes, whatever ``jobs``,
    the number of processes that draw. What a failure leaves in the folder is not whole.

    Raises TooFewTexts, before anything is written, where a context can't have so many negatives; WorkerEnded where one
    of the processes was killed.
    """
    documents = _documents(conversations, sizes, progress)
    corpora = {count: _corpora(documents, count) for count in negatives}
    for count in negatives:
        _check(documents, conversations, corpora[count], count)
    rankings = {}
    for count in negatives:
        with _drawing(documents, corpora[count], count, jobs, folder, progress) as draw:
            progress.begin(f"drawing {count} negatives", records=documents.contexts, unit="contexts")
            numbers = {corpus.category: number for number, corpus in enumerate(corpora[count])}
            written = {
                split: SplitExamples(folder, split, documents, numbers, count, seed).write(
                    conversations(split), draw, progress.advance
                )
                for split in SPLITS
            }
        rankings[count] = MadeRanking(corpora[count], written)
    return rankings


def _documents(conversations: Conversations, sizes: Mapping[str, int], progress: Progress) -> Documents:
    progress.begin("reading the texts for negatives", records=sum(sizes.values()), unit="dialogues")
    documents = Documents()
    for split in SPLITS:
        for conversation in conversations(split):
            documents.add(conversation, is_drawn_from=split in DRAWN_FROM)
            progress.advance(1)
    return documents


def _corpora(documents: Documents, count: int) -> list[DocumentCorpus]:
    return [documents.corpus(category) for category in (documents.categories if count == OF_ONE_CATEGORY else [None])]


def _check(documents: Documents, conversations: Conversations, corpora: list[DocumentCorpus], count: int) -> None:
    """Raise TooFewTexts for the corpus that has the fewest texts, if that is too few for one of its contexts."""
    small = {corpus.category: corpus for corpus in corpora if corpus.distinct_texts <= count}
    if not small:
        return
    examples = (
        example for split in SPLITS for conversation in conversations(split) for example in conversation.examples()
    )
    fewest = documents.fewest(examples, small)
    for category in sorted(fewest, key=lambda category: fewest[category])[:1]:
        if fewest[category] < count:
            raise sampler.TooFewTexts(category, small[category].distinct_texts, count, fewest[category])


@contextmanager
def _drawing(
    documents: Documents, corpora: list[DocumentCorpus], count: int, jobs: int, folder: Path, progress: Progress
) -> Iterator[Draw]:
    """Index the texts, and have them drawn from here or in other processes."""
    progress.begin(f"indexing the texts for {count} negatives", records=len(corpora), unit="corpora")
    searched = _searched(documents, corpora, progress)
    if jobs == 1:
        yield sampler.Sampler(list(searched), count).draw_all
        return
    with tempfile.TemporaryDirectory(dir=folder, prefix=".postings-") as place:
        sampler.save(searched, Path(place))
        with sampler.started(Path(place), count, jobs) as workers:
            yield workers.draw


def _searched(documents: Documents, corpora: list[DocumentCorpus], progress: Progress) -> Iterator[sampler.Searched]:
    for corpus in corpora:
        yield sampler.Searched(documents.postings(corpus.category), documents.texts(corpus.category))
        progress.advance(1)


class Boundaries(NamedTuple):
    """Dialogues before ``dev`` are train, those from ``test`` on are test."""

    dev: int
    test: int
    walked: tuple[int, int]
    """Dialogues by which each boundary was moved, since they have one time."""


def boundaries(times: Sequence[Any]) -> Boundaries:
    """Return the positions at which the splits of one site's dialogues begin, from their questions' times in order.

    A boundary moves to the last of a run of equal times, which then opens the next split, while the rest of the run
    stays in the split before (as in the authors' code, which stops with an error where the run reaches the end).
    Where 15 % are not one dialogue, dev takes all that is left.
    """
    count = len(times)
    first = int(0.7 * count)
    dev = _last_equal(times, first)
    share = int(0.15 * count)
    if not share:
        return Boundaries(dev, count, (dev - first, 0))
    second = min(dev + share, count)
    test = _last_equal(times, second)
    return Boundaries(dev, test, (dev - first, test - second))


def _last_equal(times: Sequence[Any], index: int) -> int:
    while index + 1 < len(times) and times[index] == times[index + 1]:
        index += 1
    return index


def slices(cut: Boundaries, count: int) -> dict[str, range]:
    """Return the dialogues of each split, by their number."""
    edges = (0, cut.dev, cut.test, count)
    return {split: range(*edge) for split, edge in zip(("train", "dev", "test"), pairwise(edges), strict=True)}


class Merged:
    """The three files of dialogues in a folder; their keys count from 0 in each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._files: dict[str, IO[bytes]] = {}
        self._ends = {split: array("Q") for split in SPLITS}
        self._starts = {split: array("Q") for split in SPLITS}

    def __enter__(self) -> Self:
        for split in SPLITS:
            path = self._folder / name(Role(MERGED, split))
            self._files[split] = self._stack.enter_context(path.open("wb"))
            self._files[split].write(b"{")
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.write(b"}")
        self._stack.close()

    def add(self, split: str, dialogue: bytes) -> None:
        """Append a dialogue, which is JSON as Python's ``json`` writes it."""
        file, key = self._files[split], len(self._starts[split])
        file.write(b'%s"%d": ' % (b", " if key else b"", key))
        self._starts[split].append(file.tell())
        file.write(dialogue)
        self._ends[split].append(file.tell())

    @property
    def sizes(self) -> dict[str, int]:
        """Dialogues of each split."""
        return {split: len(starts) for split, starts in self._starts.items()}

    def conversations(self, split: str) -> Iterator[Conversation]:
        """Read the dialogues of a split, when all are written."""
        with (self._folder / name(Role(MERGED, split))).open("rb") as file:
            for key, (start, end) in enumerate(zip(self._starts[split], self._ends[split], strict=True)):
                file.seek(start)
                dialogue: dict[str, Any] = json.loads(file.read(end - start))
                utterances = dialogue["utterances"]
                roles, texts = ([utterance[name] for utterance in utterances] for name in ("actor_type", "utterance"))
                yield Conversation(str(key), dialogue["category"], roles, texts)
