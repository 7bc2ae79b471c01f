"""Writes ``merged_<split>.json``, a site after the other, and reads single dialogues back by where they lie."""

import json
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from talkhouse.ingest.corpora.mantis.files import MERGED, SPLITS, Role, name
from talkhouse.ingest.corpora.mantis.make.ranking.documents import Conversation


class Boundaries(NamedTuple):
    """Dialogues before ``dev`` are train, those from ``test`` on are test."""

    dev: int
    test: int
    walked: tuple[int, int]
    """Dialogues by which each boundary was moved, since they have one time."""


def boundaries(times: Sequence[Any]) -> Boundaries:
    """Return where the splits of the dialogues of one site begin, given their questions' times in order.

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
                said = dialogue["utterances"]
                roles, texts = ([one[name] for one in said] for name in ("actor_type", "utterance"))
                yield Conversation(str(key), dialogue["category"], roles, texts)
