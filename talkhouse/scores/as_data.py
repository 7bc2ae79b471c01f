"""Scores, and comparisons of two, as data: what ``--json`` prints, and what Python returns."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from talkhouse.scores.comparison import RunComparison
    from talkhouse.scores.metrics import ScoreMetric
    from talkhouse.scores.score import Scored

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


def score_as_data(scored: "Scored", overlap: dict[str, Any] | None = None) -> dict[str, Any]:
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


def _metric_as_data(metric: "ScoreMetric") -> dict[str, Any]:
    return {key: value for key, value in vars(metric).items() if key not in _OWN}


def _overlap_as_data(scored: "Scored") -> dict[str, Any]:
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


def comparison_as_data(found: "RunComparison") -> dict[str, Any]:
    """Return the object that ``--json`` prints."""
    first, second = found.runs
    metrics = [
        {**vars(metric), "better": None if metric.better is None else found.runs[metric.better]["run"]}
        for metric in found.metrics
    ]
    same = (
        "task",
        "releases",
        "splits",
        "subsets",
        "view_fingerprint",
        "where_expression",
        "where_fingerprint",
        "examples",
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
