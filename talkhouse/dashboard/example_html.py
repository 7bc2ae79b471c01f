"""An example as HTML: a line for each column with its meaning, the right answer marked, texts as they are."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from talkhouse.dashboard.examples import Column, Task
from talkhouse.dashboard.text import html

_STYLE = """
<style>
.example { font-size: 0.95rem; line-height: 1.5; }
.example .line { display: flex; flex-wrap: wrap; gap: 0.2rem 1.25rem; padding: 0.6rem 0.75rem;
  border-top: 1px solid rgba(128, 128, 128, 0.25); border-left: 3px solid transparent; }
.example .gold { border-left-color: #2e9e5b; background: rgba(46, 158, 91, 0.1); }
.example .name { flex: 1 1 13rem; max-width: 19rem; font-size: 0.8rem; }
.example .name code { font-size: 0.85rem; }
.example .meaning { opacity: 0.7; }
.example .value { flex: 4 1 22rem; min-width: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
.example ol { margin: 0; padding-inline-start: 2rem; }
.example li { padding: 0.1rem 0.3rem; white-space: pre-wrap; }
.example .candidates { max-height: 24rem; overflow-y: auto; }
.example li.gold { background: rgba(46, 158, 91, 0.16); }
.example .aside { font-size: 0.8rem; opacity: 0.75; }
.example .nothing { opacity: 0.6; font-style: italic; }
.example .tag { font-size: 0.7rem; font-weight: 600; color: #fff; background: #26804a; border-radius: 0.25rem;
  padding: 0.05rem 0.35rem; margin-inline-start: 0.4rem; white-space: nowrap; }
.example .places { display: flex; flex-wrap: wrap; gap: 0.1rem 1.25rem; font-size: 0.8rem;
  padding: 0.6rem 0.75rem; border-top: 1px solid rgba(128, 128, 128, 0.25); }
</style>
"""
"""Grey and green with some transparency fit the light theme and the dark one."""

_ANSWERS = ("response", "label", "labels", "gold_id", "gold_text", "gold_image")
"""Names that task views give to the right answer, beside the column that their head declares as the label."""

_ASIDE = ("_ids", "_images", "_image", "_id", "_file")
"""Endings of columns that name something and are no text to read."""

_TAG = '<span class="tag">gold</span>'


def example_html(task: Task, row: Mapping[str, Any], meanings: Mapping[str, str]) -> str:
    """Return an example; ``meanings``: label -> what it means, as far as declared."""
    parallel = [column for column in task.columns if _is_candidates(column)]
    if len({None if row[column.name] is None else len(row[column.name]) for column in parallel}) > 1:
        parallel = parallel[:1]
    lines = []
    for column in task.columns:
        if column.is_about_place or column in parallel[1:]:
            continue
        if column in parallel:
            lines.append(_line(parallel, _candidates(task, parallel, row)))
        elif _is_answer(task, column):
            lines.append(_line([column], _answer(task, column, row[column.name], meanings), is_gold=True))
        else:
            lines.append(_line([column], _value(column, row[column.name])))
    places = "".join(
        f'<span title="{html(column.meaning, lines=False)}"><code>{html(column.name)}</code> '
        f"{_single(row[column.name])}</span>"
        for column in task.columns
        if column.is_about_place
    )
    return f'{_STYLE}<div class="example">{"".join(lines)}<div class="places">{places}</div></div>'


def _is_candidates(column: Column) -> bool:
    return "candidate" in column.name and column.type.endswith("[]")


def _is_answer(task: Task, column: Column) -> bool:
    if column.name == "response" and any(one.name.startswith("candidate_") for one in task.columns):
        return False  # the candidates are something else, and the response is given
    return column.name == task.label or column.name in _ANSWERS


def _line(columns: Sequence[Column], value: str, *, is_gold: bool = False) -> str:
    names = "".join(
        f"<div><code>{html(column.name)}</code>{_TAG if is_gold else ''}"
        f'<div class="meaning">{html(column.meaning)}</div></div>'
        for column in columns
    )
    kind = "line gold" if is_gold else "line"
    return f'<div class="{kind}"><div class="name">{names}</div><div class="value">{value}</div></div>'


def _value(column: Column, value: Any) -> str:
    if isinstance(value, list) and value and not column.name.endswith(_ASIDE):
        items = "".join(f'<li dir="auto">{_single(item)}</li>' for item in value)
        return f"<ol>{items}</ol>"
    shown = _single(value)
    return f'<div class="aside">{shown}</div>' if column.name.endswith(_ASIDE) else f'<div dir="auto">{shown}</div>'


def _answer(task: Task, column: Column, value: Any, meanings: Mapping[str, str]) -> str:
    """Return the right answer, or each where there are several; behind a label of a scheme what it means."""
    known = meanings if column.name == task.label else {}
    answers = value if isinstance(value, list) and value else [value]
    return "".join(
        f'<div dir="auto"><b>{_single(answer)}</b>'
        + (f' <span class="meaning">{html(known[answer])}</span>' if answer in known else "")
        + "</div>"
        for answer in answers
    )


def _candidates(task: Task, columns: Sequence[Column], row: Mapping[str, Any]) -> str:
    """Return the candidates, in each line what the columns have of one of them."""
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


def _gold_positions(task: Task, candidates: Sequence[Any], row: Mapping[str, Any]) -> set[int]:
    """Return where the right one is: by its position if the view has that, else by its text."""
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
