"""Drawing the wrong responses of a response ranking, in one process and in two.

    python -m benchmarks.scenarios.negatives FOLDER JOBS

draws the negatives of invented conversations, 10 and 50 for each context. The rankings of a real corpus take 30 GB:
they go to /dev/null.
"""

import itertools
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.scenario import Case, Scenario, module
from talkhouse.ingest.corpora.mantis.make.negatives import STOP_WORDS, Conversation
from talkhouse.ingest.corpora.mantis.make.ranking_files import write_rankings
from talkhouse.ingest.progress import Silent


def _case(texts: int, folder: Path) -> Case:
    write_splits(folder, texts)
    sides = (
        module(name, __name__, folder, str(jobs), is_part=False)
        for name, jobs in (("2 processes", 2), ("1 process", 1))
    )
    return Case(tuple(sides), texts)


SCENARIO = Scenario(
    name="negatives",
    title="Draw 10 and 50 wrong responses for each context (MANtIS's shape)",
    cases={"25,000 texts": partial(_case, 25_000)},
    quick=(),
    notes=(
        "Whole processes. MANtIS itself has 250,000 texts, from which two minutes with 10 and six with 50 wrong "
        "responses each are known. The files, 30 GB there, go to /dev/null.",
        "Memory that the processes share is counted once for each.",
    ),
)


# Invented conversations in the proportions of MANtIS's. Words are drawn by Zipf's law, the most frequent ones being
# stop words, so that postings are as long as real ones.

SITES = (5645, 17755, 5197, 1528, 10690, 3231, 2982, 9095, 7826, 2214, 3752, 7676, 1433, 1300)
"""Dialogues of each of the 14 sites, in their order."""

TEXTS = 250_000
"""Agents' texts."""

SHARES = {"train": 0.7, "dev": 0.15, "test": 0.15}
"""Part of the dialogues of each site."""

WORDS = 90
"""Words of a text, on average; lengths are distributed exponentially."""

VOCABULARY = 300_000
FLATTENED = 2.7
"""What Mandelbrot adds to the ranks of Zipf's law."""

_LETTERS = "bcdfghjklmnpqrstvwxz"


class Inventor:
    """Invents texts of words by Zipf's law."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._draws = np.random.Generator(np.random.PCG64(seed))
        stops = sorted(STOP_WORDS)
        codes = itertools.islice(itertools.product(_LETTERS, repeat=5), VOCABULARY - len(stops))
        self._words = np.array([*stops, *map("".join, codes)], object)
        weights = 1 / (np.arange(VOCABULARY) + FLATTENED)
        self._shares = np.cumsum(weights / weights.sum())

    def text(self) -> str:
        """Invent a text."""
        size = 1 + int(self.chance.expovariate(1 / WORDS))
        return " ".join(self._words[np.searchsorted(self._shares[:-1], self._draws.random(size))].tolist())

    def conversation(self, key: int, site: int, agents: int) -> Conversation:
        """Invent one in which user and agent take turns, and the agent is the last."""
        texts = [self.text() for _ in range(2 * agents)]
        texts[1] += f' <a href="https://example.org/{key}" rel="nofollow noreferrer">there.'
        return Conversation(str(key), f"site{site}", ["user", "agent"] * agents, texts)


def write_splits(folder: Path, texts: int) -> None:
    """Write a file for each split, a dialogue a line. A tenth of the texts, a tenth of the dialogues of each site."""
    inventor = Inventor(seed=7)
    dialogues = TEXTS / sum(SITES)
    for split, share in SHARES.items():
        count = 0
        with (folder / f"{split}.jsonl").open("wb") as stream:
            for site, size in enumerate(SITES):
                for _ in range(round(size * share * texts / TEXTS)):
                    agents = 2
                    while inventor.chance.random() > 1 / (dialogues - 1):
                        agents += 1
                    stream.write(msgspec.json.encode(inventor.conversation(count, site, agents)) + b"\n")
                    count += 1


def draw(folder: Path, target: Path, jobs: int) -> None:
    """Draw them, and have the files go nowhere."""
    for split in SHARES:
        for end in ("_easy.tsv", ".tsv"):
            (target / f"data_{split}{end}").symlink_to(os.devnull)
    decoder = msgspec.json.Decoder(Conversation)

    def conversations(split: str) -> Iterator[Conversation]:
        with (folder / f"{split}.jsonl").open("rb") as lines:
            yield from map(decoder.decode, lines)

    sizes = {split: sum(1 for _ in conversations(split)) for split in SHARES}
    write_rankings(target, conversations, sizes, negatives=[10, 50], seed=1, jobs=jobs, progress=Silent())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        draw(Path(sys.argv[1]), Path(place), int(sys.argv[2]))
