"""The diagram of the tables: every key is in it, and no line runs through a box."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.report.er_diagram import HUB, diagram
from talkhouse.report.layered import place
from talkhouse.schema.tables import metadata, qualified


def test_every_table_key_and_reference_is_there() -> None:
    boxes = {box.name: box for box in diagram().boxes}
    assert boxes.keys() == {qualified(table) for table in metadata.tables.values()}
    for table in metadata.tables.values():
        rows = {row.name: row for row in boxes[qualified(table)].rows}
        assert {name for name, row in rows.items() if row.is_grain} == set(table.info["grain"])
        for key in table.foreign_keys:
            assert rows[key.parent.name].target


def test_every_reference_has_a_line_but_those_that_are_said_to_have_none() -> None:
    drawn = {(path.table, path.target) for path in diagram().paths}
    declared = {
        (qualified(table), qualified(key.column.table))
        for table in metadata.tables.values()
        for key in table.foreign_keys
    }
    assert drawn <= declared
    for table, target in declared - drawn:
        implied = any((table, between) in drawn and (between, target) in declared for between, _ in declared)
        assert target == HUB or implied, (table, target)


def test_boxes_and_lines_keep_apart() -> None:
    found = diagram()
    for one, other in combinations(found.boxes, 2):
        beside = abs(one.x - other.x) >= found.box_width
        above = one.y + one.height <= other.y or other.y + other.height <= one.y
        assert beside or above, (one.name, other.name)
    for path in found.paths:
        for x, y in straight(path.shape):
            assert not any(
                box.x < x < box.x + found.box_width and box.y <= y <= box.y + box.height for box in found.boxes
            )


def straight(shape: str) -> list[tuple[float, float]]:
    """List the middles of the straight parts of a path: those that cross a column of boxes."""
    parts, middles, here = shape.replace("M", "M ").replace("C", "C ").replace("H", "H ").split(), [], (0.0, 0.0)
    while parts:
        command = parts.pop(0)
        if command == "H":
            x = float(parts.pop(0))
            middles.append(((here[0] + x) / 2, here[1]))
            here = (x, here[1])
        else:
            numbers = [float(parts.pop(0)) for _ in range({"M": 2, "C": 6}[command])]
            here = (numbers[-2], numbers[-1])
    return middles


def test_a_worked_example() -> None:
    placed = place({"a": 10, "b": 10, "c": 30}, [("b", "a"), ("c", "b"), ("c", "a")], gap=5)
    assert [[name for name in column if name in "abc"] for column in placed.columns] == [["a"], ["b"], ["c"]]
    (bend,) = placed.routes["c", "a"][1:-1]
    assert bend in placed.columns[1]
    assert place({}, [], gap=5).columns == []


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] > pair[1]), max_size=14))
def test_every_line_goes_left_and_boxes_keep_apart(pairs: list[tuple[int, int]]) -> None:
    lines = [(str(right), str(left)) for right, left in pairs]
    placed = place({str(box): 10.0 + box for box in range(9)}, lines, gap=4)
    column = {box: index for index, names in enumerate(placed.columns) for box in names}
    for line in lines:
        assert all(column[right] == column[left] + 1 for right, left in pairwise(placed.routes[line]))
    for names in placed.columns:
        for above, below in pairwise(sorted(names, key=lambda box: placed.tops[box])):
            assert placed.tops[above] + placed.heights[above] + 4 == pytest.approx(placed.tops[below])
