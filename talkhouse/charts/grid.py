"""Where charts stand: in rows of a grid as wide as declared, each as high as declared or as its kind has it."""

from collections.abc import Iterable, Iterator

from talkhouse.charts.declared import COLUMNS, Chart, Kind

_UNIT = 8
"""Pixels of a unit of a chart's declared height."""

_DRAWN = 320
"""Pixels of what is drawn, at least."""

_BOXES = {Kind.NUMBER: 18, Kind.TABLE: 50, Kind.BAR: 50, Kind.LINE: 50, Kind.HEATMAP: 50}
"""Units of what is drawn with its title and margins."""


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
    """Return the height of what is drawn, in pixels."""
    return max(chart.height * _UNIT, _DRAWN)
