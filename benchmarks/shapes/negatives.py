"""Invented conversations to draw negatives from, in the proportions of MANtIS's.

Words are drawn by Zipf's law, the most frequent ones being stop words, so that postings are as long as real ones.
"""

import itertools
import random
from pathlib import Path

import msgspec
import numpy as np

from talkhouse.ingest.corpora.mantis.make.negatives import STOP_WORDS, Conversation

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
        ranks = np.searchsorted(self._shares[:-1], self._draws.random(size))
        return " ".join(self._words[ranks].tolist())

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
