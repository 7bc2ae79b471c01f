"""Texts that stand in two places, among a million turns and more."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, talkhouse
from benchmarks.shapes.overlap import invent

_CASES = {
    "100,000 turns": (100_000, "repeating"),
    "1 million turns": (1_000_000, "repeating"),
    "10 million turns": (10_000_000, "repeating"),
    "1 million turns, one sentence in all": (1_000_000, "one sentence"),
}


def _case(folder: Path, *, name: str) -> Case:
    turns, text = _CASES[name]
    invent(folder / "w.duckdb", turns, text)
    output = folder / "overlap.duckdb"
    options = ("--threads", "2", "--memory-limit", "8GB" if turns > 1_000_000 else "3GB")
    ours = talkhouse("overlap", "--db", folder / "w.duckdb", "--output", output, *options, writes=output)
    return Case(name, (ours,), size=turns)


SCENARIO = Scenario(
    name="overlap",
    title="Texts that stand in two places",
    cases={name: partial(_case, name=name) for name in _CASES},
    quick=("100,000 turns",),
    measure="cpu",
    notes=(
        "Of the turns a quarter says again what another says, most of them with another word; half of the turns are "
        "examples, whose contexts are compared too.",
        "One sentence in all: each turn has it beside words of its own, the worst for what a text contains; one of a "
        "thousand consists mostly of it.",
        "No peer: tools that find near duplicates by MinHash drop short texts, miss pairs, and name no place.",
    ),
)
