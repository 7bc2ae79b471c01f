"""MANtIS's files: one JSON object of conversations, and a response-ranking TSV with its conversations."""

import json
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.scenario import Case, Scenario, growing, ingest, peer

_SIZES = {"3 dialogues": 3, "5 MB": 950, "50 MB": 9_500, "430 MB": 82_000}
_LISTS = {"90 MB": 312, "1.5 GB": 5_000}
_PATIENCE = 900
"""Seconds after which a peer is stopped."""


def _conversations(dialogues: int, folder: Path, *, is_strict: bool = False) -> Case:
    source = folder / "merged_train.json"
    size = write_file(source, dialogues, is_strict=is_strict)
    database = folder / "duckdb" / "tables.duckdb"
    sides = (
        ingest("mantis", source),
        peer("DuckDB, typed read_json into two tables", "duckdb_object", source, database, writes=database),
        peer("json.load", "json_load", source),
        peer("orjson", "orjson_loads", source),
        peer("Polars, read_json", "polars_read", source, seconds=_PATIENCE),
        peer("pandas, read_json", "pandas_read", source, "utterances", seconds=_PATIENCE),
        *(
            peer(name, script, source, folder / script, writes=folder / script, seconds=_PATIENCE)
            for name, script in (
                ("datasets, from_generator", "datasets_generator"),
                ("ConvoKit, Corpus", "convokit_corpus"),
                ("dlt to DuckDB", "dlt_duckdb"),
            )
        ),
    )
    return Case(sides, size)


def _rankings(dialogues: int, folder: Path) -> Case:
    source, database = folder / "mantis", folder / "duckdb" / "lines.duckdb"
    size = _write_rankings(source, dialogues)
    lines = source / "data_train.tsv"
    sides = (
        ingest("mantis", source),
        peer("DuckDB, lines into memory", "duckdb_lines", lines, ":memory:"),
        peer("DuckDB, lines into a file", "duckdb_lines", lines, database, writes=database),
    )
    return Case(sides, size)


JSON = Scenario(
    name="json",
    title="Load one JSON object of conversations (MANtIS's shape)",
    cases={
        **{name: partial(_conversations, count) for name, count in _SIZES.items()},
        "50 MB strict": partial(_conversations, _SIZES["50 MB"], is_strict=True),
    },
    quick=("5 MB",),
    bar={"50 MB": 1.2, "430 MB": 0.8},
    notes=(
        "Whole processes on both sides, start and imports included: what 3 dialogues take is the same for every size.",
        "Ours checks every field, keeps what no table has a column for, finds texts that repeat, and checks and "
        "publishes views; the others parse, infer or cast types.",
        "The publisher writes NaN where a person has no name, which JSON does not have. orjson and Polars refuse such "
        "a file. The strict one has none: all can read it.",
        "Polars reads the object as one row with a column for each dialogue; load_dataset of datasets would, too, and "
        "is given the records of json.load. pandas makes a frame of dialogues and one of turns. ConvoKit and dlt are "
        "given the result of json.load, as their documentation shows; dlt keeps what it prepares beside the database.",
        "The whole file is in memory, ours too: its peak shall stay below the file's size and 600 MB.",
    ),
)

JSON_GROWTH = growing(
    "json-growth",
    "Load a JSON object of 1, 4 and 16 times the size",
    _conversations,
    {"27 MB": 5_125, "107 MB": 20_500, "430 MB": 82_000},
)

RANKING = Scenario(
    name="ranking",
    title="Load a ranking TSV with 50 wrong responses for each right one (MANtIS's shape)",
    cases={name: partial(_rankings, count) for name, count in _LISTS.items()},
    quick=("90 MB",),
    bar={"1.5 GB": 2},
    notes=(
        "Whole processes. Ours loads the conversations too, holds each context against their turns, finds the "
        "responses among their texts, and can write the files back. DuckDB makes a table of one text column as fast "
        "as it can: no quotes, no types, order not kept.",
        "Streamed: the TSV is never in memory as a whole; the conversations are.",
    ),
)

RANKING_GROWTH = growing(
    "ranking-growth",
    "Load a ranking TSV of 1, 4 and 16 times the size",
    _rankings,
    {"90 MB": 312, "370 MB": 1_250, "1.5 GB": 5_000},
)


# Invented files: 5.5 turns of 90 words a conversation, keys in published order; 310 kB of TSV a conversation.

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

_NEGATIVES = 50
"""Wrong responses for each right one in a ranking."""

_WINDOW = 11
"""Turns of a ranking's context at most."""


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


def _write_rankings(folder: Path, count: int) -> float:
    """Write conversations, TSV and lookup file of the train split; return the megabytes of the TSV."""
    folder.mkdir()
    talks = list(dialogues(count, seed=1))
    (folder / "merged_train.json").write_text(json.dumps(dict(enumerate(talks))), encoding="utf-8")
    texts = [[utterance["utterance"] for utterance in talk["utterances"]] for talk in talks]
    answers = [_cell(text) for talk in texts for text in talk[1::2]]
    choose = random.Random(2)
    with (
        (folder / "data_train.tsv").open("w", encoding="utf-8", newline="") as rows,
        (folder / "data_train_lookup.txt").open("w", encoding="utf-8", newline="") as keys,
    ):
        for key, talk in enumerate(talks):
            for context, response in _contexts(talk, texts[key]):
                words = "\t".join(map(_cell, context))
                rows.write(f"1\t{words}\t{_cell(response)}\n")
                rows.writelines(f"0\t{words}\t{wrong}\n" for wrong in choose.sample(answers, _NEGATIVES))
                keys.write(f"{key}\n" * (_NEGATIVES + 1))
    return (folder / "data_train.tsv").stat().st_size / 1e6


def _contexts(talk: dict[str, Any], texts: list[str]) -> Iterator[tuple[list[str], str]]:
    """Return each context with its right response, as the corpus's authors choose them."""
    users = [index for index, turn in enumerate(talk["utterances"]) if turn["actor_type"] == "user"]
    for index in users[1:]:
        if index + 1 < len(texts):
            yield texts[max(0, index + 1 - _WINDOW) : index + 1], texts[index + 1]


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if '"' in text else text
