"""Where one system or two are right and wrong: of each example the gold answer, what was said, and how surely."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from talkhouse.schema.errors import CatalogueError, UsageError
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql import column_types, literal
from talkhouse.schema.sql_files import sql_of
from talkhouse.scores.comparison import OTHER_ROWS, comparable_runs, load_answers, load_examples, without_examples
from talkhouse.scores.examples import Chosen
from talkhouse.scores.predictions import right_predictions
from talkhouse.scores.saved_runs import open_saved, path_for, saved
from talkhouse.scores.score import KEY, Scored, answers_query, scored_rows
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
    """What a system scored and answered, at each threshold."""

    scored: str
    """A query of what each example scored."""
    answers: str | None
    """A query of its answers; None: they were not kept."""


def system_of(workspace: ScoringWorkspace, scored: Scored) -> System:
    """Return the scored predictions as a system."""
    return System(scored_rows(scored), answers_query(workspace, scored))


def create_outcomes(workspace: ScoringWorkspace, of: ScoredTask, systems: Sequence[System]) -> ScoringTable:
    """Create a table of each example with its place, its gold answer, and what one system or two say of it.

    A label or text is right where it is the gold one, several labels where they are just the gold ones, a ranking where
    the gold candidate alone is first. ``..._sure`` is the probability or score of the label, or how far the first
    candidate is ahead of the next; null where the predictions have neither.

    Raises UsageError where the two are not of the same examples, CatalogueError for a task whose SQL says of no
    example whether it is right.
    """
    kind = _kind(workspace, of, systems)
    judged = [workspace.create("judged", _judged(workspace, kind, system)) for system in systems]
    first, second = judged[0], judged[-1]
    same = " and ".join(f"second.{name} is not distinct from first.{name}" for name in KEY)
    of_sides = "".join(
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
        sql_of(
            __file__,
            "outcomes",
            first=first,
            task=literal(of.name),
            kind=literal(kind.value),
            outcome=_outcome(len(systems)),
            of_sides=of_sides,
            gold=gold,
            second=second,
            same=same,
            corpus=literal(of.query.schema),
            view=literal(of.query.name),
            joined=beside,
        ),
    )
    counts = [workspace.count(relation) for relation in (*judged, table)]
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


def _kind(workspace: ScoringWorkspace, of: ScoredTask, systems: Sequence[System]) -> OutcomeKind:
    """Return the kind of answer, from the columns of the scores: texts come before their rankings."""
    columns = set.intersection(*({*column_types(workspace.con, system.scored)} for system in systems))
    if {"gold", "labels"} <= columns:
        return OutcomeKind.LABELS
    if {"gold", "label"} <= columns:
        return OutcomeKind.LABEL
    if {"guess", "answer"} <= columns:
        guesses = " union all ".join(f"select guess from ({system.scored})" for system in systems)
        ((has_texts,),) = workspace.con.execute(f"select count(guess) > 0 from ({guesses})").fetchall()
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


class _AnswerSql(NamedTuple):
    """SQL over ``scored``: what an example says, what it should say, and whether that is right."""

    answer: str
    gold: str
    is_right: str
    f1: str = "null"


def _judged(workspace: ScoringWorkspace, kind: OutcomeKind, system: System) -> str:
    """Return the query of what a system says of each example."""
    columns = {*column_types(workspace.con, system.scored)}
    rank, is_first = _rank(columns)
    if kind is OutcomeKind.LABEL:
        sql = _AnswerSql("scored.label", "scored.gold", "scored.label = scored.gold")
    elif kind is OutcomeKind.LABELS:
        labels, gold = (f"list_sort(scored.{name})" for name in ("labels", "gold"))
        sql = _AnswerSql(f"array_to_string({labels}, ', ')", f"array_to_string({gold}, ', ')", f"{labels} = {gold}")
    elif kind is OutcomeKind.RANKING:
        sql = _AnswerSql("null", "null", is_first)
    else:
        # An older run has no letters.
        form = "coalesce(scored.{0}_letters, scored.{0})" if "guess_letters" in columns else "scored.{0}"
        words, others = (f"metrics.words({form.format(name)})" for name in ("guess", "answer"))
        f1 = f"2 * metrics.shared_words({words}, {others})::double / (len({words}) + len({others}))"
        text = "scored.guess" if system.answers is None else "answers.text"
        sql = _AnswerSql(text, "null", "scored.guess = scored.answer", f1)
    sure, best, answers = "null", "null", ""
    if system.answers is not None:
        # How sure it is of a ranking says nothing of a text.
        sure, best = "null" if kind is OutcomeKind.TEXT else "answers.sure", "answers.best"
        same = (f"answers.{name} is not distinct from scored.{name}" for name in KEY)
        answers = f"left join ({system.answers}) as answers on {' and '.join(same)}"
    candidates = "scored.candidates" if "candidates" in columns else "null"
    return (
        f"select {', '.join(f'scored.{name}' for name in KEY)}, scored.dialogue_id, {sql.answer}::varchar as said, "
        f"{sql.gold}::varchar as gold, coalesce({sql.is_right}, false) as is_right, {sure}::double as sure, "
        f"({rank})::double as rank, {best}::bigint as best, ({sql.f1})::double as f1, "
        f"{candidates}::bigint as candidates from ({system.scored}) as scored {answers}"
    )


def _rank(columns: set[str]) -> tuple[str, str]:
    """Return the SQL of the mean rank of the right candidate, and of whether it is first for certain."""
    if "above" not in columns:
        return "null", "false"
    if "tied_with_best" in columns:  # several candidates may be right
        return (
            "scored.first_above + (scored.first_tied + 1) / 2",
            "scored.above + scored.tied_with_best - scored.right_ones < 1",
        )
    return "scored.above + (scored.tied + 1) / 2", "scored.above = 0 and scored.tied = 1"


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
                None if (rows := load_answers(store, run, of, workspace)) is None else f"from {rows}",
            )
            for run in runs
        ]
    try:
        return create_outcomes(workspace, of, systems)
    except OTHER_ROWS as error:
        raise without_examples("one of the runs", str(error).splitlines()[0]) from error


def _check_splits(workspace: ScoringWorkspace, of: ScoredTask, run: dict[str, Any]) -> None:
    """Refuse a run whose examples have changed: they would be shown next to the wrong turns."""
    known = splits(workspace.con, of.query.schema, of.query.name)
    releases = run["releases"] or [None]
    chosen = Chosen(tuple(split for split in known if split.split in run["splits"] and split.release in releases))
    if chosen.fingerprint != run["view_fingerprint"]:
        raise UsageError(
            f"the examples of the run '{run['run']}' are not those of this warehouse",
            found=f"the fingerprint {chosen.fingerprint}, and the run has {run['view_fingerprint']}",
            next_step="score its predictions again, and save them under another name",
        )
