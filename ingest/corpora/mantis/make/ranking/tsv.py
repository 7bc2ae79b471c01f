"""Writes the TSV of one split and its lookup file, block by block."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from talkhouse.ingest.corpora.mantis.files import RANKING, Role, name
from talkhouse.ingest.corpora.mantis.make.ranking.conversation import Conversation, Example
from talkhouse.ingest.corpora.mantis.make.ranking.documents import Documents
from talkhouse.ingest.corpora.mantis.make.ranking.draw import seed_of
from talkhouse.ingest.corpora.mantis.make.ranking.sampler import Drawn, Request
from talkhouse.ingest.corpora.mantis.ranking.format import row

Draw = Callable[[Iterable[tuple[Example, Request]]], Iterator[tuple[Example, Drawn]]]

_SUBSETS = {count: subset for subset, count in RANKING.items()}
_BUFFER = 1 << 20
"""Bytes that are written at once."""


class Written(msgspec.Struct):
    """What a TSV has."""

    contexts: int = 0
    rows: int = 0
    extended: int = 0
    """Contexts whose best documents had too few texts, so that the next ones of the ranking were taken too."""


class Split(msgspec.Struct, frozen=True):
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

    def _requests(self, conversations: Iterator[Conversation]) -> Iterator[tuple[Example, Request]]:
        for conversation in conversations:
            corpus = self.corpora[None if None in self.corpora else conversation.category]
            for example in conversation.examples():
                query, response = self.documents.query(example.response), self.documents.number(example.response)
                seed = seed_of(self.seed, self.split, conversation.key, example.number, self.count)
                yield example, Request(corpus, query, response, seed)


def _block(example: Example, cells: list[bytes]) -> bytes:
    """Write the rows of a context: the response, then the negatives."""
    right = row(["1", *example.context, example.response]).encode()
    begin = row(["0", *example.context, ""]).encode()
    return (b"\n" + begin).join([right, *cells]) + b"\n"
