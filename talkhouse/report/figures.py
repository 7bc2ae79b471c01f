"""Figures and tables of the pages: charts as drawings that need no script, each with its numbers as a table."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any
from xml.etree import ElementTree

import altair
import duckdb
import msgspec
import polars as pl
import vl_convert
from markupsafe import Markup

from talkhouse.charts.declarations import DeclaredDashboard, metrics
from talkhouse.charts.declared import Chart, ChartKind, Metric, NumberFormat
from talkhouse.charts.draw import VERSION, draw, with_units
from talkhouse.charts.fields import ChartField, fields, number, with_weekdays
from talkhouse.charts.query import chart_sql, narrowed, palette, sql_of_chart, worth_drawing
from talkhouse.charts.view_cache import ViewCache, missing_files
from talkhouse.charts.words import alternative, only_zero, single
from talkhouse.escaping import visible
from talkhouse.queries.catalogue import BI
from talkhouse.queries.files import Files

MOST_ROWS = 200
"""Rows of a table that are in the page at most; a note names the view with the others."""

_ROWS_AT_FIRST = 15
"""Rows that are shown at first."""

_FEW = 5
"""The number of further rows that is too small to be folded."""

_LONG_WORD = 20
"""Letters of a word that is broken in a narrow column."""

_BREAKS = re.compile(r"[\s-]+")
"""Where browsers begin a new line."""

ID = ("dialogue_id", "record_id")
"""Columns whose values lead to a dialogue."""


@dataclass(frozen=True)
class ReportTable:
    """Rows under the titles of their columns."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[int] = field(default_factory=frozenset)
    """The columns of numbers, from 0."""
    ids: frozenset[int] = field(default_factory=frozenset)
    """The columns of ids of dialogues and records, from 0."""
    turns: Sequence[int | None] = ()
    """The turn that each row is about, if the rows are of turns."""
    note: str = ""
    """A note on the rows that are left out."""

    @cached_property
    def whole_words(self) -> frozenset[int]:
        """The columns, from 0, whose words are short enough to stay whole."""
        return frozenset(
            index
            for index in range(len(self.heads))
            if all(len(word) <= _LONG_WORD for row in self.rows for word in _BREAKS.split(row[index]))
        )

    @property
    def parts(self) -> list[Sequence[tuple[Sequence[str], int | None]]]:
        """The rows that are shown, and those that are folded, if any; each with its turn."""
        most = _ROWS_AT_FIRST if len(self.rows) > _ROWS_AT_FIRST + _FEW else len(self.rows)
        rows = list(zip(self.rows, self.turns or [None] * len(self.rows), strict=True))
        return [part for part in (rows[:most], rows[most:]) if part]


_MOST_MARKS = 2_000
"""Bars, points or cells of a chart that are drawn at most."""

_DIGITS = 9
"""Of a number that is not whole. DuckDB's threads add up in any order, which shows in the last of all digits."""


@dataclass(frozen=True)
class Figure:
    """A chart of the page: a drawing with its numbers as a table, the table alone, a sentence, or none of them."""

    id: str
    title: str
    description: str
    sentence: str = ""
    """The sentence in place of a chart of a single number or mark."""
    drawing: Markup | None = None
    table: ReportTable | None = None
    note: str = ""
    missing: tuple[str, ...] = ()
    """The missing files of its corpus, if it has no rows."""
    number: int = 0
    """Of the drawings, in the order of the page."""


def figures(
    held: ViewCache, declared: DeclaredDashboard, files: Files, columns: Mapping[str, Sequence[str]], *, tables: bool
) -> Iterator[Figure]:
    """Yield the charts of a declared dashboard in its order; numbers and tables only if ``tables``.

    ``columns``: those of each view by its name.
    """
    known = metrics(files)
    for position, chart in enumerate(worth_drawing(held.rows, declared.dashboard.charts), start=1):
        if tables or chart.kind not in (ChartKind.TABLE, ChartKind.NUMBER):
            counted = narrowed(chart, {}, columns.get(chart.view, ()))
            yield _figure(held, f"{declared.name}-{position}", counted, known.get(chart.view, {}), files)


def _figure(held: ViewCache, name: str, chart: Chart, of_view: Mapping[str, Metric], files: Files) -> Figure:
    most = MOST_ROWS if chart.kind is ChartKind.TABLE else _MOST_MARKS
    with sql_of_chart(held.rows, chart, files):
        sql = chart_sql(msgspec.structs.replace(chart, limit=min(chart.limit, most + 1)), of_view)
        # What acts or hides in texts is written out; of numbers, DuckDB's threads may add up the last digits otherwise.
        texts = pl.col(pl.String).map_elements(visible, return_dtype=pl.String)
        rows = with_weekdays(chart, held.rows(sql)).with_columns(texts, pl.col(pl.Float64).round_sig_figs(_DIGITS))
    columns = fields(chart, of_view)
    figure = Figure(name, chart.title, chart.description.strip())
    if chart.kind is ChartKind.NUMBER:
        value = rows.item()
        return replace(
            figure, sentence=f"{chart.title}: {cell(value, columns[0].format)}." if value is not None else ""
        )
    if sentence := single(chart, columns, rows):
        return replace(figure, sentence=f"{chart.title}: {sentence}")
    if rows.is_empty():
        return replace(figure, missing=tuple(missing_files(held.rows, chart)))
    figure = replace(figure, table=_table_of(columns, with_units(chart, rows), f"{BI}.{chart.view}"))
    if chart.kind is ChartKind.TABLE:
        return figure
    if sentence := only_zero(chart, columns, rows):
        return replace(figure, sentence=f"{chart.title}: {sentence}")
    note = f"The first {most:,} marks; all of them are in {BI}.{chart.view}." if rows.height > most else ""
    colours = palette(held.rows, chart, of_view, files)
    drawn = draw(chart, of_view, rows.head(most), colours)
    return replace(figure, drawing=svg(drawn, name, alternative(chart, columns, rows)), note=note)


def _table_of(columns: Sequence[ChartField], rows: pl.DataFrame, source: str) -> ReportTable:
    ids = [index for index, column in enumerate(columns) if column.name in ID]
    turn = next((index for index, column in enumerate(columns) if column.name == "turn_index"), None)
    heads = [column.title for column in columns]
    return of_values(heads, [column.format for column in columns], rows.iter_rows(), source, ids, turn)


_WIDTH = 460
"""Pixels of a drawing with its axes; a page makes it larger or smaller."""

_TEXT = "currentColor"
_LINES = "rgba(128, 128, 128, 0.3)"
_CONFIG = {
    "background": None,
    "font": "DejaVu Sans, Verdana, sans-serif",
    "autosize": {"type": "fit-x", "contains": "padding"},
    "view": {"stroke": None},
    "axis": {
        "labelColor": _TEXT,
        "titleColor": _TEXT,
        "domainColor": _LINES,
        "tickColor": _LINES,
        "gridColor": _LINES,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": 500,
        "maxExtent": 200,
    },
    "legend": {"labelColor": _TEXT, "titleColor": _TEXT, "labelFontSize": 11, "gradientStrokeColor": None},
}
"""Text has the colour of the page around it, so that it can be read in light and dark.

It has the page's font, too: the wide one here is what its places are measured by, so that no reader's font overlaps.
"""

_SVG = "http://www.w3.org/2000/svg"

_FRACTION = re.compile(r"(\.\d)\d+")

_OF_ELEMENTS = (
    "font-family",
    "aria-roledescription",
    "aria-label",
    "aria-hidden",
    "role",
    "class",
    "pointer-events",
    "version",
)
"""The font, and Vega's descriptions of elements for screen readers: the page names the drawing, and has its numbers."""


def svg(chart: altair.Chart, name: str, alternative: str) -> Markup:
    """Return a chart as an SVG element; ``name``: a prefix for its ids, ``alternative``: its description."""
    # Not checked against the schema of Vega-Lite, which takes as long again: the tests of charts do that.
    specification = chart.properties(width=_WIDTH).to_dict(validate=False)
    drawn = vl_convert.vegalite_to_svg(specification, vl_version=VERSION, config=_CONFIG)
    root = ElementTree.fromstring(drawn)  # noqa: S314 - Vega wrote it
    _tidy(root, name)
    for length in ("width", "height"):
        root.attrib.pop(length)
    root.set("role", "img")
    root.set("aria-label", alternative)
    ElementTree.register_namespace("", _SVG)
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 - its texts are escaped


def _tidy(element: ElementTree.Element, name: str) -> None:
    """Leave out elements that draw nothing, show Vega's descriptions as tooltips, and make ids unique on the page."""
    if element.get("role") == "graphics-symbol" and element.get("aria-roledescription") not in ("axis", "legend"):
        ElementTree.SubElement(element, f"{{{_SVG}}}title").text = element.get("aria-label")
    for key in _OF_ELEMENTS:
        element.attrib.pop(key, None)
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif value.startswith("url(#"):
            element.set(key, value.replace("url(#", f"url(#{name}-"))
        elif key in ("d", "transform"):
            element.set(key, _FRACTION.sub(r"\1", value))
    for child in list(element):
        if child.get("class") in ("background", "foreground"):
            element.remove(child)
        else:
            _tidy(child, name)


def table(
    con: duckdb.DuckDBPyConnection,
    sql: str,
    heads: Mapping[str, NumberFormat | None],
    source: str = "",
    **values: object,
) -> ReportTable:
    """Make a table of a query: ``heads`` has the titles of its columns, and the formats of numbers.

    ``source`` names the view that has all rows, if there may be too many. A column that is empty is left out.
    """
    rows = con.execute(f"{sql} limit {MOST_ROWS + 1}" if source else sql, values or None).fetchall()
    return _filled(list(heads.items()), rows, source)


def of_rows(
    rows: Iterable[Mapping[str, Any]], heads: Mapping[str, tuple[str, NumberFormat | None]], source: str = ""
) -> ReportTable:
    """Make a table of rows by the names of their columns, each with its title and number format.

    ``source`` names the view that has all rows, if there may be too many.
    """
    return _filled(list(heads.values()), [[row[name] for name in heads] for row in rows], source)


def _filled(
    heads: Sequence[tuple[str, NumberFormat | None]], rows: Sequence[Sequence[Any]], source: str
) -> ReportTable:
    """Make a table without the columns that are empty in all rows."""
    filled = [index for index in range(len(heads)) if not rows or any(row[index] is not None for row in rows)]
    return of_values(
        [heads[index][0] for index in filled],
        [heads[index][1] for index in filled],
        [[row[index] for index in filled] for row in rows],
        source,
    )


def of_values(
    heads: Sequence[str],
    formats: Sequence[NumberFormat | None],
    rows: Iterable[Sequence[Any]],
    source: str,
    ids: Iterable[int] = (),
    turn: int | None = None,
) -> ReportTable:
    """Make a table of values, at most MOST_ROWS of them.

    ``ids``: the columns that lead to a dialogue; ``turn``: the column with the turn.
    """
    found = list(rows)
    shown = [[cell(value, how) for value, how in zip(row, formats, strict=True)] for row in found[:MOST_ROWS]]
    numbers = frozenset(index for index, how in enumerate(formats) if how is not None)
    note = f"The first {MOST_ROWS} rows; all of them are in {source}." if len(found) > MOST_ROWS else ""
    turns = [row[turn] for row in found[:MOST_ROWS]] if turn is not None else []
    return ReportTable(heads, shown, numbers, frozenset(ids), turns, note)


def cell(value: Any, how: NumberFormat | None = None) -> str:
    """Write a value as people read it; an en dash for none."""
    if value is None or how is not None:
        return number(value, how or NumberFormat.INTEGER)
    return value.isoformat(" ", "seconds") if isinstance(value, datetime) else str(value)
