"""Scores of predictions, beside a pass over the same pairs that checks nothing, and with intervals."""

from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, Side, peer, talkhouse
from benchmarks.shapes.score import SIZE, guided, lists, messages

_COPIES = 2_741
"""Of the two guided responses of the sample's test split: as many as are published."""


def _scores(warehouse: Path, *arguments: str | Path) -> tuple[Side, Side]:
    """Return the sides that score, without intervals and with them."""
    alone = talkhouse("score", *arguments, "--db", warehouse, name="talkhouse score")
    return alone, talkhouse("score", *arguments, "--interval", "--db", warehouse, name="talkhouse score --interval")


def _guided(folder: Path) -> Case:
    table, pairs = guided(folder / "w.duckdb", _COPIES)
    alone, _ = _scores(folder / "w.duckdb", "blended_skill_talk.guided_response", table, "--split", "test")
    return Case("guided_response", (alone, peer("NLTK, the same pairs", "nltk_bleu", pairs)))


def _lists(folder: Path, *, name: str, blocks: int) -> Case:
    table, lines = lists(folder / "w.duckdb", blocks)
    task = ("mantis.response_ranking_50", "--split", "test")
    alone, interval = _scores(folder / "w.duckdb", *task, table)
    by_line = talkhouse("score", *task, lines, "--db", folder / "w.duckdb", name="talkhouse score, a score a line")
    return Case(name, (alone, peer("Polars, the same scores", "polars_ranks", table, str(SIZE)), by_line, interval))


def _messages(folder: Path) -> Case:
    messages(folder / "w.duckdb", 5_000)
    return Case("change_of_mind", _scores(folder / "w.duckdb", "delidata.change_of_mind", "--baseline", "random"))


_BLOCKS = {"response_ranking_50, 10,000 lists": 10_000, "response_ranking_50, 100,000 lists": 100_000}

SCENARIO = Scenario(
    name="score",
    title="Scores of predictions",
    cases={
        "guided_response": _guided,
        **{name: partial(_lists, name=name, blocks=blocks) for name, blocks in _BLOCKS.items()},
        "change_of_mind": _messages,
    },
    quick=("guided_response", "response_ranking_50, 10,000 lists"),
    limit={"guided_response": 1.5},
    notes=(
        f"guided_response: {2 * _COPIES:,} texts with rankings of 100; lists have {SIZE} candidates, and each is a "
        "dialogue, the most that can be drawn for an interval. All are whole processes.",
        "The invented rankings have other candidates each; published ones share most of theirs, which takes less.",
        "The peers compute three of our metrics (F1, BLEU-4, MRR) or one (MRR), trust that each example has one "
        "prediction, and break ties as they come.",
        "change_of_mind: 5,000 messages of 200 dialogues with metrics that are no means, the most work for intervals.",
    ),
)
