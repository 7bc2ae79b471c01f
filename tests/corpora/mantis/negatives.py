"""Invents dialogues for response ranking, has its files written, and reads them again."""

import csv
import io
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from talkhouse.ingest.corpora.mantis.make.negatives import Conversation
from talkhouse.ingest.corpora.mantis.make.ranking_files import Rankings, write_rankings
from talkhouse.ingest.progress import Silent as Silent

SPLITS = ("train", "dev", "test")
ENDS = {10: "_easy", 50: ""}
WORDS = ["tram", "bus", "ferry", "hostel", "visa", "cabin", "drill", "joist", "beam", "glue", "the", "of", "and", "it"]

Talks = dict[str, list[Conversation]]
"""Dialogues by split."""


def invent(number: int, dialogues: int = 60) -> Talks:
    """Invent dialogues of two sites; texts are often repeated, some hold quotes, tabs or no word at all."""
    some = Random(number)  # noqa: S311 - invented data

    def text() -> str:
        words = " ".join(some.choices(WORDS, k=some.randrange(1, 9)))
        return some.choice(["thanks", "...", f'a "{words}"', f"{words}\té", *[f"{words} {some.randrange(99)}"] * 9])

    def talk(key: int) -> Conversation:
        roles = some.choice([["user", "agent"] * some.randint(2, 9), ["user", "agent", "user", "agent", "user"]])
        return Conversation(str(key), some.choice(["diy", "travel"]), roles, [text() for _ in roles])

    return {split: [talk(key) for key in range(dialogues)] for split in SPLITS}


def write(folder: Path, talks: Talks, **more: Any) -> Rankings:
    """Write the files of some dialogues; options that are not given are usual ones."""
    sizes = {split: len(some) for split, some in talks.items()}
    folder.mkdir(exist_ok=True)
    options = {"negatives": (10, 50), "seed": 1, "jobs": 1, "progress": Silent()} | more
    return write_rankings(folder, lambda split: iter(talks[split]), sizes, **options)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def fixed() -> Talks:
    """Return dialogues without any chance, so that they are the same in every version of Python."""
    texts = [f'{WORDS[at * at % 11]} {WORDS[at * 7 % 13]}, "{WORDS[at % 5]}" {at % 97} é' for at in range(720)]
    talks = [
        Conversation(str(at), ("diy", "travel")[at % 2], ["user", "agent"] * 3, texts[at * 6 :][:6])
        for at in range(120)
    ]
    return {split: talks[at * 40 :][:40] for at, split in enumerate(SPLITS)}


class Block(NamedTuple):
    key: str
    context: list[str]
    response: str
    negatives: list[str]


def blocks(folder: Path, split: str, count: int) -> list[Block]:
    """Read the files of a split as anybody would; every block must have one context, key and right response."""
    tsv = (folder / f"data_{split}{ENDS[count]}.tsv").read_bytes().decode()
    rows = list(csv.reader(io.StringIO(tsv, newline=""), delimiter="\t"))
    keys = (folder / f"data_{split}{ENDS[count]}_lookup.txt").read_text().splitlines()
    assert len(rows) == len(keys)
    found = []
    for at in range(0, len(rows), count + 1):
        block = rows[at : at + count + 1]
        assert [row[0] for row in block] == ["1", *"0" * count]
        assert len({tuple(row[1:-1]) for row in block}) == len(set(keys[at : at + count + 1])) == 1
        found.append(Block(keys[at], block[0][1:-1], block[0][-1], [row[-1] for row in block[1:]]))
    return found
