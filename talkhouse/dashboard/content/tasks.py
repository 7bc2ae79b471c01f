"""Tasks: the examples of any task view, one by one, as a model sees them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from talkhouse.dashboard import download, links, overlap, warehouse
from talkhouse.dashboard.examples import (
    Choice,
    ExampleTask,
    Size,
    TaskColumn,
    draw_examples,
    example,
    find_task,
    label_counts,
    sizes,
    task_names,
)
from talkhouse.dashboard.tables import counted
from talkhouse.dashboard.text import html, plain, style
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.escaping import visible
from talkhouse.schema.sql import identifier, literal

_SHOWN = ("One by one", "Table")
_MEANINGS = "select label, meaning from main.labels where scheme = $scheme and meaning is not null"


def page() -> None:
    """Draw the choice of a task and its examples, then one of them or a table."""
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
        st.info("No example matches this selection.")
        return
    shown = st.segmented_control("Show", _SHOWN, default=_SHOWN[0], required=True, key="task_show", bind="query-params")
    if shown == "Table":
        draw_examples(opened, chosen, choice, of, count)
        download.draw(*_rows(chosen, choice, opened))
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


class _Chosen(NamedTuple):
    """The choice, the sizes of the publisher's releases and splits in it, and the number of its examples."""

    choice: Choice
    of: list[Size]
    example_count: int


def _choose(opened: ServedWarehouse, chosen: ExampleTask, columns: Iterator[DeltaGenerator]) -> _Chosen:
    """Draw the choice of publisher's release, split and label, and return what is chosen."""
    of = sizes(opened, chosen)
    release = _select(columns, "release", "Publisher's release", [size.release for size in of])
    of = [size for size in of if release in (None, size.release)]
    split = _select(columns, "split", "Split", [size.split for size in of])
    of = [size for size in of if split in (None, size.split)]
    counts = label_counts(opened, chosen, Choice(release, split))
    label = _select(columns, "label", "Label", list(counts))
    count = sum(size.count for size in of) if label is None else counts[label]
    return _Chosen(Choice(release, split, label), of, count)


def _select(
    columns: Iterator[DeltaGenerator], name: str, title: str, values: list[str | None] | list[str]
) -> str | None:
    """Draw a choice of one value or all in the next column; nothing if there is a single one."""
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
    """Draw the navigation between examples, and return the 0-based position of the shown one."""
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


def _draw_links(chosen: ExampleTask, row: Mapping[str, Any]) -> None:
    """Draw the ways to the conversation and to a query of this row."""
    where = "\n    and ".join(_equals(name, row[name]) for name in chosen.grain)
    query = f"select *\nfrom {chosen.name_in_sql}\nwhere {where}"
    with st.container(horizontal=True):
        if row["dialogue_id"] is not None:
            address = links.read(row["dialogue_id"], row.get("turn_index"))
            st.link_button("The dialogue", address, icon=":material/forum:")
        st.link_button("In SQL", links.sql(query), icon=":material/database:")


def _equals(column: str, value: object) -> str:
    if value is None:
        return f"{identifier(column)} is null"
    return f"{identifier(column)} = {literal(value) if isinstance(value, str) else value}"


def _rows(chosen: ExampleTask, choice: Choice, opened: ServedWarehouse) -> Iterator[download.DownloadFile]:
    """Yield the downloads: the chosen examples, and if they can be scored, a prediction table.

    By ``export``, which knows splits and no other choice, or by a query.
    """
    parts = [chosen.full_name, choice.release, choice.split, choice.label]
    name = re.sub(r"[^\w.+-]", "_", ".".join(part for part in parts if part))
    if choice.release is None and choice.label is None:
        yield download.DownloadFile(name, chosen.full_name, choice.split, title="Examples")
    else:
        where = "\n    and ".join(choice.conditions(chosen))
        order = ", ".join(map(identifier, chosen.grain))
        query = f"select *\nfrom {chosen.name_in_sql}\nwhere {where}\norder by {order}"
        yield download.DownloadFile(name, query=query, title="Examples")
    if any(chosen.full_name in (score.full_name, *score.tasks) for score in opened.catalogue.scores):
        yield download.DownloadFile(
            f"{name}.predictions",
            chosen.full_name,
            choice.split,
            title="Prediction template",
            is_template=True,
            release=choice.release,
        )


_STYLE = style(__file__, "tasks")

_ANSWERS = ("response", "label", "labels", "gold_id", "gold_text", "gold_image")
"""Names that task views give to the right answer, in addition to the column that their head declares as the label."""

_ASIDE = ("_ids", "_images", "_image", "_id", "_file")
"""Endings of columns with identifiers, which are no text to read."""

_TAG = '<span class="tag">gold</span>'


def example_html(task: ExampleTask, row: Mapping[str, Any], meanings: Mapping[str, str]) -> str:
    """Return an example; ``meanings``: label -> its meaning, if declared."""
    parallel = [column for column in task.columns if "candidate" in column.name and column.type.endswith("[]")]
    if len({None if row[column.name] is None else len(row[column.name]) for column in parallel}) > 1:
        parallel = parallel[:1]
    lines = []
    for column in task.columns:
        if column.is_about_place or column in parallel[1:]:
            continue
        if column in parallel:
            lines.append(_example_line(parallel, _candidates(task, parallel, row)))
        elif _is_answer(task, column):
            lines.append(_example_line([column], _answer(task, column, row[column.name], meanings), is_gold=True))
        else:
            lines.append(_example_line([column], _value(column, row[column.name])))
    places = "".join(
        f'<span title="{html(column.meaning, lines=False)}"><code>{html(column.name)}</code> '
        f"{_single(row[column.name])}</span>"
        for column in task.columns
        if column.is_about_place
    )
    return f'{_STYLE}<div class="example">{"".join(lines)}<div class="places">{places}</div></div>'


def _is_answer(task: ExampleTask, column: TaskColumn) -> bool:
    if column.name == "response" and any(other.name.startswith("candidate_") for other in task.columns):
        return False  # the candidates are something else, and the response is given
    return column.name == task.label or column.name in _ANSWERS


def _example_line(columns: Sequence[TaskColumn], value: str, *, is_gold: bool = False) -> str:
    names = "".join(
        f"<div><code>{html(column.name)}</code>{_TAG if is_gold else ''}"
        f'<div class="meaning">{html(column.meaning)}</div></div>'
        for column in columns
    )
    kind = "line gold" if is_gold else "line"
    return f'<div class="{kind}"><div class="name">{names}</div><div class="value">{value}</div></div>'


def _value(column: TaskColumn, value: Any) -> str:
    if isinstance(value, list) and value and not column.name.endswith(_ASIDE):
        items = "".join(f'<li dir="auto">{_single(item)}</li>' for item in value)
        return f"<ol>{items}</ol>"
    shown = _single(value)
    return f'<div class="aside">{shown}</div>' if column.name.endswith(_ASIDE) else f'<div dir="auto">{shown}</div>'


def _answer(task: ExampleTask, column: TaskColumn, value: Any, meanings: Mapping[str, str]) -> str:
    """Return the right answer, or each of several, a label of a scheme followed by its meaning."""
    known = meanings if column.name == task.label else {}
    answers = value if isinstance(value, list) and value else [value]
    return "".join(
        f'<div dir="auto"><b>{_single(answer)}</b>'
        + (f' <span class="meaning">{html(known[answer])}</span>' if answer in known else "")
        + "</div>"
        for answer in answers
    )


def _candidates(task: ExampleTask, columns: Sequence[TaskColumn], row: Mapping[str, Any]) -> str:
    """Return the candidates, a line each, with its values in the columns."""
    lists = [row[column.name] for column in columns]
    if not lists[0]:
        return _single(lists[0])
    gold = _gold_positions(task, lists[0], row)
    items = [
        f'<li dir="auto" class="{"gold" if position in gold else ""}">'
        + "".join(_value(column, value) for column, value in zip(columns, values, strict=True))
        + "</li>"
        for position, values in enumerate(zip(*lists, strict=True))
    ]
    return f'<ol class="candidates">{"".join(items)}</ol>'


def _gold_positions(task: ExampleTask, candidates: Sequence[Any], row: Mapping[str, Any]) -> set[int]:
    """Return the positions of the right candidates: the view's own position, else found by text."""
    if row.get("gold_position") is not None:
        return {row["gold_position"]}
    answers = [row[column.name] for column in task.columns if _is_answer(task, column)]
    texts = {text for answer in answers for text in (answer if isinstance(answer, list) else [answer]) if text}
    equal = {position for position, candidate in enumerate(candidates) if candidate in texts}
    # A reference reader may write a space behind the last candidate.
    return equal or {position for position, candidate in enumerate(candidates) if str(candidate).strip() in texts}


def _single(value: Any) -> str:
    """Return one value; null, the empty text and white space are told apart."""
    if value is None:
        return '<span class="nothing">null</span>'
    if value == "":
        return '<span class="nothing">empty text</span>'
    if isinstance(value, str):
        # White space alone could not be seen.
        return f'<span class="nothing">{html(json.dumps(value))}</span>' if value.isspace() else html(value)
    if isinstance(value, list):
        return ", ".join(map(_single, value)) or '<span class="nothing">empty list</span>'
    if isinstance(value, bool):
        return str(value).lower()
    return html(json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value))
