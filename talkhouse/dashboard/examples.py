"""The examples of the tasks: single ones, found without reading the whole view, and pages of them as a table.

An example is found in ``main.examples``, and then in its view by the record and the dialogue that it was made from: so
the view looks up one dialogue. A label is only in the view, which then gives this column of all its rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
import streamlit as st

from talkhouse.charts.fields import ChartField
from talkhouse.dashboard import links
from talkhouse.dashboard.tables import counted, table_html
from talkhouse.dashboard.text import html, style
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.escaping import visible
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import identifier, literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.tables import metadata
from talkhouse.warehouse.relations import columns_of

_KEYS = ("split", "example_index", "record_id", "dialogue_id")
"""Columns that together identify a row of any task view, as ``bi.example_labels`` joins them."""

_COMMENT = """
select comment from duckdb_views()
where schema_name = $corpus and view_name = $task and database_name = current_database()
"""

_ABOUT_PLACE = frozenset(
    column.name for table in ("examples", "records", "dialogues") for column in metadata.tables[table].columns
)
"""Columns for the origin of an example: those that a view takes from these tables."""


@dataclass(frozen=True)
class TaskColumn:
    """A column of a task view."""

    name: str
    type: str
    meaning: str

    @property
    def is_about_place(self) -> bool:
        """Whether it is about the origin of the example, and not about input or output of a model."""
        return self.name in _ABOUT_PLACE


@dataclass(frozen=True)
class ExampleTask:
    """A task view with its declaration."""

    corpus: str
    name: str
    comment: str
    columns: tuple[TaskColumn, ...]
    grain: tuple[str, ...]
    label: str | None
    """The column of the right answer, if that is of a closed set."""
    has_many_labels: bool
    """Whether this column is a list."""
    scheme: str | None
    meanings: Mapping[str, str]
    """Of labels that the task makes itself."""

    @property
    def full_name(self) -> str:
        """The name as a user types it."""
        return f"{self.corpus}.{self.name}"

    @property
    def name_in_sql(self) -> str:
        """The same in SQL, quoted if necessary."""
        return identifier(self.corpus, self.name)

    @property
    def release(self) -> str | None:
        """The column with the publisher's release of an example; one task names it by what these releases are."""
        return next((name for name in self.grain if name not in ("split", "example_index")), None)


@dataclass(frozen=True)
class Choice:
    """A choice of a task's examples; None is all."""

    release: str | None = None
    split: str | None = None
    label: str | None = None

    def conditions(self, task: ExampleTask) -> list[str]:
        """Return it as SQL conditions on the task's view."""
        found = []
        if self.release is not None and task.release:
            found.append(f"{quoted(task.release)} = {literal(self.release)}")
        if self.split is not None:
            found.append(f"split = {literal(self.split)}")
        if self.label is not None and task.label:
            column = quoted(task.label)
            found.append(
                f"list_contains({column}, {literal(self.label)})"
                if task.has_many_labels
                else f"{column} = {literal(self.label)}"
            )
        return found


@dataclass(frozen=True)
class Size:
    """The number of examples of a publisher's release and split of a task."""

    release: str | None
    split: str | None
    count: int


def task_names(opened: ServedWarehouse) -> list[str]:
    """Return the full names of the views of all tasks that have examples."""
    return opened.rows(sql_of(__file__, "tasks_with_examples")).to_series().to_list()


def find_task(opened: ServedWarehouse, full_name: str) -> ExampleTask:
    """Return a task by the full name of its view; a task unknown to the catalogue has no declaration."""
    corpus, _, name = full_name.partition(".")
    with opened.connection() as con:
        columns = tuple(
            TaskColumn(column["name"], column["type"], column["meaning"] or "")
            for column in columns_of(con, corpus, name)
        )
    view = next((view for view in opened.catalogue.views if view.full_name == full_name), None)
    return ExampleTask(
        corpus,
        name,
        opened.rows(_COMMENT, {"corpus": corpus, "task": name}).item() or "",
        columns,
        view.grain if view else ("split", "example_index"),
        view.label_column if view else None,
        view is not None and view.labels is not None,
        view.scheme if view else None,
        view.label_meanings if view else {},
    )


def sizes(opened: ServedWarehouse, task: ExampleTask) -> list[Size]:
    """Return the number of examples of each publisher's release and split, in the order of an export."""
    rows = opened.rows(sql_of(__file__, "split_sizes"), {"corpus": task.corpus, "task": task.name})
    return [Size(*row) for row in rows.iter_rows()]


def label_counts(opened: ServedWarehouse, task: ExampleTask, choice: Choice) -> dict[str, int]:
    """Return the labels of the chosen examples with their counts, the most frequent first."""
    if task.label is None:
        return {}
    column = quoted(task.label)
    each = f"unnest(list_distinct({column}))" if task.has_many_labels else column
    rows = opened.rows(
        f"select label, count(*) from (select {each} as label from {task.name_in_sql}"
        f"{where_sql(choice.conditions(task))}) where label is not null group by label order by count(*) desc, label"
    )
    return dict(rows.iter_rows())


def example(
    opened: ServedWarehouse, task: ExampleTask, choice: Choice, position: int, of: list[Size]
) -> dict[str, Any]:
    """Return the example at a 0-based position among those chosen: column -> value, None for null.

    ``of`` is the sizes of the publisher's releases and splits that are chosen.
    """
    keys = _placed(opened, task, position, of) if choice.label is None else _labelled(opened, task, choice, position)
    columns = {column.name for column in task.columns}
    conditions = [
        f"{quoted(name)} = {(literal(value) if isinstance(value, str) else value)}"
        for name, value in keys.items()
        if name in columns and value is not None
    ]
    return _first(opened.rows(f"select * from {task.name_in_sql}{where_sql(conditions)}"), task, position)


def _first(rows: pl.DataFrame, task: ExampleTask, position: int) -> dict[str, Any]:
    """Return the first row; CatalogueError if the view of the task lacks some of its examples."""
    if rows.is_empty():
        raise CatalogueError(
            f"the view {task.full_name} has no row of example {position + 1}",
            expected="a row for each example of the task in main.examples",
            next_step=f"compare the two files of queries/{task.corpus}: {task.name}.sql and examples/{task.name}.sql",
        )
    return rows.row(0, named=True)


def _placed(opened: ServedWarehouse, task: ExampleTask, position: int, of: list[Size]) -> dict[str, Any]:
    """Find an example in the table of all: within a publisher's release and split, indexes have no gaps."""
    for size in of:
        if position < size.count:
            break
        position -= size.count
    values = {"corpus": task.corpus, "task": task.name, "release": size.release, "split": size.split, "index": position}
    return _first(opened.rows(sql_of(__file__, "placed_example", keys=", ".join(_KEYS)), values), task, position)


def among_published(task: ExampleTask, of: list[Size], first: int, number: int) -> str:
    """Return the SQL condition of so many examples from a 0-based position on, by their indexes, which have no gaps."""
    found = []
    for size in of:
        if first < size.count and first + number > 0:
            names = {"split": size.split, **({task.release: size.release} if task.release else {})}
            parts = [
                f"{quoted(name)} is not distinct from {'null' if value is None else literal(value)}"
                for name, value in names.items()
            ]
            parts.append(f"example_index between {max(first, 0)} and {first + number - 1}")
            found.append(f"({' and '.join(parts)})")
        first -= size.count
    return " or ".join(found)


def _labelled(opened: ServedWarehouse, task: ExampleTask, choice: Choice, position: int) -> dict[str, Any]:
    """Find an example in its view, which alone knows the labels."""
    where = where_sql(choice.conditions(task))
    order = ", ".join(f"{quoted(name)} nulls last" for name in task.grain)
    sql = f"select {', '.join(_KEYS)} from {task.name_in_sql}{where} order by {order} limit 1 offset {position}"
    return _first(opened.rows(sql), task, position)


def where_sql(conditions: list[str]) -> str:
    """Return the where clause of conditions, which may be none."""
    return f" where {' and '.join(conditions)}" if conditions else ""


_ROWS = 20
_MOST_SUMMARISED = 100_000
"""Of more examples, each second, third and so on is counted for the heads."""
_BINS = 10
_MOST_VALUES = 30
"""A text of more different values is shown by its length, as a list is by that."""
_MOST_LETTERS = 120
_NUMBERS = ("BIGINT", "DECIMAL", "DOUBLE", "FLOAT", "HUGEINT", "INTEGER", "SMALLINT", "TINYINT", "U")
_STYLE = style(__file__, "task_table")


def draw_examples(opened: ServedWarehouse, task: ExampleTask, choice: Choice, of: list[Size], count: int) -> None:
    """Draw a page of the chosen examples, in the order in which they were published or by a column.

    ``of`` is the sizes of the publisher's releases and splits that are chosen, ``count`` the number of examples.
    """
    columns = sorted(task.columns, key=lambda column: column.is_about_place or column.name.endswith(("_id", "_ids")))
    names = [column.name for column in columns]
    by, down, among, part = st.columns([3, 2, 3, 3], vertical_alignment="bottom")
    order = by.selectbox("Sort by", names, None, format_func=visible, placeholder="As published", key="sort_by")
    is_descending = down.toggle("Descending", key="descending", disabled=order is None)
    searched = among.selectbox("Filter", names, None, format_func=visible, placeholder="All rows", key="filter_by")
    words = part.text_input("Contains", key="contains", disabled=searched is None)
    conditions = choice.conditions(task)
    every = -(-count // _MOST_SUMMARISED)
    heads = _heads(opened, task, conditions, every)
    if searched and words:
        conditions.append(f"contains(lower({quoted(searched)}::varchar), lower({literal(words)}))")
        count = opened.rows(f"select count(*) from {task.name_in_sql}{where_sql(conditions)}").item()
    if not count:
        st.info("No example contains this.")
        return
    page = st.pagination(-(-count // _ROWS), key="table_page") if count > _ROWS else 1
    chosen = ", ".join(f"{_shown(column)} as {quoted(column.name)}" for column in columns)
    keys = ", ".join(f"{quoted(task.name)}.{quoted(name)} nulls last" for name in task.grain)
    if order:
        keys = f"{quoted(task.name)}.{quoted(order)} {'desc' if is_descending else 'asc'} nulls last, {keys}"
    first = (page - 1) * _ROWS
    if order is None and choice.label is None and not (searched and words):  # found by their index, at any depth
        conditions, first = [among_published(task, of, first, _ROWS)], 0
    rows = opened.rows(
        f"select {chosen} from {task.name_in_sql}{where_sql(conditions)} order by {keys} limit {_ROWS} offset {first}"
    )
    leads = [
        links.read(row["dialogue_id"], row.get("turn_index")) if row["dialogue_id"] is not None else ""
        for row in rows.iter_rows(named=True)
    ]
    fields = [ChartField(column.name, column.name) for column in columns]
    st.html(_STYLE + table_html(f"Examples of {task.full_name}", rows, fields, leads, heads))
    sampled = f"; what a column holds is counted in 1 of {every:,}" if every > 1 else ""
    st.caption(f"{counted(count, 'example')}; long texts are cut{sampled}")


def _shown(column: TaskColumn) -> str:
    """Return the SQL of a column's values as a table shows them: numbers, ids, and the beginnings of texts."""
    name = quoted(column.name)
    if column.is_about_place or _is_number(column):
        return name
    text = f"array_to_string({name}, ' / ')" if column.type == "VARCHAR[]" else f"{name}::varchar"
    return f"if(length({text}) > {_MOST_LETTERS}, left({text}, {_MOST_LETTERS}) || '…', {text})"


def _is_number(column: TaskColumn) -> bool:
    return column.type.startswith(_NUMBERS) and not column.type.endswith("[]")


def _heads(opened: ServedWarehouse, task: ExampleTask, conditions: list[str], every: int) -> Mapping[str, str]:
    """Return the summary of each column, as HTML, by one query over 1 of so many examples, at even distances."""
    some = [*conditions, *([f"example_index % {every} = 0"] if every > 1 else [])]
    summaries = []
    for position, column in enumerate(task.columns):
        is_list, name = column.type.endswith("[]"), quoted(column.name)
        number = name if _is_number(column) else f"len({name})" if is_list else f"length({name}::varchar)"
        values = 0 if _is_number(column) or is_list else _MOST_VALUES
        summaries.append(
            sql_of(
                __file__,
                "column_summary",
                position=position,
                column=name,
                number=number,
                bins=_BINS,
                values=values,
                letters=_MOST_LETTERS,
            )
        )
    union = "\nunion all\n".join(f"from ({summary})" for summary in summaries)
    rows = opened.rows(
        f"with rows as materialized (select * from {task.name_in_sql}{where_sql(some)})\n{union}\n"
        "order by position, kind desc, place"
    )
    return {column.name: _head(column, rows.filter(position=at)) for at, column in enumerate(task.columns)}


def _head(column: TaskColumn, parts: pl.DataFrame) -> str:
    """Return the most frequent values with their shares, or a histogram with its range."""
    lines, bars = "", {}
    for kind, text, at, number, whole, low, high in parts.drop("position").iter_rows():
        if kind == "bin":
            bars[at], ends = number, (low, high)
        elif whole:
            name = html("null" if text is None else text, lines=False)
            lines += (
                f'<div style="--part:{number / whole:.1%}" title="{name}"><span>{name}</span> '
                f"<b>{number / whole:.0%}</b></div>"
            )
    if bars:
        drawn = "".join(
            f'<i style="height:{100 * bars.get(at, 0) / max(bars.values()):.0f}%"></i>' for at in range(_BINS)
        )
        unit = " items" if column.type.endswith("[]") else "" if _is_number(column) else " letters"
        lines = (
            f'<div class="bars" aria-hidden="true">{drawn}</div><div>{ends[0]:,g} to {ends[1]:,g}{unit}</div>{lines}'
        )
    return f'<div class="holds">{lines}</div>'
