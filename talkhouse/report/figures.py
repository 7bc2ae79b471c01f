"""The declared charts as figures of the page: a drawing that needs no script, and the same numbers as a table."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import altair
import msgspec
import polars as pl
import vl_convert
from markupsafe import Markup

from talkhouse.charts.declarations import DeclaredDashboard, metrics
from talkhouse.charts.declared import Chart, ChartKind, Metric
from talkhouse.charts.draw import draw, with_units
from talkhouse.charts.fields import ChartField, fields
from talkhouse.charts.pictures import VERSION
from talkhouse.charts.query import chart_sql, narrowed, palette, sql_of_chart
from talkhouse.charts.view_cache import ViewCache, missing_files
from talkhouse.charts.words import alternative, only_zero, single
from talkhouse.queries.catalogue import BI
from talkhouse.queries.files import Files
from talkhouse.report.report_tables import ID, MOST_ROWS, ReportTable, cell, made
from talkhouse.visible import visible

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
    """What stands for a chart of a single number or mark."""
    drawing: Markup | None = None
    table: ReportTable | None = None
    note: str = ""
    missing: tuple[str, ...] = ()
    """Where it has no rows: which files of its corpus are missing."""
    number: int = 0
    """Of the drawings, in the order of the page."""


def figures(
    held: ViewCache, declared: DeclaredDashboard, files: Files, columns: Mapping[str, Sequence[str]], *, tables: bool
) -> Iterator[Figure]:
    """Yield the charts of a declared dashboard in its order; numbers and tables only if ``tables``.

    ``columns``: those of each view by its name.
    """
    known = metrics(files)
    for position, chart in enumerate(declared.dashboard.charts, start=1):
        if tables or chart.kind not in (ChartKind.TABLE, ChartKind.NUMBER):
            counted = narrowed(chart, {}, columns.get(chart.view, ()))
            yield _figure(held, f"{declared.name}-{position}", counted, known.get(chart.view, {}), files)


def _figure(held: ViewCache, name: str, chart: Chart, of_view: Mapping[str, Metric], files: Files) -> Figure:
    most = MOST_ROWS if chart.kind is ChartKind.TABLE else _MOST_MARKS
    with sql_of_chart(held.rows, chart, files):
        sql = chart_sql(msgspec.structs.replace(chart, limit=min(chart.limit, most + 1)), of_view)
        rows = _readable(held.rows(sql))
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
    figure = replace(figure, table=_table(columns, with_units(chart, rows), f"{BI}.{chart.view}"))
    if chart.kind is ChartKind.TABLE:
        return figure
    if sentence := only_zero(chart, columns, rows):
        return replace(figure, sentence=f"{chart.title}: {sentence}")
    note = f"The first {most:,} marks; all of them are in {BI}.{chart.view}." if rows.height > most else ""
    colours = palette(held.rows, chart, of_view, files)
    drawn = draw(chart, of_view, rows.head(most), colours)
    return replace(figure, drawing=svg(drawn, name, alternative(chart, columns, rows)), note=note)


def _readable(rows: pl.DataFrame) -> pl.DataFrame:
    """Write out what acts or hides in texts, and round what the threads of DuckDB may add up otherwise."""
    texts = pl.col(pl.String).map_elements(visible, return_dtype=pl.String)
    return rows.with_columns(texts, pl.col(pl.Float64).round_sig_figs(_DIGITS))


def _table(columns: Sequence[ChartField], rows: pl.DataFrame, source: str) -> ReportTable:
    ids = [index for index, column in enumerate(columns) if column.name in ID]
    turn = next((index for index, column in enumerate(columns) if column.name == "turn_index"), None)
    heads = [column.title for column in columns]
    return made(heads, [column.format for column in columns], rows.iter_rows(), source, ids, turn)


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
"""The font, and what Vega says of elements to who can't see them: the page names the drawing, and has its numbers."""


def svg(chart: altair.Chart, name: str, alternative: str) -> Markup:
    """Return a chart as an SVG element; ``name``: a prefix for its ids, ``alternative``: what it shows, in words."""
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
    """Leave out what draws nothing, and say on pointing what Vega says of a mark; ids are unique on the page."""
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
