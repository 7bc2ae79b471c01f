"""Tasks: the examples of any task view, one by one, as a model sees them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from talkhouse.dashboard import download, links, overlap, warehouse
from talkhouse.dashboard.example_html import example_html
from talkhouse.dashboard.examples import Choice, Size, Task, example, find_task, label_counts, sizes, task_names
from talkhouse.dashboard.tables import counted
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.schema.sql import literal
from talkhouse.visible import visible

_MEANINGS = "select label, meaning from main.labels where scheme = $scheme and meaning is not null"


def page() -> None:
    """Draw the choice of a task and its examples, then one of them."""
    st.title("Tasks", anchor=False)
    opened = warehouse.current()
    names = task_names(opened)
    if not names:
        st.info("No task has examples in this warehouse.")
        return
    columns = iter(st.columns([2, 1, 1, 1]))
    name = next(columns).selectbox(
        "Task", names, key="task", bind="query-params", format_func=visible, on_change=_to_the_first
    )
    chosen = find_task(opened, name)
    choice, of, count = _choose(opened, chosen, columns)
    st.caption(plain(chosen.comment))
    if not count:
        st.info("No example fits this choice.")
        return
    position = _position(count)
    row = example(opened, chosen, choice, position, of)
    declared = opened.rows(_MEANINGS, {"scheme": chosen.scheme}).iter_rows() if chosen.scheme else ()
    _draw_links(chosen, row)
    st.html(example_html(chosen, row, {**chosen.meanings, **dict(declared)}))
    download.draw(*_rows(chosen, choice, opened))
    overlap.draw_of_task(opened, (chosen.corpus, chosen.name), choice.release, choice.split, row)


def _to_the_first() -> None:
    st.session_state["example"] = 1


def _choose(opened: Warehouse, chosen: Task, columns: Iterator[DeltaGenerator]) -> tuple[Choice, list[Size], int]:
    """Draw the choice of release, split and label; return it, the sizes of what is chosen, and how many examples."""
    of = sizes(opened, chosen)
    release = _select(columns, "release", "Publisher's release", [size.release for size in of])
    of = [size for size in of if release in (None, size.release)]
    split = _select(columns, "split", "Split", [size.split for size in of])
    of = [size for size in of if split in (None, size.split)]
    counts = label_counts(opened, chosen, Choice(release, split))
    label = _select(columns, "label", "Label", list(counts))
    count = sum(size.count for size in of) if label is None else counts[label]
    return Choice(release, split, label), of, count


def _select(
    columns: Iterator[DeltaGenerator], name: str, title: str, values: list[str | None] | list[str]
) -> str | None:
    """Draw a choice of one value or all in the next column; nothing where there is a single one."""
    options = list(dict.fromkeys(value for value in values if value is not None))
    if len(options) < 2:
        return None
    return next(columns).selectbox(
        title,
        options,
        index=None,
        key=f"task_{name}",  # other pages have several values by the plain name
        bind="query-params",
        format_func=visible,
        placeholder="All",
        on_change=_to_the_first,
    )


def _position(count: int) -> int:
    """Draw how to get from one example to another, and return the 0-based position of the one that is shown."""
    with st.container(horizontal=True, vertical_alignment="center"):
        number = st.pagination(count, key="example", bind="query-params")
        st.number_input(
            "Go to example",
            1,
            count,
            number,
            key=f"go-{number}",
            on_change=_go,
            args=(number,),
            width=150,
            label_visibility="collapsed",
        )
        st.caption(f"of {counted(count, 'example')}")
    return number - 1


def _go(number: int) -> None:
    st.session_state["example"] = st.session_state[f"go-{number}"]


def _draw_links(chosen: Task, row: Mapping[str, Any]) -> None:
    """Draw the ways to the conversation and to a query of this row."""
    where = "\n    and ".join(_equals(name, row[name]) for name in chosen.grain)
    query = f"select *\nfrom {chosen.full_name}\nwhere {where}"
    with st.container(horizontal=True):
        if row["dialogue_id"] is not None:
            address = links.read(row["dialogue_id"], row.get("turn_index"))
            st.link_button("The conversation", address, icon=":material/forum:")
        st.link_button("In SQL", links.sql(query), icon=":material/database:")


def _equals(column: str, value: object) -> str:
    if value is None:
        return f"{column} is null"
    return f"{column} = {literal(value) if isinstance(value, str) else value}"


def _rows(chosen: Task, choice: Choice, opened: Warehouse) -> Iterator[download.Rows]:
    """Yield what can be downloaded: the examples that are chosen, and where they can be scored, a prediction table.

    By ``export``, which knows splits and no other choice, or by a query.
    """
    parts = [chosen.full_name, choice.release, choice.split, choice.label]
    name = re.sub(r"[^\w.+-]", "_", ".".join(part for part in parts if part))
    if choice.release is None and choice.label is None:
        yield download.Rows(name, chosen.full_name, choice.split, title="Examples")
    else:
        where = "\n    and ".join(choice.conditions(chosen))
        query = f"select *\nfrom {chosen.full_name}\nwhere {where}\norder by {', '.join(chosen.grain)}"
        yield download.Rows(name, query=query, title="Examples")
    if any(chosen.full_name in (score.full_name, *score.tasks) for score in opened.catalogue.scores):
        yield download.Rows(
            f"{name}.predictions",
            chosen.full_name,
            choice.split,
            title="Prediction template",
            is_template=True,
            release=choice.release,
        )
