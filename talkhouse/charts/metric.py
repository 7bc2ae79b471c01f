"""Metrics: aggregates of the rows of a view, and how their values are written."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

ROW_COUNT = "row_count"
"""The metric that every view has."""


class NumberFormat(StrEnum):
    """How a metric's value is shown."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    PERCENT = "percent"
    PRECISE = "precise"
    """With three decimals, where two would hide a difference."""


class Metric(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An aggregate of a view's rows that is right for any group of them."""

    title: str
    sql: str
    format: NumberFormat = NumberFormat.INTEGER
    description: str = ""
    label: str = ""
    """The label that it counts, of a chart's scheme: it has the label's colour."""
    within: tuple[str, ...] = ()
    """Columns of which a group has one value; the metric is null for a group of several, which it can't combine.

    With ``release``, so is it for a group that counts a dialogue in several releases.
    """


ROWS = Metric(title="Rows", sql="count(*)", description="Rows of the view.")
"""What ROW_COUNT names."""


def metric(name: str, metrics: Mapping[str, Metric]) -> Metric:
    """Return a metric of a view by its name; ``metrics`` are those that are declared for the view."""
    return ROWS if name == ROW_COUNT else metrics[name]
