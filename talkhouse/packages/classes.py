"""The columns of a view whose values are of a closed set, with the names of these values in the declared order."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from talkhouse.packages.content import Classes, ClassLabel
from talkhouse.queries.heads import ScoreQuery, ViewQuery
from talkhouse.query.selection import Selection
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import identifier
from talkhouse.warehouse.opened import Warehouse

_SHOWN = 5
"""Values without a name that a message shows."""


class ClassColumn(NamedTuple):
    """A column of classes, as the head of its view or of its task's score declares it."""

    column: str
    is_list: bool
    scheme: str | None
    labels: tuple[ClassLabel, ...]
    """Where no scheme has them; none: those that occur."""

    @property
    def occurring(self) -> str:
        """The SQL aggregate of the values that occur, as a list of texts; null where there are none."""
        name = identifier(self.column)
        if self.is_list:
            return f"list_distinct(flatten(list(distinct {name}::varchar[])))"
        return f"list(distinct {name}::varchar)"


def class_columns(warehouse: Warehouse, selection: Selection) -> tuple[ClassColumn, ...]:
    """Return which of the selected columns are of classes, in their order."""
    view = warehouse.view_file(selection.full_name)
    if view is None:
        return ()
    score = next((score for score in warehouse.catalogue.scores if score.full_name == view.full_name), None)
    declared = {column: (scheme, labels) for column, scheme, labels in _declared(view, score)}
    return tuple(
        ClassColumn(column["name"], column["type"].endswith("[]"), *declared[column["name"]])
        for column in selection.columns
        if column["name"] in declared
    )


def _declared(view: ViewQuery, score: ScoreQuery | None) -> Iterator[tuple[str, str | None, tuple[ClassLabel, ...]]]:
    """Yield the columns that a head declares, with the scheme or the labels of each."""
    if view.label_column:
        scheme = view.scheme or (score.scheme if score else None)
        labels = score.labels if score and not scheme else ()
        yield view.label_column, scheme, tuple(ClassLabel(label, view.label_meanings.get(label)) for label in labels)
    for column, names in view.other_classes.items():
        is_scheme = len(names) == 1 and "." in names[0]
        yield (column, names[0], ()) if is_scheme else (column, None, tuple(map(ClassLabel, names)))


def classes(
    warehouse: Warehouse, selection: Selection, columns: Iterable[ClassColumn], values: Mapping[str, set[str]]
) -> tuple[Classes, ...]:
    """Return the classes of these columns; UsageError for a value that has no name among them.

    ``values``: by column those that occur in the selected rows.
    """
    made = []
    for column in columns:
        labels = _labels(warehouse, selection, column)
        names = {label.label for label in labels}
        if unnamed := sorted(values[column.column] - names):
            raise UsageError(
                f"'{column.column}' has values that are none of its labels",
                where=selection.full_name,
                expected=f"one of: {', '.join(label.label for label in labels)}",
                found=", ".join(f"'{value}'" for value in unnamed[:_SHOWN]),
                next_step=f"declare them in {column.scheme or 'the head of the task'}, or leave them out with --where",
            )
        made.append(Classes(column.column, column.is_list, labels, column.scheme))
    return tuple(made)


def _labels(warehouse: Warehouse, selection: Selection, column: ClassColumn) -> tuple[ClassLabel, ...]:
    """Return the labels in the declared order, then others by name."""
    if column.scheme:
        query = "select label, meaning from main.labels where scheme = ? order by label_index nulls last, label"
        rows = warehouse.con.execute(query, [column.scheme]).fetchall()
        return tuple(ClassLabel(label, meaning) for label, meaning in rows)
    if column.labels:
        return column.labels
    # Of all rows, so that a number means the same whichever of them are wanted.
    ((occurring,),) = warehouse.con.execute(f"select {column.occurring} from {selection.source}").fetchall()
    return tuple(ClassLabel(label) for label in sorted(value for value in occurring or () if value is not None))
