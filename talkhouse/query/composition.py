"""What the rows of an export are of: releases, splits, subsets, languages; and which turns are among them repeatedly.

A corpus that was published several times has a turn once for each time, perhaps with other labels: whoever trains on
all of them, or splits them anew, should know.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from talkhouse.query.selection import Selection
from talkhouse.schema.sql import dicts, quoted
from talkhouse.warehouse.opened import Warehouse

_COLUMNS = ("release", "split", "subset", "language")
_LAST = ("language", "subset", "split")
"""The columns that are left out where there are too many values together, one after the other."""
_MOST = 100
"""Rows of a composition."""
_SHOWN = 8
"""Values that a note lists."""

_PUBLISHED = ("release", "split", "subset")
"""What sets two publications of a turn apart: rows that agree in all of them are meant to be several."""

_KEYS = ("task", "dialogue_id", "turn_index", "item_index")
"""What names a turn, or the part of it that an example is about, among the examples of a task."""

Composition = list[dict[str, Any]]
"""How many rows there are of each combination of values, in the keys ``release``, ``split``, ``subset``, ``language``
and ``rows``; a key is missing where the view has no such column."""


def composition(warehouse: Warehouse, selection: Selection) -> Composition:
    """Return what the selected rows are of; empty where they are not of records or dialogues, or name none of these.

    With more than 100 combinations, languages are not told apart, then neither subsets nor splits.
    """
    is_of_corpora = not {"record_id", "dialogue_id"}.isdisjoint(selection.known)
    left = [column for column in _COLUMNS if column in selection.known and is_of_corpora]
    for column in ("", *_LAST):
        left = [name for name in left if name != column]
        if not left:
            break
        names = ", ".join(map(quoted, left))
        counted = dicts(
            warehouse.con.execute(
                f"select {names}, count(*) as rows from ({selection.rows(left)}) group by all "
                f"order by {', '.join(f'{quoted(name)} nulls first' for name in left)} limit {_MOST + 1}"
            )
        )
        if len(counted) <= _MOST:
            return counted
    return []


def notes(of: Composition) -> list[str]:
    """Say of which releases, splits, subsets and languages the rows are, wherever they are of several."""
    said = []
    for column in _COLUMNS:
        rows = Counter[str]()
        for part in of:
            if column in part:
                rows["(none)" if part[column] is None else part[column]] += part["rows"]
        if len(rows) > 1:
            values = [f"{value} {count:,}" for value, count in rows.most_common(_SHOWN)]
            more = [f"{len(rows) - _SHOWN:,} more"] if len(rows) > _SHOWN else []
            said.append(f"rows by {column}: {', '.join([*values, *more])}")
    return said


def warnings(warehouse: Warehouse, selection: Selection, of: Composition) -> list[str]:
    """Warn of turns, or dialogues, that are among the examples once for each of several releases, splits or subsets.

    ``of``: the composition of the same selection. Several examples of one turn in one publication are no surprise.
    """
    columns = [column for column in _PUBLISHED if column in selection.known and _may_differ(of, column)]
    if not columns or not {"example_index", "dialogue_id"} <= {*selection.known}:
        return []
    ((units, rows, differing, *kinds),) = warehouse.con.execute(_repeated(warehouse, selection, columns)).fetchall()
    if not units:
        return []
    column, values = next((column, values) for column, values in zip(columns, kinds, strict=True) if len(values) > 1)
    listed = ", ".join([*map(str, values[:_SHOWN]), *(["..."] if len(values) > _SHOWN else [])])
    unit = "turn" if "turn_index" in selection.known else "dialogue"
    are = (
        f"{units:,} {unit} of {selection.full_name} is"
        if units == 1
        else f"{units:,} {unit}s of {selection.full_name} are"
    )
    labels = f", with different labels for {differing:,} of them" if differing else ""
    return [
        f"{are} exported more than once ({rows:,} rows), in the {column}s {listed}{labels}: choose one with --{column}"
    ]


def _may_differ(of: Composition, column: str) -> bool:
    """Tell whether rows have several values of a column; they may where the composition is without it."""
    return any(column not in part for part in of) or len({part[column] for part in of}) > 1


def _repeated(warehouse: Warehouse, selection: Selection, columns: Sequence[str]) -> str:
    """Return the query of the turns in several publications: how many, their rows, and in how many labels differ.

    Then for each of these columns the values that the turns are told apart by: none where all rows of each agree.
    """
    keys = [key for key in _KEYS if key in selection.known]
    label = _label_column(warehouse, selection)
    read = dict.fromkeys([*keys, *columns, *([label] if label else [])])
    names = ", ".join(map(quoted, keys))
    published = ", ".join(map(quoted, columns))
    values = ", ".join(f"list_sort(list(distinct {quoted(column)})) as {quoted(column)}" for column in columns)
    several = ", ".join(
        f"coalesce(list_sort(list_distinct(flatten(list(distinct {name}) filter (len({name}) > 1)))), [])"
        for name in map(quoted, columns)
    )
    labels = f"count(distinct row({quoted(label)}))" if label else "1"
    return (
        f"select count(*), sum(rows), count_if(labels > 1), {several} from ("
        f"select {names}, count(*) as rows, {labels} as labels, {values} from ({selection.rows([*read])}) "
        f"where dialogue_id is not null group by {names} having count(distinct row({published})) > 1)"
    )


def _label_column(warehouse: Warehouse, selection: Selection) -> str | None:
    """Return the column of the gold label of a task's view, or of its view of one split."""
    view = warehouse.split_views.get(selection.full_name)
    name = view.task if view else selection.full_name
    columns = {query.full_name: query.label_column for query in warehouse.catalogue.views}
    return columns.get(name) if columns.get(name) in selection.known else None
