"""Where one system or two are right and wrong: of each example the gold answer, what was said, and how surely."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from talkhouse.schema.errors import CatalogueError, UsageError
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql import literal, quoted
from talkhouse.scores.comparison import OTHER_ROWS, comparable_runs, load_examples, load_predictions, without_examples
from talkhouse.scores.examples import Chosen
from talkhouse.scores.predictions import right_predictions
from talkhouse.scores.saved_runs import open_saved, path_for, saved
from talkhouse.scores.score import Scored
from talkhouse.scores.task import ScoredTask, task
from talkhouse.scores.workspace import ScoringTable, ScoringWorkspace
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.rows_hash import splits


class OutcomeKind(StrEnum):
    """What a system gives for an example."""

    LABEL = "label"
    LABELS = "labels"
    RANKING = "ranking"
    TEXT = "text"


ONE = ("right", "wrong")
"""The outcomes of one system."""

TWO = ("both right", "only the first", "only the second", "both wrong")
"""Which of two systems are right."""


@dataclass(frozen=True)
class System:
    """What a system scored, and what it predicted, at each threshold."""

    scored: str
    """A query of what each example scored, with ``threshold``."""
    predicted: str | None
    """A query of its predictions, with ``threshold``; None: they were not kept."""


def system_of(scored: Scored) -> System:
    """Return what was scored as a system."""
    limits = [("null" if turn.threshold is None else repr(turn.threshold), turn) for turn in scored.turns]
    return System(
        " union all ".join(f"select {limit}::double as threshold, * from {turn.scored}" for limit, turn in limits),
        " union all ".join(
            f"select {limit}::double as threshold, * from {turn.predictions.table}" for limit, turn in limits
        ),
    )


_KEY = ("threshold", "release", "split", "example_index", "record_id")


def create_outcomes(workspace: ScoringWorkspace, of: ScoredTask, systems: Sequence[System]) -> ScoringTable:
    """Create a table of each example with its place, its gold answer, and what one system or two say of it.

    A label or text is right where it is the gold one, several labels where they are just the gold ones, a ranking where
    the gold candidate alone is first. ``..._sure`` is the probability or score of the label, or how far the first
    candidate is ahead of the next; null where the predictions have neither.

    Raises UsageError where the two are not of the same examples, CatalogueError for a task whose SQL says of no
    example whether it is right.
    """
    kind = _kind(workspace, of, systems)
    judged = [workspace.create("judged", _judged(workspace, of, kind, system)) for system in systems]
    first, second = judged[0], judged[-1]
    same = " and ".join(f"second.{name} is not distinct from first.{name}" for name in _KEY)
    said = "".join(
        f"{side}.{column} as {side}{'' if column == 'said' else f'_{column}'}, "
        for side in ("first", "second")[: len(systems)]
        for column in ("said", "is_right", "sure", "rank", "best", "f1")
    )
    gold, beside = "first.gold", ""
    if kind is OutcomeKind.TEXT:
        right = right_predictions(workspace, of, first)
        gold = "answers.text"
        beside = f"left join {right} as answers on " + " and ".join(
            f"answers.{name} is not distinct from first.{name}" for name in ("release", "split", "example_index")
        )
    table = workspace.create(
        "outcomes",
        f"""
        with lengths as (
            select dialogue_id, count(*) as turns
            from main.turns where dialogue_id in (select dialogue_id from {first}) group by dialogue_id
        )
        select
            {literal(of.name)} as task, {literal(kind.value)} as kind, {_outcome(len(systems))} as outcome,
            first.* exclude (gold, said, is_right, sure, rank, best, f1, candidates),
            examples.turn_index, examples.item_index, records.subset, dialogues.language, dialogues.domain,
            lengths.turns, len(turns.text) as characters, {said} {gold} as gold, first.candidates
        from {first} as first
        inner join {second} as second on {same}
        inner join main.examples
            on examples.corpus_id = {literal(of.query.schema)} and examples.task = {literal(of.query.name)}
            and examples.release is not distinct from first.release and examples.split = first.split
            and examples.example_index = first.example_index and examples.record_id = first.record_id
        inner join main.records on records.record_id = first.record_id
        left join main.dialogues on dialogues.dialogue_id = first.dialogue_id
        left join main.turns on turns.dialogue_id = first.dialogue_id and turns.turn_index = examples.turn_index
        left join lengths on lengths.dialogue_id = first.dialogue_id
        {beside}
        order by first.threshold, first.release nulls first, first.split, first.example_index
        """,
    )
    counts = [workspace.count(one) for one in (*judged, table)]
    if len(set(counts)) > 1 or not counts[0]:
        raise UsageError(
            "the predictions are not of the same examples",
            found=f"{counts[0]:,} and {counts[-2]:,} examples, of which {counts[-1]:,} are the same",
            next_step="score both on the same splits of this warehouse",
        )
    workspace.drop(judged)
    return table


def _outcome(systems: int) -> str:
    if systems == 1:
        return f"if(first.is_right, {literal(ONE[0])}, {literal(ONE[1])})"
    both, only_first, only_second, neither = map(literal, TWO)
    return (
        f"case when first.is_right then if(second.is_right, {both}, {only_first}) "
        f"when second.is_right then {only_second} else {neither} end"
    )


def _columns(workspace: ScoringWorkspace, query: str) -> set[str]:
    return {row[0] for row in workspace.con.execute(f"describe {query}").fetchall()}


def _kind(workspace: ScoringWorkspace, of: ScoredTask, systems: Sequence[System]) -> OutcomeKind:
    """Return what the systems give, by the columns of what they scored: texts come before their rankings."""
    columns = set.intersection(*(_columns(workspace, system.scored) for system in systems))
    if {"gold", "labels"} <= columns:
        return OutcomeKind.LABELS
    if {"gold", "label"} <= columns:
        return OutcomeKind.LABEL
    if {"guess", "answer"} <= columns:
        given = " union all ".join(f"select guess from ({system.scored})" for system in systems)
        ((has_texts,),) = workspace.con.execute(f"select count(guess) > 0 from ({given})").fetchall()
        if has_texts or "above" not in columns:
            return OutcomeKind.TEXT
    if "above" in columns:
        return OutcomeKind.RANKING
    raise CatalogueError(
        f"the SQL of {of.name} does not say of an example whether it is right",
        where=of.query.path,
        expected="the columns gold and label, gold and labels, guess and answer, or above and tied",
        found=f"the columns {', '.join(sorted(columns))}",
        next_step="give these columns, or see what each example scores: talkhouse score --examples FILE",
    )


class _Saying(NamedTuple):
    """SQL over ``scored`` and ``predicted``: what an example says, and how surely."""

    said: str = "null::varchar"
    gold: str = "null::varchar"
    is_right: str = "false"
    sure: str = "null::double"
    best: str = "null::bigint"
    f1: str = "null::double"


def _judged(workspace: ScoringWorkspace, of: ScoredTask, kind: OutcomeKind, system: System) -> str:
    """Return the query of what a system says of each example."""
    columns = _columns(workspace, system.scored)
    given = set() if system.predicted is None else _columns(workspace, system.predicted)
    rank, right = _rank(columns)
    if kind is OutcomeKind.LABEL:
        said = _Saying("scored.label", "scored.gold", "scored.label = scored.gold", _sure_of_label(of, columns, given))
    elif kind is OutcomeKind.LABELS:
        said = _Saying(*(f"array_to_string(list_sort(scored.{name}), ', ')" for name in ("labels", "gold")))
        said = said._replace(is_right="list_sort(scored.labels) = list_sort(scored.gold)")
    elif kind is OutcomeKind.RANKING:
        said = _Saying(is_right=right)
    else:
        words = "len(metrics.words(scored.guess)) + len(metrics.words(scored.answer))"
        f1 = f"2 * metrics.shared_words(metrics.words(scored.guess), metrics.words(scored.answer))::double / ({words})"
        said = _Saying(
            "predicted.text" if "text" in given else "scored.guess", is_right="scored.guess = scored.answer", f1=f1
        )
    if given & {"scores", "score"} and kind in (OutcomeKind.RANKING, OutcomeKind.TEXT):
        is_ranked = kind is OutcomeKind.RANKING
        said = said._replace(
            sure="predicted.ahead" if is_ranked else said.sure, best="if(predicted.ahead = 0, null, predicted.best)"
        )
    predicted = (
        ""
        if not given
        else f"left join ({_leads(system, given)}) as predicted on "
        + " and ".join(
            f"predicted.{name} is not distinct from scored.{name}"
            for name in (_KEY if _is_by_example(given) else ("threshold", "release", "split", "record_id"))
        )
    )
    return (
        f"select {', '.join(f'scored.{name}' for name in _KEY)}, scored.dialogue_id, {said.said} as said, "
        f"{said.gold} as gold, coalesce({said.is_right}, false) as is_right, {said.sure} as sure, {rank} as rank, "
        f"{said.best} as best, {said.f1} as f1, "
        f"{'scored.candidates' if 'candidates' in columns else 'null'}::bigint as candidates "
        f"from ({system.scored}) as scored {predicted}"
    )


def _rank(columns: set[str]) -> tuple[str, str]:
    """Return the SQL of the mean rank of the right candidate, and of whether it is first for certain."""
    if "above" not in columns:
        return "null::double", "false"
    if "tied_with_best" in columns:  # several candidates may be right
        return (
            "scored.first_above + (scored.first_tied + 1) / 2",
            "scored.above + scored.tied_with_best - scored.right_ones < 1",
        )
    return "scored.above + (scored.tied + 1) / 2", "scored.above = 0 and scored.tied = 1"


def _sure_of_label(of: ScoredTask, columns: set[str], given: set[str]) -> str:
    """Return the SQL of the probability of the label that was said, or of its score."""
    names = [one.name for one in of.columns if one.name.startswith("prob_") and one.name in given]
    if names:
        cases = (f"when {literal(name.removeprefix('prob_'))} then predicted.{quoted(name)}" for name in names)
        return f"case lower(scored.label) {' '.join(cases)} end"
    if {"score", "positive"} <= columns:
        # A score of the positive label: its complement where all of them may be probabilities.
        is_probability = "min(scored.score) over () >= 0 and max(scored.score) over () <= 1"
        other = f"case when {is_probability} then 1 - scored.score else -scored.score end"
        return f"case when scored.label = scored.positive then scored.score else {other} end"
    return "null::double"


def _is_by_example(given: set[str]) -> bool:
    """Whether each example that is scored has a prediction of its own; else each candidate of a record has one."""
    return "scores" in given or "score" not in given or "label" in given


def _leads(system: System, given: set[str]) -> str:
    """Return the query of predictions with the best candidate, and how far it is ahead of the next."""
    if "scores" in given:
        ordered = "list_reverse_sort(list_filter(scores, lambda score: isfinite(score)))"
        best = "list_position(scores, list_max(scores)) - 1"
        return f"select *, {ordered}[1] - {ordered}[2] as ahead, {best} as best from ({system.predicted})"
    if _is_by_example(given):
        return system.predicted or ""
    ordered = "list(score order by score desc) filter (isfinite(score))"
    return (
        f"select threshold, release, split, record_id, {ordered}[1] - {ordered}[2] as ahead, "
        f"arg_max(example_index, score) as best from ({system.predicted}) group by all"
    )


def outcomes_of_runs(
    workspace: ScoringWorkspace, warehouse: Path, names: Sequence[str], settings: Settings = NO_SETTINGS
) -> ScoringTable:
    """Create the outcomes of a saved run, or of two; ``settings`` are those of their file.

    Raises UsageError for an unknown run, for runs that are not of the same examples, and where their examples are not
    those of the warehouse.
    """
    opened = Warehouse(workspace.con)
    opened.check_views()
    runs = comparable_runs(saved(warehouse, settings=settings), names)
    of = task(runs[0]["task"], opened.catalogue)
    _check_splits(workspace, of, runs[0])
    with open_saved(path_for(warehouse), settings) as store:
        systems = [
            System(
                f"from {load_examples(store, run, of, workspace)}",
                None if (rows := load_predictions(store, run, of, workspace)) is None else f"from {rows}",
            )
            for run in runs
        ]
    try:
        return create_outcomes(workspace, of, systems)
    except OTHER_ROWS as error:
        raise without_examples("one of the runs", str(error).splitlines()[0]) from error


def _check_splits(workspace: ScoringWorkspace, of: ScoredTask, run: dict[str, Any]) -> None:
    """Refuse a run whose examples are others now: they would be shown beside the wrong turns."""
    known = splits(workspace.con, of.query.schema, of.query.name)
    releases = run["releases"] or [None]
    chosen = Chosen(tuple(one for one in known if one.split in run["splits"] and one.release in releases))
    if chosen.fingerprint != run["view_fingerprint"]:
        raise UsageError(
            f"the examples of the run '{run['run']}' are not those of this warehouse",
            found=f"the fingerprint {chosen.fingerprint}, and the run has {run['view_fingerprint']}",
            next_step="score its predictions again, and save them under another name",
        )
