"""Invented conversations in the shape and size of MANtIS's: about 5.5 turns of 90 words, keys in published order."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DIALOGUES = 80_000
"""About as many as the corpus has (80,324)."""

WORDS = 90
"""Words of a turn, on average."""

PEOPLE = 90_000
"""People of all sites; most speak once or twice."""

DOMAINS = ("apple", "askubuntu", "dba", "electronics", "gis", "physics", "security", "stats", "travel")
_QUOTED = 0.2
"""Part of the turns that have a quotation."""

_TURNS = ((4, 5, 6, 7, 8, 10, 14), (40, 18, 22, 8, 7, 4, 1))
_SYLLABLES = ("ba", "ke", "mo", "tu", "ri", "el", "lan", "do", "sh", "wi", "ner", "at", "s", "pre", "ction", "a")
_NAMELESS = 100
"""One person in so many has no name."""

_WORDS = 30_000
"""Words of the vocabulary."""

_COMMON = 400
"""The words that make half of all text, as in a language."""

_RARE = 50
"""Of the other words, one in so many has a letter that JSON escapes: texts are English."""


class Inventor:
    """Invents a vocabulary once, and conversations of it."""

    def __init__(self, seed: int, *, is_strict: bool = False) -> None:
        self._is_strict = is_strict
        self._chance = random.Random(seed)
        words = ["".join(self._chance.choices(_SYLLABLES, k=self._chance.randint(1, 5))) for _ in range(_WORDS)]
        words[_COMMON::_RARE] = (f"{word}é" for word in words[_COMMON::_RARE])
        self._words = words + words[:_COMMON] * (len(words) // _COMMON)

    def dialogue(self, number: int) -> dict[str, Any]:
        """Invent one conversation between two people."""
        chance = self._chance
        size = chance.choices(*_TURNS)[0]
        people = [self._person(person) for person in chance.sample(range(PEOPLE), 2)]
        begun = f"{2010 + number // 10_000}-{1 + number // 800 % 12:02}-{1 + number % 28:02}"
        post = 10_000 + 3 * number
        utterances = [self._utterance(turn, begun, post, people[turn % 2]) for turn in range(size)]
        return {
            "category": DOMAINS[number * len(DOMAINS) // DIALOGUES % len(DOMAINS)],
            "title": self._text(chance.randint(5, 12)),
            "dialog_time": utterances[0]["utterance_time"],
            "utterances": utterances,
            "has_concatenated_utterances": int(chance.random() < 0.1),
        }

    def _person(self, number: int) -> tuple[str | float, float]:
        """Return name and id of somebody; a few have no name, which the publisher's code writes as NaN."""
        name = f"{self._words[number % _WORDS]}{number}" if self._is_strict or number % _NAMELESS else float("nan")
        return name, float(number)

    def _utterance(self, turn: int, begun: str, post: int, person: tuple[str | float, float]) -> dict[str, Any]:
        chance = self._chance
        text = self._text(max(1, round(chance.expovariate(1 / WORDS))))
        if chance.random() < _QUOTED:
            text = f'I "{self._text(2)}": {text}'
        if turn == 1:
            text += f' <a href="https://example.org/{post}" rel="nofollow noreferrer">there.'
        return {
            "utterance": text,
            "utterance_time": f"{begun}T{8 + turn:02}:{chance.randrange(60):02}:41.{chance.randrange(1000):03}",
            "utterance_pos": turn + 1,
            "actor_type": "agent" if turn % 2 else "user",
            "user_name": person[0],
            "user_id": person[1],
            "votes": str(chance.randrange(40)),
            "id": str(post + min(turn, 1)) if turn < 2 else f"{post + 1}-{post * 4 + turn}.0",
            "is_answer": 0,
        }

    def _text(self, words: int) -> str:
        return " ".join(self._chance.choices(self._words, k=words))


def dialogues(count: int, seed: int, *, is_strict: bool = False) -> Iterator[dict[str, Any]]:
    """Invent so many conversations, the same ones for the same seed; strict ones are JSON without NaN."""
    inventor = Inventor(seed, is_strict=is_strict)
    return (inventor.dialogue(number) for number in range(count))


def write_file(path: Path, count: int, seed: int = 7, *, is_strict: bool = False) -> float:
    """Write a file as its publisher's code does, one JSON object on one line, keys from 0; return its megabytes."""
    with path.open("w", encoding="utf-8") as stream:
        for key, dialogue in enumerate(dialogues(count, seed, is_strict=is_strict)):
            stream.write((", " if key else "{") + f'"{key}": ' + json.dumps(dialogue))
        stream.write("}")
    return path.stat().st_size / 1e6
