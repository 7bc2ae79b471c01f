"""The examples of a task as a table: rows by the page, and what each column holds, at a glance in its head."""

from collections.abc import Mapping

import polars as pl
import streamlit as st

from talkhouse.charts.fields import ChartField
from talkhouse.dashboard import links
from talkhouse.dashboard.examples import Choice, ExampleTask, Size, TaskColumn, among_published, where_sql
from talkhouse.dashboard.tables import counted, table_html
from talkhouse.dashboard.text import html, style
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.escaping import visible
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.sql_files import sql_of

_ROWS = 20
_MOST_SUMMARISED = 100_000
"""Of more examples, each second, third and so on is counted for the heads."""
_BINS = 10
_MOST_VALUES = 30
"""A text of more different values is shown by its length, as a list is by that."""
_MOST_LETTERS = 120
_NUMBERS = ("BIGINT", "DECIMAL", "DOUBLE", "FLOAT", "HUGEINT", "INTEGER", "SMALLINT", "TINYINT", "U")
_STYLE = style(__file__, "task_table")


def draw(opened: ServedWarehouse, task: ExampleTask, choice: Choice, of: list[Size], count: int) -> None:
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
