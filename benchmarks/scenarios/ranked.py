"""``talkhouse search --rank`` beside Tantivy on the same texts."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, module, peer
from benchmarks.shapes.ranked import invent

_TURNS = {"100,000 turns": 100_000, "1 million turns": 1_000_000, "10 million turns": 10_000_000}


def _case(folder: Path, *, name: str) -> Case:
    invent(_TURNS[name], folder)
    queries = folder / "queries.json"
    ours = module("Talkhouse", "benchmarks.sides.rank_texts", folder / "w.duckdb", queries)
    theirs = peer("Tantivy", "tantivy_search", folder / "turns.parquet", queries, folder / "tantivy", is_part=True)
    return Case(name, (ours, theirs), size=_TURNS[name])


SCENARIO = Scenario(
    name="ranked",
    title="Rank texts by their words",
    cases={name: partial(_case, name=name) for name in _TURNS},
    quick=("100,000 turns",),
    measure="cpu",
    notes=(
        "Each part warm, in one process. Talkhouse gives the texts with their marks, and counts by corpus, split, role "
        "and kind; Tantivy the numbers of the first 50 and how many there are.",
        "Tantivy keeps the length of a text in one byte, so that its scores are not those of the formula, and finds "
        "all texts that have any word; we leave out those that have only words of more than a tenth of all texts.",
    ),
)
