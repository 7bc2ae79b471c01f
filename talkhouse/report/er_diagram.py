"""Lays out a diagram of the tables of a warehouse, with their key columns and foreign keys."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from sqlalchemy import ForeignKeyConstraint, Table

from talkhouse.charts.draw import COLOURS
from talkhouse.report.layered import Placed, place
from talkhouse.schema.tables import metadata, qualified

HUB = "main.corpora"
"""What nearly every table points at: no lines are drawn to it, since they would hide all others."""

_WIDTH, _BETWEEN, _GAP = 240, 120, 24
_HEAD, _ROW, _FOOT = 28, 18, 6
"""Pixels: of boxes, between them, and of the parts of a box."""


@dataclass(frozen=True)
class Row:
    """A key column: its name, whether it is of the table's grain, and the table that it points at, or nothing."""

    name: str
    is_grain: bool
    target: str


@dataclass(frozen=True)
class Box:
    """A table; ``colour`` is that of the lines to it, and empty where there are none."""

    name: str
    x: float
    y: float
    height: float
    rows: list[Row]
    colour: str


@dataclass(frozen=True)
class Path:
    """A foreign key: from a table to the one that it points at, as SVG writes a path."""

    table: str
    target: str
    shape: str
    colour: str


@dataclass(frozen=True)
class Diagram:
    """Boxes and paths, in pixels."""

    width: float
    height: float
    box_width: float
    boxes: list[Box]
    paths: list[Path]


def diagram() -> Diagram:
    """Lay out all tables; the same tables always have the same places."""
    tables = {qualified(table): table for table in metadata.tables.values()}
    rows = {name: list(_rows(table)) for name, table in tables.items()}
    heights = {name: float(_HEAD + _ROW * len(rows[name]) + _FOOT) for name in tables}
    links = [(name, _target(link), link) for name, table in tables.items() for link in _drawn(table)]
    placed = place(heights, [(name, target) for name, target, _ in links], _GAP)
    columns = enumerate(placed.columns)
    left = {name: float(column * (_WIDTH + _BETWEEN)) for column, names in columns for name in names}
    often = Counter(target for _, target, _ in links).most_common()
    colours = {target: COLOURS[number % len(COLOURS)] for number, (target, _) in enumerate(often)}
    boxes = [
        Box(name, left[name], placed.tops[name], heights[name], rows[name], colours.get(name, "")) for name in tables
    ]
    paths = []
    for name, target, link in links:
        row = [one.name for one in rows[name]].index(link.column_keys[-1])
        paths.append(Path(name, target, _shape(placed, left, name, target, row), colours[target]))
    height = max(box.y + box.height for box in boxes)
    return Diagram(max(left.values()) + _WIDTH, height, _WIDTH, boxes, paths)


def _constraints(table: Table) -> list[ForeignKeyConstraint]:
    return sorted(table.foreign_key_constraints, key=lambda one: (len(one.column_keys), list(one.column_keys)))


def _target(link: ForeignKeyConstraint) -> str:
    return qualified(link.elements[0].column.table)


def _rows(table: Table) -> Iterator[Row]:
    """Yield the columns of the grain and of foreign keys, in the table's order."""
    targets: dict[str, str] = {}
    for link in _constraints(table):
        for name in link.column_keys:
            targets.setdefault(name, _target(link))
    for column in table.columns:
        if column.name in table.info["grain"] or column.name in targets:
            yield Row(column.name, column.name in table.info["grain"], targets.get(column.name, ""))


def _drawn(table: Table) -> Iterator[ForeignKeyConstraint]:
    """Yield the foreign keys that get a line: not those to HUB, nor those that a longer one implies."""
    links = _constraints(table)
    for link in links:
        columns = set(link.column_keys)
        if _target(link) != HUB and not any(columns < set(longer.column_keys) for longer in links):
            yield link


def _shape(placed: Placed, left: dict[str, float], name: str, target: str, row: int) -> str:
    """Write the path from the row of a table to the head of another, through the places that are kept free for it."""
    route = placed.routes[name, target]
    heights = {box: placed.tops[box] + placed.heights[box] / 2 for box in route[1:-1]}
    heights |= {name: placed.tops[name] + _HEAD + _ROW * (row + 0.5), target: placed.tops[target] + _HEAD / 2}
    x, shape = left[name], f"M{left[name]:g} {heights[name]:g}"
    for here, there in pairwise(route):
        middle, end = x - _BETWEEN / 2, x - _BETWEEN
        shape += f" C{middle:g} {heights[here]:g} {middle:g} {heights[there]:g} {end:g} {heights[there]:g}"
        if there != target:
            shape += f" H{end - _WIDTH:g}"
        x = end - _WIDTH
    return shape
