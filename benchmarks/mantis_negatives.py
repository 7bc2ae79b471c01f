"""Draws the negatives of an invented corpus of MANtIS's size: seconds, processor seconds and memory.

    uv run python -m benchmarks.mantis_negatives --texts 250000 --jobs 2

Words are drawn by Zipf's law, the most frequent ones being stop words, so that postings are as long as real ones. The
files of a real corpus take 30 GB: unless a folder for them is given, they go to /dev/null.
"""

import argparse
import itertools
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import psutil

from benchmarks.memory import peak
from talkhouse.ingest.corpora.mantis.make.ranking.conversation import Conversation
from talkhouse.ingest.corpora.mantis.make.ranking.tokenizer import STOP_WORDS
from talkhouse.ingest.corpora.mantis.make.ranking.write import write_rankings

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


def invent(folder: Path, texts: int) -> dict[str, int]:
    """Write a file for each split, a dialogue a line; return their sizes. A tenth of the texts, a tenth of all."""
    inventor, sizes = Inventor(seed=7), {}
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
        sizes[split] = count
    return sizes


class Meter:
    """Stands in for the progress bar: seconds and processor seconds of each step, and the largest memory at all."""

    def __init__(self) -> None:
        self.steps: dict[str, dict[str, float]] = {}
        self.megabytes = 0.0
        """The most that this process and its children had together, shared memory counted once."""
        self._step, self._begun, self._watched = "", _now(), time.monotonic()

    def begin(self, step: str, *, records: int = 0, unit: str = "records") -> None:
        """Begin another step."""
        self.end()
        self._step, self._begun = f"{step}: {records:,} {unit}", _now()

    def advance(self, records: int) -> None:
        """Look at the memory once in a second."""
        if records and time.monotonic() - self._watched > 1:
            self._watched = time.monotonic()
            self.megabytes = max(self.megabytes, _memory())

    def end(self) -> None:
        """Note what the step took."""
        seconds, processor = (now - begun for now, begun in zip(_now(), self._begun, strict=True))
        self.megabytes = max(self.megabytes, _memory())
        if self._step:
            self.steps[self._step] = {"seconds": round(seconds, 1), "processor": round(processor, 1)}


def _now() -> tuple[float, float]:
    """Return the time, and the processor time of this process and of its children, ended ones too."""
    used = os.times()
    running = [child.cpu_times() for child in psutil.Process().children()]
    return time.monotonic(), sum(used[:4]) + sum(times.user + times.system for times in running)


def _memory() -> float:
    own = psutil.Process()
    return sum(process.memory_full_info().pss for process in (own, *own.children())) / 1e6


def discard(folder: Path) -> None:
    """Have what is written to the files of a folder go nowhere."""
    folder.mkdir()
    for split in SHARES:
        for end in ("_easy.tsv", ".tsv"):
            (folder / f"data_{split}{end}").symlink_to(os.devnull)


def measure(texts: int, negatives: list[int], jobs: int, place: Path, target: Path | None) -> None:
    """Invent the corpus and draw its negatives."""
    sizes = invent(place, texts)
    if target is None:
        target = place / "out"
        discard(target)
    decoder = msgspec.json.Decoder(Conversation)

    def conversations(split: str) -> Iterator[Conversation]:
        with (place / f"{split}.jsonl").open("rb") as lines:
            yield from map(decoder.decode, lines)

    meter, begun = Meter(), _now()
    result = write_rankings(target, conversations, sizes, negatives=negatives, seed=1, jobs=jobs, progress=meter)
    meter.end()
    seconds, processor = (now - then for now, then in zip(_now(), begun, strict=True))
    print(json.dumps(meter.steps, indent=2))
    for count, ranking in result.items():
        contexts = sum(written.contexts for written in ranking.splits.values())
        drawn_from = sum(corpus.texts for corpus in ranking.corpora)
        print(f"{count} negatives: {contexts:,} contexts, drawn from {drawn_from:,} texts in {len(ranking.corpora)}")
    print(f"{seconds:.0f} s, {processor:.0f} s of processor time, {meter.megabytes:.0f} MB, alone {peak():.0f} MB")


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--negatives", type=int, action="append", choices=(10, 50))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where the files are written; by default nowhere")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        measure(given.texts, given.negatives or [10, 50], given.jobs, Path(place), given.folder)


if __name__ == "__main__":
    main()
