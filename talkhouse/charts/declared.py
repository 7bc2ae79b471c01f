"""The declarations of dashboards: metrics, charts in a grid, filters and headlines; invalid ones are refused."""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from string import Formatter

import msgspec

from talkhouse.dialogues.schemes import Scale
from talkhouse.queries.heads import is_name

_PAGE = re.compile(r"[a-z0-9_]+([?][^\s]*)?")
"""The address of a page, relative to the others."""

COLUMNS = 12
"""Columns of a dashboard's grid."""

MOST_ROWS = 10_000
"""Rows of a chart without a limit."""


class ChartKind(StrEnum):
    """The kinds of charts."""

    NUMBER = "number"
    TABLE = "table"
    BAR = "bar"
    LINE = "line"
    HEATMAP = "heatmap"


class Grain(StrEnum):
    """The units that a time along the x axis may be truncated to, or the places in a day or week that recur."""

    YEAR = "year"
    MONTH = "month"
    WEEK = "week"
    DAY = "day"
    HOUR = "hour"
    WEEKDAY = "weekday"


HOURS = range(24)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""In the order of their numbers, from 1."""

_RECURRING = {"hour_of_day": Grain.HOUR, "weekday": Grain.WEEKDAY}
"""Columns that have what these grains make of a time."""


def _check_page(address: str) -> None:
    """Raise ValueError for anything but the address of a Talkhouse page."""
    if not _PAGE.fullmatch(address):
        raise ValueError(f"a link is the name of a page, perhaps with ? and parameters, and not {address}")


class Chart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One chart: metrics of the rows of a view, by some of its columns."""

    title: str
    kind: ChartKind
    view: str
    """A view of ``bi``, without the schema."""
    metrics: tuple[str, ...]
    counts: tuple[str, ...] = ()
    """Further metrics on pointing at a bar or point: the counts behind a share or mean."""
    x: str = ""
    """The column along the x axis, of a bar chart, a line chart or a heat map."""
    grain: Grain | None = None
    """The unit to which ``x`` is truncated, if it is a time."""
    along: tuple[str, ...] = ()
    """The values of ``x`` in their order, if it is that of a scale; others follow."""
    by: tuple[str, ...] = ()
    """The columns that make the rows of a table, the series of bars or lines, or the y axis of a heat map."""
    where: str = ""
    """An SQL condition on the rows of the view."""
    needs: Mapping[str, tuple[int, int]] = {}
    """Column of the chart -> how many values, at least and at most, its rows must have for the chart to be drawn."""
    largest_first: bool = False
    """Ordered by the first metric, in place of ``x``."""
    limit: int = MOST_ROWS
    """Rows that are shown at most; a chart with a small limit says so in its title."""
    stacked: bool = False
    horizontal: bool = False
    scheme: str = ""
    """The scheme whose labels the series are, so that each has its label's colour."""
    values: tuple[str, ...] = ()
    """The values that the series have, in their order, if they are no labels."""
    scale: Scale | None = None
    """The scale of these values."""
    leads_to: str = ""
    """The page that a mark or row leads to, perhaps with parameters: ``read?corpus=...``; its columns are added."""
    description: str = ""
    width: int = 6
    """Columns of the grid."""
    height: int = 0
    """Height in units of 8 pixels; 0: as the kind has it."""

    def __post_init__(self) -> None:
        """Raise ValueError for a chart that can't be drawn."""
        needs_x = self.kind in (ChartKind.BAR, ChartKind.LINE, ChartKind.HEATMAP)
        if needs_x != bool(self.x):
            raise ValueError(f"a {self.kind} has {'an' if needs_x else 'no'} x")
        if self.kind is ChartKind.HEATMAP and len(self.by) != 1:
            raise ValueError("a heat map has one column in by")
        if self.kind is ChartKind.NUMBER and self.by:
            raise ValueError("a number has no by")
        if not self.metrics:
            raise ValueError("a chart has a metric")
        if self.kind in (ChartKind.NUMBER, ChartKind.HEATMAP) and len(self.metrics) != 1:
            raise ValueError(f"a {self.kind} has one metric")
        if self.counts and self.kind in (ChartKind.NUMBER, ChartKind.TABLE):
            raise ValueError(f"a {self.kind} has no counts")
        if self.grain and not self.x:
            raise ValueError(f"a {self.kind} has no grain")
        if others := sorted(self.needs.keys() - {*self.columns}):
            raise ValueError(f"a chart needs values of its own columns, and {others[0]} is none of them")
        if self.along and (self.largest_first or not self.x):
            raise ValueError("an order along x is of a chart that has x, and is not the largest first")
        if (self.stacked or self.horizontal) and self.kind is not ChartKind.BAR:
            raise ValueError("only bars are stacked or horizontal")
        named = (*self.columns, *self.metrics, *self.counts)
        if len(set(named)) < len(named):
            raise ValueError("a chart names each column and metric once")
        self._check_series()
        if self.limit < 1:
            raise ValueError("a limit is at least 1")
        if not 1 <= self.width <= COLUMNS:
            raise ValueError(f"a width is from 1 to {COLUMNS}")

    def _check_series(self) -> None:
        """Raise ValueError for a useless setting of the series, or of their links."""
        if self.leads_to:
            _check_page(self.leads_to)
        if self.values and (len(self.by) != 1 or self.scheme):
            raise ValueError("values are of one column in by, without a scheme")
        if self.scale and not self.values:
            raise ValueError("a scale is of values")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the chart groups by."""
        return (self.x, *self.by) if self.x else self.by

    @property
    def truncated_to(self) -> Grain | None:
        """The unit of the times along x, if they are times, and no hours of the day or days of the week."""
        return None if self.grain in _RECURRING.values() else self.grain

    def recurring(self, column: str) -> Grain | None:
        """The hour of the day or weekday that a column has, by its name or as the grain of x."""
        if column == self.x and self.grain:
            return None if self.truncated_to else self.grain
        return _RECURRING.get(column)

    @property
    def order(self) -> tuple[str, ...]:
        """The order of its rows: perhaps by its first metric, the largest first, then by its columns."""
        return (self.metrics[0], *self.columns) if self.largest_first else self.columns


class Filter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A choice that a reader of the dashboard makes: it acts on every chart whose view has the column."""

    column: str
    title: str
    view: str
    """The view of ``bi`` that has the values to choose from."""
    where: str = ""
    """An SQL condition on the rows of that view."""


class Headline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sentence about a result, with values of the only row of a query."""

    sentence: str
    """Names columns of the row in braces: ``{share:percent}``, ``{count:integer}``, ``{alpha:precise}``, ``{bot}``."""
    sql: str
    """A query of one row over views; without a row, or if a value that the sentence names is null, it is left out.

    Columns ``dialogue_id`` or ``record_id``, and ``turn_index``, identify the turn or dialogue to read.
    """
    link: str = ""
    """The page that the sentence leads to, with its parameters, if the row has no place: ``tasks?task=...``."""

    def __post_init__(self) -> None:
        """Raise ValueError for a sentence that can't be filled."""
        if not (named := self.named):
            raise ValueError("a sentence names a column in braces")
        formats = [*map(str, NumberFormat)]
        for column, how in named:
            if not is_name(column) or how not in ("", *formats):
                raise ValueError(f"a value of a sentence is {{column}} or {{column:FORMAT}}, of {', '.join(formats)}")
        if not self.sql.strip():
            raise ValueError("a headline has a query")
        if self.link:
            _check_page(self.link)

    @property
    def named(self) -> list[tuple[str, str]]:
        """The columns that the sentence names, each with its format or an empty text; ValueError for odd braces."""
        parts = Formatter().parse(self.sentence)
        return [
            (f"{column}!{odd}" if odd else column, how or "") for _, column, how, odd in parts if column is not None
        ]


class Dashboard(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Headlines, then charts, row by row as their widths allow, and the filters of these."""

    title: str
    description: str
    headlines: tuple[Headline, ...] = ()
    filters: tuple[Filter, ...] = ()
    charts: tuple[Chart, ...]

    def __post_init__(self) -> None:
        """Raise ValueError if two charts share a title, or two filters a column, which identify them."""
        titles = [chart.title for chart in self.charts]
        if len(set(titles)) < len(titles):
            raise ValueError("two charts have the same title")
        columns = [choice.column for choice in self.filters]
        if len(set(columns)) < len(columns):
            raise ValueError("two filters have the same column")


ROW_COUNT = "row_count"
"""The metric that every view has."""


class NumberFormat(StrEnum):
    """The number format of a metric."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    PERCENT = "percent"
    PRECISE = "precise"
    """With three decimals, if two would hide a difference."""


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

    With ``release``, so is it for a group that counts a dialogue in several of the publisher's releases.
    """


ROWS = Metric(title="Rows", sql="count(*)", description="Rows of the view.")
"""The metric ROW_COUNT."""


def metric(name: str, metrics: Mapping[str, Metric]) -> Metric:
    """Return a metric of a view by its name; ``metrics`` are those that are declared for the view."""
    return ROWS if name == ROW_COUNT else metrics[name]


_UNIT = 8
"""Pixels of a unit of a chart's declared height."""

_DRAWN = 320
"""Pixels of a drawing, at least."""

_BOXES = {ChartKind.NUMBER: 18, ChartKind.TABLE: 50, ChartKind.BAR: 50, ChartKind.LINE: 50, ChartKind.HEATMAP: 50}
"""Units of the title and margins of a drawing."""


def rows_of_charts(charts: Iterable[Chart]) -> Iterator[list[Chart]]:
    """Divide charts into rows of the grid, as their widths allow."""
    row: list[Chart] = []
    for chart in charts:
        if sum(other.width for other in row) + chart.width > COLUMNS:
            yield row
            row = []
        row.append(chart)
    if row:
        yield row


def box_height(chart: Chart) -> int:
    """Return the height of a chart with its title, in units of 8 pixels."""
    return chart.height or _BOXES[chart.kind]


def drawn_height(chart: Chart) -> int:
    """Return the height of the drawing, in pixels."""
    return max(chart.height * _UNIT, _DRAWN)
