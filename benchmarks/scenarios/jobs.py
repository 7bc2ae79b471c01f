"""One's own chat logs in many files, read by two processes and by one."""

import json
from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, talkhouse
from benchmarks.shapes.own import Inventor

_FILE = 3_000_000
"""Bytes of a file."""

_PAGE = """title = "Own talks"
format = "chat"
[dialogue]
id = "id"
[turn]
speaker = "name"
said_at = "at"
[[files]]
path = "*.jsonl"
"""


def _case(name: str, files: int, folder: Path) -> Case:
    corpus = folder / "data" / "own_talks"
    corpus.mkdir(parents=True)
    (corpus / "corpus.toml").write_text(_PAGE)
    inventor, number = Inventor(), 0
    for file in range(files):
        with (corpus / f"{file:05}.jsonl").open("w", encoding="utf-8") as stream:
            while stream.tell() < _FILE:
                stream.write(json.dumps(inventor.named(number), ensure_ascii=number % 2 == 0) + "\n")
                number += 1
    sides = []
    for jobs in (2, 1):
        database = folder / f"by_{jobs}" / "warehouse.duckdb"
        arguments = ("--data", folder / "data", "--db", database, "--jobs", str(jobs))
        sides.append(talkhouse("build", *arguments, name=f"talkhouse build --jobs {jobs}", writes=database))
    return Case(name, tuple(sides), sum(path.stat().st_size for path in corpus.iterdir()) / 1e6)


def _named(files: int) -> tuple[str, partial[Case]]:
    name = f"{files} files of 3 MB"
    return name, partial(_case, name, files)


_SMALL = dict([_named(12)])

SCENARIO = Scenario(
    name="jobs",
    title="Load chat logs in many files, by two processes and by one",
    cases=dict([_named(200)]) | _SMALL,
    quick=tuple(_SMALL),
    bar={"200 files of 3 MB": 1.15},
    measure="cpu",
    notes=(
        "No id is in two files: a file that has an id of another one is read twice.",
        "One process keeps more than one core busy, since DuckDB decodes and inserts beside Python: on two cores, two "
        "processes are no faster.",
    ),
)
