"""What a system answers for each example, how surely, and which candidate it puts first: a saved run keeps that."""

from talkhouse.schema.sql import literal, quoted
from talkhouse.scores.score import Scored
from talkhouse.scores.workspace import ScoringWorkspace

KEY = ("threshold", "release", "split", "example_index", "record_id")
"""What an answer, and what it scored, is known by."""


def columns_of_query(workspace: ScoringWorkspace, query: str) -> set[str]:
    """Return the names of the columns of a query."""
    return {row[0] for row in workspace.con.execute(f"describe {query}").fetchall()}


def scored_rows(scored: Scored) -> str:
    """Return the query of what each example scored at each threshold."""
    each = (f"select {_limit(turn.threshold)} as threshold, * from {turn.scored}" for turn in scored.turns)
    return " union all ".join(each)


def _limit(threshold: float | None) -> str:
    return f"{'null' if threshold is None else repr(threshold)}::double"


def answers_query(workspace: ScoringWorkspace, scored: Scored) -> str:
    """Return the query of the answer to each example that was scored.

    ``text`` is what it says where that is a text. ``sure`` is the probability or score of the label, or how far the
    first candidate is ahead of the next. ``best`` is that candidate, where no other has its score: its 0-based
    position, or its own example_index where each candidate is an example.
    """
    given = " union all ".join(
        f"select {_limit(turn.threshold)} as threshold, * from {turn.predictions.table}" for turn in scored.turns
    )
    names = [column.name for column in scored.task.columns]
    # Else each candidate of a record has a prediction.
    is_by_example = "scores" in names or "label" in names or "score" not in names
    text = "predicted.text" if "text" in names else "null"
    sure = _sure_of_label(names, columns_of_query(workspace, scored_rows(scored)))
    best = "null"
    if "scores" in names:
        ordered = "list_reverse_sort(list_filter(scores, lambda score: isfinite(score)))"
        place = "list_position(scores, list_max(scores)) - 1"
        given = f"select *, {ordered}[1] - {ordered}[2] as ahead, {place} as best from ({given})"
    elif not is_by_example:
        ordered = "list(score order by score desc) filter (isfinite(score))"
        given = (
            f"select threshold, release, split, record_id, {ordered}[1] - {ordered}[2] as ahead, "
            f"arg_max(example_index, score) as best from ({given}) group by all"
        )
    if "scores" in names or not is_by_example:
        sure, best = "predicted.ahead", "case when predicted.ahead > 0 then predicted.best end"
    same = (
        f"predicted.{name} is not distinct from scored.{name}"
        for name in KEY
        if is_by_example or name != "example_index"
    )
    return (
        f"select {', '.join(f'scored.{name}' for name in KEY)}, {text}::varchar as text, ({sure})::double as sure, "
        f"({best})::bigint as best from ({scored_rows(scored)}) as scored "
        f"left join ({given}) as predicted on {' and '.join(same)}"
    )


def _sure_of_label(names: list[str], columns: set[str]) -> str:
    """Return the SQL of the probability of the label that is said, or of its score."""
    if probabilities := [name for name in names if name.startswith("prob_")]:
        cases = (f"when {literal(name.removeprefix('prob_'))} then predicted.{quoted(name)}" for name in probabilities)
        return f"case lower(scored.label) {' '.join(cases)} end"
    if {"score", "positive"} <= columns:
        # A score of the positive label: its complement where all of them may be probabilities.
        is_probability = "min(scored.score) over () >= 0 and max(scored.score) over () <= 1"
        other = f"case when {is_probability} then 1 - scored.score else -scored.score end"
        return f"case when scored.label = scored.positive then scored.score else {other} end"
    return "null"
