"""Thousands of files of one dialogue each, loose and in an archive, as DBDC3 is published."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, growing, ingest, peer
from benchmarks.shapes import dbdc3

_FILES = 30_000


def _loose(name: str, count: int, folder: Path) -> Case:
    size = dbdc3.loose(folder, count)
    source = folder / dbdc3.FOLDER.split("/")[0]
    return Case(name, (ingest("dbdc3", source), peer("json.load of each", "json_load", source)), size)


def _zipped(name: str, count: int, folder: Path) -> Case:
    source = folder / "DBDC3.zip"
    size = dbdc3.zipped(source, count)
    return Case(name, (ingest("dbdc3", source), peer("json.load of each", "json_load", source)), size)


def _cases(count: int) -> dict[str, partial[Case]]:
    names = (f"{count:,} files", f"{count:,} in a zip")
    return {name: partial(make, name, count) for name, make in zip(names, (_loose, _zipped), strict=True)}


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
