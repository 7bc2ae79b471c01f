"""How numbers and times are written: a row for each declared format, a column for each tool that writes it."""

from typing import NamedTuple

from talkhouse.charts.declared import Grain
from talkhouse.charts.metric import NumberFormat


class Written(NamedTuple):
    """A number format, as each tool has it."""

    python: str
    d3: str
    d3_axis: str
    """Along an axis, where ticks say enough: without more decimals than they need."""
    streamlit: str


class Truncated(NamedTuple):
    """A unit of time, as each tool has it."""

    strftime: str
    iso_8601: str


NUMBERS = {
    NumberFormat.INTEGER: Written(",.0f", ",d", "~s", "localized"),
    NumberFormat.DECIMAL: Written(",.2f", ",.2f", ",.2~f", "%.2f"),
    NumberFormat.PRECISE: Written(",.3f", ",.3f", ",.3~f", "%.3f"),
    NumberFormat.PERCENT: Written(",.1%", ",.1%", "~%", "percent"),
}

TIMES = {
    Grain.YEAR: Truncated("%Y", "P1Y"),
    Grain.MONTH: Truncated("%Y-%m", "P1M"),
    Grain.DAY: Truncated("%Y-%m-%d", "P1D"),
}

NOTHING = "\N{EN DASH}"
"""Shown in tables for null."""


def number(value: float | None, how: NumberFormat) -> str:
    """Write a number as people read it; an en dash for none."""
    return NOTHING if value is None else format(value, NUMBERS[how].python)
