"""Questions that a reader puts together: a metric of a view, by a column, over another, as a chart; or why not."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from talkhouse.charts.declared import Chart, ChartKind, Grain, Metric, metric
from talkhouse.charts.fields import title
from talkhouse.charts.query import DEFAULT, OPTIONS, Choices
from talkhouse.queries.catalogue import BI
from talkhouse.schema.sql import literal, quoted

MOST_SERIES = 24
"""Values of a column that lines or bars can be distinguished by."""

_MOST_PLACES = 200
"""Values of a column along an axis."""

_TIME = "TIMESTAMP"
_SHOWN = frozenset({"VARCHAR", "BOOLEAN", "INTEGER", "BIGINT", _TIME})
_GRAINS = (Grain.YEAR, Grain.MONTH, Grain.WEEK, Grain.DAY)
"""Units that are offered; a view with times has columns for the hour and the weekday."""
_NOT_GROUPED = ("_count", "_raw", "_seconds", "_rank", "text")
"""Suffixes of columns that are counted, measured or read, and not grouped by."""
_CHOSEN = frozenset({DEFAULT, "is_first_in_split"})
"""Columns that filter a question, and are no dimensions of it."""
_OF_ONE_DIALOGUE = re.compile(r"(?!known_).*speaker_name")
"""Columns with names and aliases, which may belong to other people in other dialogues."""


class Dimension(NamedTuple):
    """A column of a view that one can group by."""

    name: str
    meaning: str
    value_count: int
    """The approximate number of different values."""
    grain: Grain | None = None
    """The unit that its times are cut to, if it has times."""

    @property
    def title(self) -> str:
        """Its title."""
        return f"{title(self.name)}: {self.grain}" if self.grain else title(self.name)


def candidates(columns: Collection[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Return the columns (name, type, meaning) that may be dimensions, going by their names and types."""
    return [
        column
        for column in columns
        if column["type"] in _SHOWN
        and column["name"] not in _CHOSEN
        and not column["name"].endswith(_NOT_GROUPED)
        and not is_of_one_dialogue(column["name"])
    ]


def is_of_one_dialogue(column: str) -> bool:
    """Whether equal values of a column are the same thing only within a dialogue, as names of speakers are."""
    return _OF_ONE_DIALOGUE.fullmatch(column) is not None


def _in_units(columns: Iterable[Mapping[str, str]]) -> Iterator[tuple[Mapping[str, str], Grain | None]]:
    """Yield each of ``candidates``, and one of times once for each unit."""
    for column in columns:
        yield from ((column, grain) for grain in (_GRAINS if column["type"] == _TIME else (None,)))


def counts_sql(view: str, counted: Collection[Mapping[str, str]], listed: Collection[str]) -> str:
    """Return the query of the approximate number of values of ``candidates``, then all values of others: one row.

    At most OPTIONS values of each, in order, without null.
    """
    units = ((quoted(column["name"]), grain) for column, grain in _in_units(counted))
    places = (f"date_trunc({literal(grain)}, {name})" if grain else name for name, grain in units)
    counts = [f"approx_count_distinct({place})" for place in places]
    values = [
        f"list_sort(list(distinct {quoted(name)}) filter ({quoted(name)} is not null))[:{OPTIONS}]" for name in listed
    ]
    return f"select {', '.join((*counts, *values))} from {BI}.{quoted(view)}"


def dimensions(columns: Collection[Mapping[str, str]], counts: Collection[int]) -> list[Dimension]:
    """Return those of ``candidates`` that have several values, and no more than an axis has room for."""
    found = zip(_in_units(columns), counts, strict=True)
    return [
        Dimension(column["name"], column["meaning"] or "", count, grain)
        for (column, grain), count in found
        if 1 < count <= _MOST_PLACES
    ]


def chart_of(
    view: str,
    name: str,
    known: Mapping[str, Metric],
    *,
    by: str,
    over: str,
    kind: ChartKind,
    grain: Grain | None = None,
) -> Chart:
    """Return the chart of a question; ``by`` or ``over`` is empty if not chosen, ``grain`` is that of ``over``.

    A heat map needs both, and a table has no units of time: bars stand for them.
    """
    asked = metric(name, known).title
    unit = str(grain) if grain else title(over).lower()
    heading = asked + (f" by {title(by).lower()}" if by else "") + (f" over {unit}" if over else "")
    if (kind is ChartKind.HEATMAP and not (by and over)) or (kind is ChartKind.TABLE and grain):
        kind = ChartKind.BAR
    columns = tuple(column for column in (over, by) if column)
    if not columns:
        kind, x, rest = ChartKind.NUMBER, "", columns
    elif kind is ChartKind.TABLE:
        x, rest = "", columns
    else:
        # Of one column alone, whichever it is, the marks stand along it.
        x, rest = columns[0], columns[1:]
    description = metric(name, known).description
    return Chart(
        kind=kind,
        title=heading,
        view=view,
        metrics=(name,),
        x=x,
        grain=grain if x else None,
        by=rest,
        # Or the nulls of a time would stand behind the last one.
        where=f"{quoted(x)} is not null" if x and grain else "",
        description=description,
        width=12,
    )


def refusal(asked: Metric, chart: Chart, choices: Choices, several: Collection[str]) -> str:
    """Return the reason why a metric has no meaning for the groups of a chart; empty if it has one.

    ``several`` are the columns of the view that have several values among the chosen rows.
    """
    mixed = [
        column
        for column in asked.within
        if column in several and column not in chart.columns and len(choices.get(column, ())) != 1
    ]
    if not mixed:
        return ""
    names = [title(column).lower() for column in mixed]
    each = " and ".join(f"one {name}" for name in names)
    return (
        f"{asked.title} is of {each}: taken over several, the number would mean nothing. "
        f"Choose {each} above, or show it by or over {' and '.join(names)}."
    )
