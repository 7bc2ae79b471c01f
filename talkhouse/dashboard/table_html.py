"""A table as HTML: all of its rows and texts are there, also for a screen reader; on a narrow screen it scrolls."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

import polars as pl

from talkhouse.charts.fields import NOTHING, ChartField, number
from talkhouse.dashboard.text import html

_STYLE = """
<style>
@keyframes more { from, 98% { mask-image: linear-gradient(to left, transparent, black 3rem); } }
.rows { container-type: inline-size; overflow-x: auto; scrollbar-width: thin;
  animation: more linear both; animation-timeline: scroll(self inline); }
.rows table { border-collapse: collapse; font-size: 0.875rem; line-height: 1.4; }
.rows.texts table { width: 100%; }
.rows :is(th, td) { text-align: start; vertical-align: top; padding: 0.35rem 0.5rem; overflow-wrap: break-word;
  border: 1px solid rgba(128, 128, 128, 0.3); }
.rows th { font-weight: 600; background: rgba(128, 128, 128, 0.08); min-width: 2.5em; }
.rows.texts :is(.number, .short) { width: 1%; }
.rows.texts th.wide { min-width: 6.5em; }
.rows td:is(.number, .short) { white-space: nowrap; }
.rows .number { text-align: end; font-variant-numeric: tabular-nums; }
.rows .text { min-width: 11em; }
.rows .text.unbroken { overflow-wrap: anywhere; }
@container (max-width: 30rem) {
  .rows td.short { white-space: normal; }
  .rows :is(th, td) { padding: 0.35rem 0.3rem; }
  .rows .text { min-width: 8em; }
}
.rows a { color: inherit; }
</style>
"""
"""Numbers and short words take the width that they need, texts what is left; where that is too little, rows scroll, and
fade at the edge until their end is reached. Grey with some transparency fits the light theme and the dark one."""

_SHORT = 20
"""Letters of the longest text of a column that is not broken into lines."""

_TITLE = 9
"""Letters of a title that may need several lines."""

_WORD = re.compile(r"[^\s\-]{31,}")
"""What is broken as nothing else fits, if it has no joints."""

_NAME = re.compile(r"[^\s\-]{11,}")
"""What is broken in a narrow table, where short words are not kept in one line either."""

_JOINT = re.compile(r"(?<=[\w>][_./:])(?=\w)")
"""Where the names of tasks, files and ids may be broken."""

OPEN = "Read"
"""What the link of a row is called."""


def table_html(
    title: str, rows: pl.DataFrame, columns: Sequence[ChartField], leads: Sequence[str] | None = None
) -> str:
    """Return rows as a table; ``title`` is for a screen reader, ``leads`` are the addresses that rows lead to.

    An empty address is none.
    """
    kinds = {column.name: _kind(column, rows[column.name]) for column in columns}
    titles = "".join(
        f'<th scope="col"{_classes(kinds[column.name], column.title)}>{html(column.title)}</th>' for column in columns
    )
    head = f'<th scope="col" class="short">Open</th>{titles}' if leads else titles
    cells = ["".join(_cells(row, columns, kinds)) for row in rows.to_dicts()]
    linked = [_link(address) for address in leads] if leads else [""] * rows.height
    lines = "".join(f"<tr>{link}{others}</tr>" for link, others in zip(linked, cells, strict=True))
    texts = " texts" if any(kind.startswith("text") for kind in kinds.values()) else ""
    return (
        f'{_STYLE}<div class="rows{texts}" tabindex="0" role="region" aria-label="{html(title)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _link(address: str) -> str:
    link = f'<a href="{escape(address)}">{OPEN}</a>' if address else NOTHING
    return f'<td class="short">{link}</td>'


def _kind(column: ChartField, values: pl.Series) -> str:
    """Return the classes of a column's cells, by the longest of its texts."""
    if column.format or values.dtype.is_numeric():
        return "number"
    texts = [_text(value, column) for value in values]
    if max(map(len, texts), default=0) <= _SHORT:
        return "short"
    is_broken = any(not _JOINT.search(word) for text in texts for word in _WORD.findall(text))
    return "text unbroken" if is_broken else "text"


def _classes(kind: str, title: str) -> str:
    return f' class="{kind} wide"' if len(title) > _TITLE and not kind.startswith("text") else f' class="{kind}"'


def _cells(row: Mapping[str, Any], columns: Sequence[ChartField], kinds: Mapping[str, str]) -> Iterator[str]:
    for column in columns:
        kind = kinds[column.name]
        text = html(_text(row[column.name], column))
        broken = text if kind == "number" else (_NAME if kind == "short" else _WORD).sub(_jointed, text)
        yield f'<td class="{kind}">{broken}</td>'


def _jointed(word: re.Match[str]) -> str:
    return _JOINT.sub("<wbr>", word[0])


def _text(value: Any, column: ChartField) -> str:
    if value is None:
        return NOTHING
    if column.format:
        return number(value, column.format)
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)
