"""Paired tests between two saved runs of the same examples; and scores and comparisons as the data of ``--json``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.schema.errors import CatalogueError, UsageError, closest
from talkhouse.scores import saved_runs
from talkhouse.scores.examples import most_rows
from talkhouse.scores.metrics import ScoreMetric
from talkhouse.scores.resampling import RESAMPLES, SEED, Values, bootstrap, described, drawable, interval, shuffled
from talkhouse.scores.score import Scored, scored_rows
from talkhouse.scores.task import ScoredTask, task
from talkhouse.scores.workspace import ScoringTable, ScoringWorkspace
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.sidecar import TRIPPED

_SAME = ("task", "releases", "splits", "subsets", "view_fingerprint", "where_fingerprint", "thresholds")
"""What two runs must have in common."""

OTHER_ROWS = (
    *(duckdb.BinderException, duckdb.CatalogException, duckdb.ConversionException),
    *(duckdb.InvalidInputException, duckdb.OutOfRangeException, *TRIPPED),
)
"""What is raised where the rows of a run are not those that were saved."""

SIGNIFICANT = 0.05
"""The p-value below which one of two runs is called better."""

_ROUNDING = 1e-12
"""Differences that are less apart than this are the same."""


@dataclass(frozen=True)
class MetricDifference:
    """How much more the second of two runs has in a metric."""

    name: str
    threshold: float | None
    official: bool
    first: float | None
    second: float | None
    difference: float | None
    """Second less first, or None if either of them has no value."""
    low: float | None
    """The ends of the 95 % interval of the difference."""
    high: float | None
    p_value: float | None
    """Two-sided: how often runs that differ by chance alone would differ as much."""
    is_lower_better: bool = False

    @property
    def better(self) -> int | None:
        """Which of the two is better, 0 or 1; None if chance alone would often make them differ as much."""
        if not self.difference or self.p_value is None or self.p_value >= SIGNIFICANT:
            return None
        return int((self.difference > 0) is not self.is_lower_better)


@dataclass(frozen=True)
class RunComparison:
    """Two runs, and how they differ in each metric."""

    runs: tuple[dict[str, Any], dict[str, Any]]
    metrics: list[MetricDifference]
    interval: dict[str, Any]
    test: dict[str, Any]


def compare(con: duckdb.DuckDBPyConnection, warehouse: Path, names: tuple[str, str]) -> RunComparison:
    """Compare two saved runs on a connection to their warehouse, by the dialogue.

    Raises UsageError for an unknown run, for the same run twice, and for runs that are not of the same examples.
    """
    opened = Warehouse(con)
    opened.check_views()
    if names[0] == names[1]:
        raise UsageError("a run can't be compared with itself", found=f"'{names[0]}' twice", next_step="name two runs")
    first, second = comparable_runs(saved_runs.saved(warehouse), names)
    wanted = task(first["task"], opened.catalogue)
    with ScoringWorkspace(con) as workspace:
        with saved_runs.open_saved(saved_runs.path_for(warehouse)) as store:
            tables = [load_examples(store, run, wanted, workspace) for run in (first, second)]
        try:
            return _compared(workspace, wanted, (first, second), tables)
        except (*OTHER_ROWS, CatalogueError) as error:
            found = error.found if isinstance(error, CatalogueError) else str(error).splitlines()[0]
            raise without_examples("one of the runs", found or "other rows") from error


def compare_scores(
    first: tuple[ScoringWorkspace, Scored], second: tuple[ScoringWorkspace, Scored], states: Sequence[Mapping[str, Any]]
) -> RunComparison:
    """Compare two scores that are at hand, by the dialogue, as two saved runs; ``states`` as in ``as_run``.

    Raises UsageError where they are not of the same examples.
    """
    both, names = (first, second), ("first", "second")
    runs = [
        saved_runs.as_run(scored, name, state) for (_, scored), name, state in zip(both, names, states, strict=True)
    ]
    one_run, another = comparable_runs(runs, names)
    # Of its own, since the SQL of a task reads variables that a score has set.
    with first[0].con.cursor() as con, ScoringWorkspace(con) as workspace:
        tables = [
            workspace.create_arrow(
                "saved", of.con.sql(f"from ({scored_rows(scored)}) order by {saved_runs.ORDER}").to_arrow_table()
            )
            for of, scored in both
        ]
        return _compared(workspace, first[1].task, (one_run, another), tables)


def _compared(
    workspace: ScoringWorkspace,
    wanted: ScoredTask,
    runs: tuple[dict[str, Any], dict[str, Any]],
    tables: Sequence[ScoringTable],
) -> RunComparison:
    parts = [_at_threshold(workspace, wanted, runs, tables, threshold) for threshold in runs[0]["thresholds"]]
    differences = [difference for of_threshold, _ in parts for difference in of_threshold]
    dialogues = parts[0][1]
    test = {"method": "paired approximate randomisation", "resamples": RESAMPLES, "seed": SEED, "unit": "dialogue"}
    return RunComparison(runs, differences, described(dialogues), {**test, "units": dialogues})


def load_examples(
    store: duckdb.DuckDBPyConnection, run: dict[str, Any], wanted: ScoredTask, workspace: ScoringWorkspace
) -> ScoringTable:
    """Create a table of what each example of a run scored; UsageError where it is not there or comes from other SQL."""
    kept_hash = run.get("metrics_sha256")
    if kept_hash != saved_runs.metrics_hash(wanted):
        reason = "it was saved before examples were kept" if kept_hash is None else "its metrics have changed since"
        raise UsageError(
            f"the run '{run['run']}' can't be compared: {reason}",
            next_step="score its predictions again, and save them under another name",
        )
    table = saved_runs.load_rows(store, saved_runs.EXAMPLES, run["run"], workspace, most_rows(workspace.con, wanted))
    if table is None:
        raise without_examples(f"the run '{run['run']}'", "no rows of its examples")
    return table


def load_answers(
    store: duckdb.DuckDBPyConnection, run: dict[str, Any], wanted: ScoredTask, workspace: ScoringWorkspace
) -> ScoringTable | None:
    """Create a table of what a run answers, or None if it was saved before answers were."""
    return saved_runs.load_rows(store, saved_runs.ANSWERS, run["run"], workspace, most_rows(workspace.con, wanted))


def without_examples(run: str, found: str) -> UsageError:
    """Return the error about a run whose rows are not those that were saved."""
    return UsageError(
        f"{run} can't be compared: the file of saved runs was changed",
        found=found,
        next_step="score its predictions again, and save them under another name",
    )


def _at_threshold(
    workspace: ScoringWorkspace,
    wanted: ScoredTask,
    runs: Sequence[dict[str, Any]],
    tables: Sequence[ScoringTable],
    threshold: float | None,
) -> tuple[list[MetricDifference], int]:
    """Compare two runs at a threshold; return the differences, and the number of dialogues."""
    limit = "null" if threshold is None else repr(threshold)
    rows = [
        f"select * exclude (threshold) from {table} where threshold is not distinct from {limit}" for table in tables
    ]
    both = [_values(run, threshold) for run in runs]
    with drawable(workspace, wanted, rows, rows[0]) as of:
        found = _differences(wanted, threshold, both, bootstrap(workspace, of), shuffled(workspace, of))
        return found, of.dialogues


def comparable_runs(runs: Sequence[dict[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the runs of these names, each with its ``thresholds``.

    Raises UsageError for an unknown run, and for runs that are not of the same examples.
    """
    known = {run["run"]: run for run in runs}
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no run '{name}'",
                expected=f"one of: {', '.join(closest(name, known))}" if known else "a saved run, and there is none",
                next_step="list the runs with: talkhouse scores",
            )
    for run in known.values():
        run["thresholds"] = list(dict.fromkeys(metric["threshold"] for metric in run["metrics"]))
    first, *others = named = [known[name] for name in names]
    for other in others:
        # What a model saw of the examples is not known of older runs.
        is_known = first["content_hash"] is not None and other["content_hash"] is not None
        for what in (*_SAME, *(["content_hash"] if is_known else [])):
            if first[what] != other[what]:
                raise UsageError(
                    f"the runs can't be compared: they differ in {what.replace('_', ' ')}",
                    found=f"{_shown(first[what])} and {_shown(other[what])}",
                    next_step="compare runs that stand side by side in: talkhouse scores",
                )
    return named


def _shown(value: Any) -> str:
    values = value if isinstance(value, list) else [] if value is None else [value]
    return ", ".join(map(str, values)) or "none"


def _values(run: dict[str, Any], threshold: float | None) -> dict[str, dict[str, Any]]:
    """Return the metrics of all examples of a run, without counts, by their names."""
    metrics = [metric for metric in run["metrics"] if metric["slice"] is None and metric["threshold"] == threshold]
    return {metric["name"]: metric for metric in metrics if metric["denominator"] is not None}


def _differences(
    wanted: ScoredTask,
    threshold: float | None,
    both: list[dict[str, dict[str, Any]]],
    drawn: list[Values],
    swapped: list[Values],
) -> list[MetricDifference]:
    differences = []
    for name in dict.fromkeys([*both[0], *both[1]]):
        first, second = (run[name]["value"] if name in run else None for run in both)
        is_official = all(name in run and run[name]["official"] for run in both)
        difference = None if first is None or second is None else second - first
        low, high = interval(_subtracted(drawn, name)) if difference is not None else (None, None)
        is_lower = wanted.is_lower_better(name)
        p_value = None if difference is None else _p_value(difference, _subtracted(swapped, name))
        differences.append(
            MetricDifference(name, threshold, is_official, first, second, difference, low, high, p_value, is_lower)
        )
    return differences


def _subtracted(values: list[Values], name: str) -> list[float]:
    """Return the differences of a metric in the resamples in which both runs have it."""
    first, second = (run.get(name, []) for run in values)
    return [b - a for a, b in zip(first, second, strict=True) if a is not None and b is not None]


def _p_value(difference: float, swapped: Sequence[float]) -> float:
    """Return the share of as large a difference among those under the null hypothesis, what was seen among them."""
    as_large = sum(abs(other) >= abs(difference) - _ROUNDING for other in swapped)
    return (as_large + 1) / (len(swapped) + 1)


_OWN = ("is_mean", "is_main")
"""What a metric has for the program alone."""


def _single(values: list[Any]) -> Any:
    """Return the only value, None if there is none, or all of them."""
    return values[0] if len(values) == 1 else values or None


def official_values(metrics: Sequence[Mapping[str, Any]], *names: str) -> dict[str, Any]:
    """Return the official values of all examples, at the first threshold, by name; and that threshold."""
    official = [metric for metric in metrics if metric["official"] and metric.get("slice") is None]
    at = official[0]["threshold"] if official else None
    values = {metric["name"]: metric for metric in official if metric["threshold"] == at}
    shown = {key: {name: row[name] for name in names} if names else row["value"] for key, row in values.items()}
    return {"official": shown, "official_threshold": at}


def score_as_data(scored: Scored, overlap: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the object that ``--json`` prints; ``overlap`` says by what examples are left out."""
    metrics = [_metric_as_data(metric) for metric in scored.metrics]
    return {
        **official_values(metrics),
        "task": scored.task.name,
        "split": _single(scored.chosen.split_names),
        "release": _single(scored.chosen.releases),
        "subset": _single(list(scored.chosen.subsets)),
        "where": scored.chosen.where,
        "view_fingerprint": scored.chosen.fingerprint,
        "where_fingerprint": scored.chosen.where_fingerprint,
        "predictions": scored.files,
        "rows": scored.rows,
        "missing": scored.missing,
        "tied": scored.tied,
        "threshold": _single([threshold for threshold in scored.thresholds if threshold is not None]),
        "remark": scored.task.query.remark,
        "warnings": scored.warnings,
        "interval": scored.interval,
        "metrics": metrics,
        **({} if overlap is None else {"overlap": {**overlap, **_overlap_as_data(scored)}}),
    }


def _metric_as_data(metric: ScoreMetric) -> dict[str, Any]:
    return {key: value for key, value in vars(metric).items() if key not in _OWN}


def _overlap_as_data(scored: Scored) -> dict[str, Any]:
    """Return the metrics of all examples, of those without overlap, and of those with it, with their numbers."""
    parts = {
        "all": (None, scored.rows),
        **{name.partition("=")[2]: (name, size) for name, size in scored.sizes.items()},
    }
    return {
        part: {
            "examples": size,
            "metrics": [_metric_as_data(metric) for metric in scored.metrics if metric.slice == name],
        }
        for part, (name, size) in parts.items()
    }


def comparison_as_data(found: RunComparison) -> dict[str, Any]:
    """Return the object that ``--json`` prints."""
    first, second = found.runs
    metrics = [
        {**vars(metric), "better": None if metric.better is None else found.runs[metric.better]["run"]}
        for metric in found.metrics
    ]
    same = (
        *("task", "releases", "splits", "subsets"),
        *("view_fingerprint", "where_expression", "where_fingerprint", "examples"),
    )
    return {
        **official_values(metrics, "first", "second", "difference", "low", "high", "p_value"),
        **{name: first[name] for name in same},
        "first": first["run"],
        "second": second["run"],
        "interval": found.interval,
        "test": found.test,
        "metrics": metrics,
    }
