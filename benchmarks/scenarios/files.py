"""Thousands of files of one dialogue each, loose and in an archive, as DBDC3 is published."""

import json
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from benchmarks.scenario import Case, Scenario, growing, ingest, peer

_FILES = 30_000


def _loose(count: int, folder: Path) -> Case:
    return _case(folder / ARCHIVE, write_files(folder, count))


def _zipped(count: int, folder: Path) -> Case:
    source = folder / f"{ARCHIVE}.zip"
    return _case(source, _write_zip(source, count))


def _case(source: Path, size: float) -> Case:
    return Case((ingest("dbdc3", source), peer("json.load of each", "json_load", source)), size)


def _cases(count: int) -> dict[str, partial[Case]]:
    return {f"{count:,} files": partial(_loose, count), f"{count:,} in a zip": partial(_zipped, count)}


SCENARIO = Scenario(
    name="files",
    title="Load files of one dialogue each, loose and in a zip (DBDC3's shape)",
    cases=_cases(_FILES) | _cases(500),
    quick=tuple(_cases(500)),
    bar=dict.fromkeys(_cases(_FILES), 4),
    notes=(
        "Whole processes on both sides. A file has 20 turns and 300 votes: ours stores a row for each.",
        "Files are read one after the other in memory that hardly grows with their number. That no two rows have one "
        "key is checked at the end in memory that does (see the growth below); --memory-limit bounds it.",
    ),
)

GROWTH = growing(
    "files-growth",
    "Load 1, 4 and 16 times as many files",
    _loose,
    {f"{count:,} files": count for count in (_FILES // 16, _FILES // 4, _FILES)},
)


# Invented dialogue logs as DBDC3 publishes those of IRIS: a file for each, of 66 kB, nearly all of it votes.

TURNS = 20
"""Turns of a dialogue; every other one is the system's and has votes."""

VOTES = 30
"""People who label a turn."""

PEOPLE = 2_000
ARCHIVE = "DBDC3"
FOLDER = f"{ARCHIVE}/dbdc3/en/dev/IRIS_100"
"""Where the files are in the publisher's archive."""

_SYLLABLES = ("ba", "ke", "mo", "tu", "ri", "el", "lan", "do", "sh", "wi", "ner", "at")
_WORDS = [first + second for first in _SYLLABLES for second in _SYLLABLES]
_VOTE = """
                {
                    "comment": "",
                    "ungrammatical-sentence": "",
                    "breakdown": "%s",
                    "annotator-id": "%s"
                }"""


class Inventor:
    """Invents the people who vote once, and dialogues that groups of them label."""

    def __init__(self, seed: int = 5) -> None:
        self._chance = random.Random(seed)
        people = [str(60_000_000 + 977 * number) for number in range(PEOPLE)]
        self._votes = [{label: _VOTE % (label, person) for label in "OTX"} for person in people]

    def log(self, dialogue_id: str) -> str:
        """Invent the file of a dialogue."""
        group = self._chance.sample(self._votes, VOTES)
        turns = ",\n".join(self._turn(index, group) for index in range(TURNS))
        return (
            f'{{\n    "group-id": "",\n    "speaker-id": "{self._chance.getrandbits(40)}",\n    "turns": [\n{turns}\n'
            f'    ],\n    "dialogue-id": "{dialogue_id}"\n}}'
        )

    def _turn(self, index: int, group: list[dict[str, str]]) -> str:
        words = " ".join(self._chance.choices(_WORDS, k=self._chance.randint(2, 16))).capitalize() + "."
        votes = "[]"
        if index % 2:
            labels = self._chance.choices("OTX", (50, 25, 25), k=VOTES)
            values = ",".join(person[label] for person, label in zip(group, labels, strict=True))
            votes = f"[{values}\n            ]"
        return (
            f'        {{\n            "speaker": "{"S" if index % 2 else "U"}",\n            "annotations": {votes},\n'
            f'            "utterance": {json.dumps(words)},\n            "time": "",\n'
            f'            "turn-index": {index}\n        }}'
        )


def logs(count: int) -> Iterator[tuple[str, str]]:
    """Invent so many files; yields the path and the text of each."""
    inventor = Inventor()
    for number in range(count):
        name = f"iris_{number:05}"
        yield f"{FOLDER}/{name}.log.json", inventor.log(name)


def write_files(folder: Path, count: int) -> float:
    """Write the files, each by itself, and return their megabytes."""
    (folder / FOLDER).mkdir(parents=True)
    return sum((folder / path).write_bytes(text.encode()) for path, text in logs(count)) / 1e6


def _write_zip(path: Path, count: int) -> float:
    """Write the same files as an archive, and return the megabytes of what is in it."""
    size = 0
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, text in logs(count):
            archive.writestr(name, text)
            size += len(text)
    return size / 1e6
