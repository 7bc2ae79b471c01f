"""``talkhouse search`` beside Polars and grep on the same texts."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, Side, peer, talkhouse
from benchmarks.shapes.search import invent

_TURNS = {"20,000 turns": 20_000, "440,160 turns": 440_160}
_NAMES = (
    "rare text",
    "frequent text",
    "frequent text, 1,000 given",
    "absent text",
    "rare text, any case",
    "rare expression",
    "frequent expression",
)


def _case(folder: Path, *, turns: str, name: str) -> Case:
    sought = invent(_TURNS[turns], folder)[name]
    options = ["-c", "-E" if sought.is_regex else "-F", *(["-i"] if "-i" in sought.options else [])]
    # It ends with 1 where it finds nothing.
    grep = ("sh", "-c", 'grep "$@" || test $? -eq 1', "grep", *options)
    how = "regex" if sought.is_regex else "literal"
    return Case(
        f"{name}, {turns}",
        (
            talkhouse("search", sought.text, *sought.options, "--db", folder / "w.duckdb", name="talkhouse search"),
            peer("Polars", "polars_search", folder / "turns.parquet", sought.pattern, how),
            Side("grep", (*grep, "-e", sought.text, str(folder / "turns.txt"))),
        ),
        size=_TURNS[turns],
    )


SCENARIO = Scenario(
    name="search",
    title="Search the turns",
    cases={f"{name}, {turns}": partial(_case, turns=turns, name=name) for turns in _TURNS for name in _NAMES},
    quick=("rare text, 20,000 turns", "frequent expression, 20,000 turns"),
    notes=(
        "Whole processes; all count every hit. Talkhouse also gives the first 50, or 1,000, in order and with their "
        "neighbours; Polars the first in order, grep none. Turns have 90 words.",
    ),
)
