"""Draws the negatives of invented conversations, 10 and 50 for each context.

    python -m benchmarks.sides.draw_negatives FOLDER JOBS

The conversations are those of ``shapes.negatives``. The rankings of a real corpus take 30 GB: they go to /dev/null.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.shapes.negatives import SHARES
from talkhouse.ingest.corpora.mantis.make.negatives import Conversation
from talkhouse.ingest.corpora.mantis.make.ranking_files import write_rankings


class Silent:
    """Shows nothing."""

    def begin(self, step: str, *, records: int = 0, unit: str = "records") -> None:
        """Show nothing."""

    def advance(self, records: int) -> None:
        """Show nothing."""


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
