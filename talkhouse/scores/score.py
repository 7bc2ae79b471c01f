"""Scores predictions: reads and checks them, joins them with the split, runs the task's SQL, also over slices."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import duckdb
from pyarrow import lib as pa

from talkhouse.queries.heads import Query
from talkhouse.schema.errors import UsageError, closest
from talkhouse.schema.sql import column_types, literal, quoted
from talkhouse.scores.examples import Chosen
from talkhouse.scores.metrics import ScoreMetric, metrics, score_examples, set_threshold, tied, whole
from talkhouse.scores.predictions import Predictions, read_predictions
from talkhouse.scores.resampling import DIALOGUE, described, with_intervals
from talkhouse.scores.task import ScoredTask, ScoreRequest
from talkhouse.scores.workspace import Bound, ScoringTable, ScoringWorkspace, naming_files
from talkhouse.warehouse.opened import Warehouse


@dataclass(frozen=True)
class AtThreshold:
    """What was scored at a threshold of the gold label, or where there is none."""

    threshold: float | None
    predictions: Predictions
    scored: ScoringTable
    """What each example scores."""
    metrics: list[ScoreMetric]


@dataclass(frozen=True)
class Scored:
    """The metrics of predictions, and what they are of."""

    task: ScoredTask
    turns: tuple[AtThreshold, ...]
    """One for each threshold; a threshold changes the right label, and by it the predictions of a baseline."""
    rows: int
    tied: int
    warnings: list[str]
    interval: dict[str, Any] | None
    """How the intervals were computed, or None if none were requested."""
    sizes: dict[str, int]
    """How many examples are without overlap, and how many have it, by the names of their slices; empty: not asked."""

    @property
    def chosen(self) -> Chosen:
        """The splits and subsets."""
        return self.turns[0].predictions.examples.chosen

    @property
    def files(self) -> list[dict[str, str]]:
        """Path and SHA-256 of each file; none of a baseline."""
        return self.turns[0].predictions.files

    @property
    def missing(self) -> int:
        """How many examples have no prediction."""
        return self.turns[0].predictions.missing

    @property
    def thresholds(self) -> list[float | None]:
        """The thresholds, or None if the metrics have none."""
        return [turn.threshold for turn in self.turns]

    @property
    def metrics(self) -> list[ScoreMetric]:
        """The metrics at each threshold."""
        return [metric for turn in self.turns for metric in turn.metrics]


def score(
    workspace: ScoringWorkspace, task: ScoredTask, request: ScoreRequest, thresholds: Sequence[float] = ()
) -> Scored:
    """Score predictions, at each threshold where the task has one; the tables of another run are dropped.

    Raises UsageError where the files can't be read or the names can't be, BadPredictions where rows can't be scored,
    CatalogueError where the SQL of the task is wrong.
    """
    workspace.clear()
    con = workspace.con
    Warehouse(con).check_views()
    if request.as_printed and request.interval:
        raise UsageError("the script prints no intervals", next_step="leave out --as-printed or --interval")
    _check_variant(task, request)
    con.execute(f"set variable as_published = {request.as_published}")
    limits = _thresholds(task, thresholds, request)
    with naming_files(request.paths):
        set_threshold(con, limits[0])
        first = read_predictions(workspace, task, request)
        turns = [_at(workspace, task, request, limits[0], first)]
        for limit in limits[1:]:
            set_threshold(con, limit)
            # The right label, which the oracle predicts, depends on the threshold.
            predictions = read_predictions(workspace, task, request) if request.baseline else first
            turns.append(_at(workspace, task, request, limit, predictions))
    scored = turns[0].scored
    query = f"select count(*), count(distinct {DIALOGUE}) from {first.examples.keys}"
    ((rows, dialogues),) = con.execute(query).fetchall()
    how = described(dialogues) if request.interval else None
    warnings = [*first.warnings, *_warnings(task, request, turns)]
    sizes = _sizes(workspace, task, request, scored)
    return Scored(task, tuple(turns), rows, tied(workspace, scored), warnings, how, sizes)


def _at(
    workspace: ScoringWorkspace,
    task: ScoredTask,
    request: ScoreRequest,
    threshold: float | None,
    predictions: Predictions,
) -> AtThreshold:
    """Score predictions at the threshold that is set: each slice, and then all of them."""
    scored = score_examples(workspace, task, predictions.table)
    numbers: list[ScoreMetric] = []
    for sliced in (*_slices(workspace, task, request, scored), whole(scored)):
        of_slices = metrics(workspace.con, task, sliced, f"from {scored}")
        numbers += (
            with_intervals(workspace, task, of_slices, sliced, f"from {scored}") if request.interval else of_slices
        )
    is_official = not predictions.missing and not request.as_published and request.where is None
    parts = (WITHOUT_OVERLAP, ONLY_OVERLAP)
    numbers = [
        replace(m, threshold=threshold, official=m.official and is_official and m.slice not in parts) for m in numbers
    ]
    return AtThreshold(threshold, predictions, scored, numbers)


def _slices(workspace: ScoringWorkspace, task: ScoredTask, request: ScoreRequest, scored: ScoringTable) -> list[str]:
    """Return queries of the slices that are wanted, and of those by which the publisher scores, if there are two."""
    overlapping = [] if request.judged is None else [_by_verdict(task, scored, request.judged, request.dropped)]
    usual = [] if request.as_printed else [column for column in task.query.by if column not in request.by]
    if not usual and not request.by:
        return overlapping
    slices = _create_slices(workspace, task, scored, [*usual, *request.by])
    several = [column for column in usual if slices.has_several(workspace.con, column)]
    return [*overlapping, *(slices.by_column(column) for column in (*several, *request.by))]


def _sizes(
    workspace: ScoringWorkspace, task: ScoredTask, request: ScoreRequest, scored: ScoringTable
) -> dict[str, int]:
    if request.judged is None:
        return {}
    sliced = _by_verdict(task, scored, request.judged, request.dropped)
    counts = dict(workspace.con.execute(f"select slice, count(*) from ({sliced}) group by slice").fetchall())
    return {name: counts.get(name, 0) for name in (WITHOUT_OVERLAP, ONLY_OVERLAP)}


def _check_variant(task: ScoredTask, request: ScoreRequest) -> None:
    """Refuse labels as published where they are that anyway, and where the run is to be compared with others."""
    if not request.as_published:
        return
    if task.query.published is None:
        raise UsageError(f"{task.name} is scored as published anyway", next_step="leave --as-published out")
    if request.keep:
        raise UsageError(
            "saved runs are compared with others of the task, and these are other classes",
            next_step="leave out --as-published or --save",
        )


def _warnings(task: ScoredTask, request: ScoreRequest, turns: Sequence[AtThreshold]) -> list[str]:
    """Return remarks on the variant, on an expression, and on numbers that are too good."""
    variant = f"as published: {task.query.published}; no number is official"
    warnings = [variant] if request.as_published else []
    if request.where is not None:
        warnings.append(f"only examples of which --where is true: {request.where}; no number is official")
    if any(metric.name == "bleu-4 (letters)" for turn in turns for metric in turn.metrics):
        warnings.append(
            "some answers are in scripts without spaces between words: metrics named '(letters)' take each letter of "
            "these for a word, the others whatever stands between two spaces"
        )
    doubt = task.query.doubt
    if doubt is None or request.baseline:
        return warnings
    wholes = [metric for turn in turns for metric in turn.metrics if metric.slice is None]
    values = [metric.value for metric in wholes if metric.name == doubt.metric and metric.value is not None]
    doubts = [f"{doubt.metric} is {value:.6f}, and above {doubt.limit:g} {doubt.reason}" for value in values]
    return warnings + [text for text, value in zip(doubts, values, strict=True) if value > doubt.limit]


def _thresholds(task: ScoredTask, asked: Sequence[float], request: ScoreRequest) -> list[float | None]:
    """Return the thresholds to score at, at least one: those requested, or the task's, or else None."""
    usual = task.query.thresholds
    if not usual:
        if asked:
            raise UsageError(f"{task.name} has no threshold", next_step="leave --threshold out")
        return [None]
    for threshold in asked:
        if not 0 <= threshold <= 1:
            raise UsageError(
                "a threshold is a share of annotators",
                expected="a number from 0 to 1",
                found=f"{threshold}",
                next_step="the challenge's script has 0.0 by default; its documented runs use 0.5",
            )
    return list(dict.fromkeys(asked)) or list(usual[:1] if request.as_printed else usual)


_NARROW = {
    "split": "scored.split",
    "release": "scored.release",
    "record_id": "scored.record_id",
    "dialogue_id": "scored.dialogue_id",
    "subset": "records.subset",
    "standard_split": "records.standard_split",
    "language": "dialogues.language",
    "domain": "dialogues.domain",
}
"""Columns that need not be read from a view, which may have millions of long rows."""


class Slices(NamedTuple):
    """What each example scores, and for each of them the values of some columns, as texts."""

    scored: ScoringTable
    values: ScoringTable

    def has_several(self, con: duckdb.DuckDBPyConnection, column: str) -> bool:
        """Whether the examples have more than one value in a column."""
        return bool(con.execute(f"select count(distinct {quoted(column)}) > 1 from {self.values}").fetchall()[0][0])

    def by_column(self, column: str) -> str:
        """Return the query of what was scored in slices ``column=value``; rows without a value are in none."""
        value = f"slices.{quoted(column)}"
        return (
            f"select {literal(column + '=')} || {value} as slice, scored.* from {self.scored} as scored "
            f"inner join {self.values} as slices on slices.place = scored.rowid where {value} is not null"
        )


WITHOUT_OVERLAP, ONLY_OVERLAP = "overlap=without", "overlap=only"
"""Slices of examples by whether they stand elsewhere too."""


def _by_verdict(task: ScoredTask, scored: ScoringTable, judged: str, verdicts: Sequence[str]) -> str:
    """Return the query of what was scored in slices, of a table of verdicts; examples without one are in none."""
    among = ", ".join(map(literal, verdicts))
    return (
        f"select if(judged.verdict in ({among}), '{ONLY_OVERLAP}', '{WITHOUT_OVERLAP}') as slice, scored.* "
        f"from {scored} as scored inner join {judged} as judged "
        f"on judged.corpus_id = {literal(task.query.schema)} and judged.task = {literal(task.query.name)} "
        "and judged.release is not distinct from scored.release and judged.split is not distinct from scored.split "
        "and judged.example_index = scored.example_index"
    )


def _create_slices(
    workspace: ScoringWorkspace, task: ScoredTask, scored: ScoringTable, columns: Sequence[str]
) -> Slices:
    """Find the values of columns for each example; UsageError for a column that there is not."""
    known = [*column_types(workspace.con, task.view)]
    for column in columns:
        if column not in _NARROW and column not in known:
            raise UsageError(
                f"{task.name} has no column '{column}'",
                expected=f"one of: {', '.join(closest(column, {*known, *_NARROW}))}",
                next_step=f"list its columns with: talkhouse views {task.name}",
            )
    selected = [f"{_NARROW.get(column, f'gold.{quoted(column)}')}::varchar as {quoted(column)}" for column in columns]
    gold = (
        f"inner join {task.view} as gold "
        "on gold.example_index = scored.example_index and gold.split = scored.split "
        + ("and gold.release is not distinct from scored.release " if "release" in known else "")
        if any(column not in _NARROW for column in columns)
        else ""
    )
    values = workspace.create(
        "slices",
        f"select scored.rowid as place, {', '.join(selected)} from {scored} as scored "
        "inner join main.records on records.record_id = scored.record_id "
        f"left join main.dialogues on dialogues.dialogue_id = scored.dialogue_id {gold}",
    )
    return Slices(scored, values)


def printed(workspace: ScoringWorkspace, scored: Scored) -> str:
    """Return the output of the publisher's script for all scored examples, threshold by threshold."""
    lines = scored.task.printed
    if lines is None:
        raise UsageError(f"{scored.task.name} has no script whose output is known", next_step="leave --as-printed out")
    return "".join(_printed_at(workspace, turn, lines) for turn in scored.turns)


def _printed_at(workspace: ScoringWorkspace, turn: AtThreshold, lines: Query) -> str:
    numbers = [metric for metric in turn.metrics if metric.slice is None]
    columns = {
        "name": pa.array([metric.name for metric in numbers], pa.string()),
        "value": pa.array([metric.value for metric in numbers], pa.float64()),
        "count": pa.array([metric.count for metric in numbers], pa.int64()),
        "of": pa.array([metric.of for metric in numbers], pa.int64()),
    }
    results = workspace.create_arrow("results", pa.table(columns))
    sql = Bound(lines, "printed", {"results": f"from {results}"})
    sql.check(workspace.con, "line")
    with sql.errors(workspace.con):
        rows = workspace.con.execute(f"select line from ({sql.sql})").fetchall()
    return "".join(f"{line}\n" for (line,) in rows)


KEY = ("threshold", "release", "split", "example_index", "record_id")
"""What an answer, and what it scored, is known by."""


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
    answers = " union all ".join(
        f"select {_limit(turn.threshold)} as threshold, * from {turn.predictions.table}" for turn in scored.turns
    )
    names = [column.name for column in scored.task.columns]
    # Else each candidate of a record has a prediction.
    is_by_example = "scores" in names or "label" in names or "score" not in names
    text = "predicted.text" if "text" in names else "null"
    sure = _sure_of_label(names, {*column_types(workspace.con, scored_rows(scored))})
    best = "null"
    if "scores" in names:
        ordered = "list_reverse_sort(list_filter(scores, lambda score: isfinite(score)))"
        place = "list_position(scores, list_max(scores)) - 1"
        answers = f"select *, {ordered}[1] - {ordered}[2] as ahead, {place} as best from ({answers})"
    elif not is_by_example:
        ordered = "list(score order by score desc) filter (isfinite(score))"
        answers = (
            f"select threshold, release, split, record_id, {ordered}[1] - {ordered}[2] as ahead, "
            f"arg_max(example_index, score) as best from ({answers}) group by all"
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
        f"left join ({answers}) as predicted on {' and '.join(same)}"
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
