"""A score in Python: the official numbers, all of them, each example, and how it differs from another."""

import weakref
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from talkhouse.api import html
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import quoted
from talkhouse.scores.comparison import compare_scores, score_as_data
from talkhouse.scores.metrics import examples_query
from talkhouse.scores.outcomes import create_outcomes, system_of
from talkhouse.scores.saved_runs import state_of
from talkhouse.scores.score import KEY, Scored
from talkhouse.scores.workspace import ScoringWorkspace
from talkhouse.warehouse.opened import Warehouse

_METRICS = {
    "metric": ("name", pl.String),
    "value": ("value", pl.Float64),
    "slice": ("slice", pl.String),
    "threshold": ("threshold", pl.Float64),
    "official": ("official", pl.Boolean),
    "low": ("low", pl.Float64),
    "high": ("high", pl.Float64),
}
"""Column -> attribute of a metric, and type."""

_DIFFERENCES = {
    "metric": pl.String,
    "threshold": pl.Float64,
    "official": pl.Boolean,
    **dict.fromkeys(("first", "second", "difference", "low", "high", "p_value"), pl.Float64),
    "better": pl.String,
}


class Score:
    """What predictions score, as ``talkhouse score`` has it; a notebook shows the official table.

    Made by ``Task.score``. It keeps the warehouse that it is of, also when that is closed or another is published.

    Attributes
    ----------
    data : dict
        All of it, as ``talkhouse score --json`` prints it.
    """

    def __init__(self, warehouse: Warehouse, workspace: ScoringWorkspace, scored: Scored, path: Path) -> None:
        self._warehouse, self._workspace, self._scored, self._path = warehouse, workspace, scored, path
        self.data: dict[str, Any] = score_as_data(scored)
        weakref.finalize(self, workspace.con.close)

    def __repr__(self) -> str:
        return f"Score({self._scored.task.name!r}, {self._scored.rows:,} examples)"

    @property
    def official(self) -> dict[str, float | None]:
        """Official metric -> value, of the whole split, at the first threshold; empty where none is official."""
        return dict(self.data["official"])

    @cached_property
    def metrics(self) -> pl.DataFrame:
        """All numbers.

        A row a metric, slice and threshold: ``metric`` (str), ``value`` (float, null where it is undefined), ``slice``
        (``column=value``, null for the whole split), ``threshold`` (float, null where the task has none), ``official``
        (bool: what the publisher's own program gives), ``low`` and ``high`` (float: the 95 % interval, null unless
        asked for).
        """
        rows = [
            {column: getattr(metric, name) for column, (name, _) in _METRICS.items()} for metric in self._scored.metrics
        ]
        return pl.DataFrame(rows, schema={column: kind for column, (_, kind) in _METRICS.items()})

    @cached_property
    def examples(self) -> pl.DataFrame:
        """What each example scores, at the first threshold.

        A row an example, or a list where that is scored as one, in published order: ``release``, ``split``,
        ``example_index`` and ``record_id``; ``gold`` and
        ``prediction`` (str: a label or text; of a ranking, ``prediction`` is the 0-based position of the first
        candidate, null if several are first, and ``gold`` is null), ``is_right`` (bool); a column for each metric that
        an example has; and the columns of the task's view. ``gold``, ``prediction`` and ``is_right`` are null where
        the task does not say of an example whether it is right.
        """
        workspace, scored = self._workspace, self._scored
        each = workspace.create("shown_examples", examples_query(workspace, scored.task, scored.turns[0].scored))
        answers = "select null::varchar as gold, null::varchar as prediction, null::boolean as is_right"
        on = "true"
        try:
            outcomes = create_outcomes(workspace, scored.task, [system_of(workspace, scored)])
        except CatalogueError:
            pass
        else:
            limit = scored.turns[0].threshold
            answers = (
                "select release, split, example_index, record_id, gold, "
                "coalesce(first, first_best::varchar) as prediction, first_is_right as is_right "
                f"from {outcomes} where threshold is not distinct from {'null' if limit is None else repr(limit)}"
            )
            on = " and ".join(f"answers.{name} is not distinct from each.{name}" for name in KEY[1:])
        twice = [name for name in ("gold", "prediction", "is_right") if name in workspace.columns(each)]
        left_out = ", ".join(map(quoted, (*KEY[1:], *twice)))
        found: pl.DataFrame = workspace.con.sql(
            f"select {', '.join(f'each.{name}' for name in KEY[1:])}, answers.gold, answers.prediction, "
            f"answers.is_right, each.* exclude ({left_out}) from {each} as each "
            f"left join ({answers}) as answers on {on} order by each.rowid"
        ).pl()
        return found

    def against(self, other: "Score") -> pl.DataFrame:
        """Compare with another score of the same examples, paired by the dialogue, as ``talkhouse scores --compare``.

        Parameters
        ----------
        other : Score
            Of the same task, split and release, as the warehouses have the same examples.

        Returns
        -------
        polars.DataFrame
            A row a metric and threshold: ``metric`` (str), ``threshold`` (float or null), ``official`` (bool),
            ``first`` (this score), ``second`` (the other), ``difference`` (second less first), ``low`` and ``high``
            (its 95 % interval by the paired bootstrap), ``p_value`` (two-sided, by a paired randomisation test) and
            ``better`` (``first`` or ``second`` where the p-value is below 0.05, else null).

        Raises
        ------
        talkhouse.TalkhouseError
            They are not of the same examples.
        """
        both = ((self._workspace, self._scored), (other._workspace, other._scored))
        states: list[dict[str, str | None]] = [{"content_hash": None}] * 2
        if self._warehouse is not other._warehouse:  # what a model saw may differ, also where the keys are the same
            states = [state_of(*item, score._path) for item, score in zip(both, (self, other), strict=True)]
        compared = compare_scores(*both, states)
        better = {None: None, 0: "first", 1: "second"}
        rows = [{"metric": metric.name, **vars(metric), "better": better[metric.better]} for metric in compared.metrics]
        return pl.DataFrame([{name: row[name] for name in _DIFFERENCES} for row in rows], schema=_DIFFERENCES)

    def _repr_html_(self) -> str:
        scored, chosen = self._scored, self._scored.chosen
        main = [metric for metric in scored.metrics if metric.is_main and metric.slice is None]
        heads = ["metric", "value", *(["95 % interval"] if scored.interval else []), "threshold", ""]
        rows = [
            [
                metric.name,
                _number(metric.value),
                *([_interval(metric.low, metric.high)] if scored.interval else []),
                "" if metric.threshold is None else f"{metric.threshold:g}",
                "official" if metric.official else "",
            ]
            for metric in main
        ]
        what = " ".join((*chosen.releases, *chosen.split_names, *([f"where {chosen.where}"] if chosen.where else [])))
        return html.fragment(
            html.element("strong", scored.task.name),
            html.element("p", f"{what}: {scored.rows:,} examples", "note"),
            html.table(heads, rows, heads[1:-1]),
            *(html.element("p", remark, "warning") for remark in scored.warnings),
        )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{_number(low)} to {_number(high)}"
