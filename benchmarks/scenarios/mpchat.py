"""A speaker-identification file in MPChat's shape and size: persona elements that repeat."""

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.scenario import Case, Scenario, ingest, peer

_SCALES = {"470 MB": 1.0, "47 MB": 0.1, "almost empty": 0.0001}


def _case(scale: float, folder: Path) -> Case:
    source = folder / "mpchat_si.json"
    Inventor(scale).file(source)
    sides = (ingest("mpchat", source), peer("json.load", "json_load", source))
    return Case(sides, source.stat().st_size / 1e6)


SCENARIO = Scenario(
    name="mpchat",
    title="Load speaker identification (MPChat's shape)",
    cases={name: partial(_case, scale) for name, scale in _SCALES.items()},
    quick=("47 MB",),
    bar={"470 MB": 2},
    notes=(
        "Whole processes. The almost empty file shows what an ingest takes whatever the size.",
        "The whole file is in memory: the peak shall stay below its size and 600 MB.",
    ),
)


SIZES = {"train": 11_975, "val": 1_516, "test": 1_509}
"""Dialogues of each split, as published (paper, Table 6)."""

PERSONA_SPEAKERS = 9_000
"""About as many as the train split has (8,891)."""

CANDIDATE_AUTHORS = 100

_SYLLABLES = ("ba", "ke", "mo", "tu", "ri", "é", "lan", "do", "sh", "wi", "ner", "at")
_WORDS = [first + second for first in _SYLLABLES for second in _SYLLABLES]


class Inventor:
    """Invents persona speakers once, and dialogues that draw on them."""

    def __init__(self, scale: float = 1.0) -> None:
        self._chance = random.Random(23)
        self.sizes = {split: max(1, round(size * scale)) for split, size in SIZES.items()}
        self._owners = [self._persona(number) for number in range(max(150, round(PERSONA_SPEAKERS * scale)))]
        self._number = 0

    def file(self, path: Path) -> None:
        """Write the file: one JSON object on one line."""
        with path.open("w", encoding="utf-8") as stream:
            for index, (split, size) in enumerate(self.sizes.items()):
                stream.write(("," if index else "{") + f'"{split}":[')
                for position in range(size):
                    stream.write(("," if position else "") + json.dumps(self._dialogue(split)))
                stream.write("]")
            stream.write("}")

    def _text(self, least: int, most: int) -> str:
        return " ".join(self._chance.choices(_WORDS, k=self._chance.randint(least, most)))

    def _persona(self, owner: int) -> list[dict[str, Any]]:
        return [self._element(owner) for _ in range(self._chance.randint(1, 23))]

    def _element(self, owner: int) -> dict[str, Any]:
        name = "".join(self._chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=6))
        sub = self._chance.choice(_WORDS)
        title = self._text(4, 16)
        direct = f"https://i.example.org/{self._chance.getrandbits(60):x}.jpg"
        return {
            "id": name,
            "subreddit": sub,
            "url": f"https://www.example.org/r/{sub}/comments/{name}/",
            "score": self._chance.randrange(3_000),
            "created_utc": 1_400_000_000 + self._chance.randrange(200_000_000),
            "author": f"person_{owner}",
            "permalink": f"/r/{sub}/comments/{name}/{title[:40].replace(' ', '_')}/",
            "title": title,
            "direct_url": direct,
            "file_name": f"{name}_{direct.rsplit('/', 1)[1]}",
        }

    def _dialogue(self, split: str) -> dict[str, Any]:
        self._number += 1
        owner = self._chance.randrange(len(self._owners))
        persona = self._owners[owner]
        turns = self._chance.choices((2, 3, 4, 5, 6), (50, 28, 12, 6, 4))[0]
        ids = [f"{self._number:x}post", *(f"{self._number:x}c{turn}" for turn in range(1, turns))]
        picture = f"https://i.example.org/{self._chance.getrandbits(60):x}.jpg"
        main = self._chance.sample(persona, min(len(persona), self._chance.randint(1, 5)))
        dialogue = {
            "subreddit": self._chance.choice(_WORDS),
            "messages": [self._text(4, 24) for _ in range(turns)],
            "message_ids": ids,
            "main_author": f"person_{owner}",
            "authors": [f"person_{owner}" if turn % 2 else f"other_{self._number % 999}" for turn in range(turns)],
            "created_utcs": [1_500_000_000.0 + 60 * self._number + turn for turn in range(turns)],
            "has_image": True,
            "direct_url": picture,
            "file_name": f"{ids[0]}_{picture.rsplit('/', 1)[1]}",
            "all_personas": persona,
            "si_main_author_candidate_personas": main,
        }
        if split != "train":
            dialogue["si_candidate_authors_candidate_personas"] = [main, *self._others(owner)]
        return dialogue

    def _others(self, owner: int) -> list[list[dict[str, Any]]]:
        chosen = self._chance.sample(range(len(self._owners)), CANDIDATE_AUTHORS)
        chosen = [author for author in chosen if author != owner][: CANDIDATE_AUTHORS - 1]
        lists = (self._owners[author] for author in chosen)
        return [self._chance.sample(some, min(len(some), self._chance.randint(1, 5))) for some in lists]
