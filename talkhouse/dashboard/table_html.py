"""A table as HTML: all of its rows and texts are there, also for a screen reader; on a narrow screen it scrolls."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

import polars as pl

from talkhouse.charts.fields import Field
from talkhouse.charts.formats import NOTHING, number
from talkhouse.dashboard.text import html

_STYLE = """
<style>
.rows { overflow-x: auto; }
.rows table { border-collapse: collapse; width: 100%; font-size: 0.875rem; line-height: 1.4; }
.rows :is(th, td) { text-align: start; vertical-align: top; padding: 0.35rem 0.6rem; overflow-wrap: anywhere;
  min-width: 4.5em; border: 1px solid rgba(128, 128, 128, 0.3); }
.rows th { font-weight: 600; background: rgba(128, 128, 128, 0.08); overflow-wrap: break-word; }
.rows .number { text-align: end; font-variant-numeric: tabular-nums; min-width: 0; }
.rows .short { white-space: nowrap; min-width: 0; }
</style>
"""
"""Grey with some transparency fits the light theme and the dark one."""

_SHORT = 16
"""Letters that are not broken."""

OPEN = "Read"
"""What the link of a row is called."""


def table_html(title: str, rows: pl.DataFrame, columns: Sequence[Field], leads: Sequence[str] | None = None) -> str:
    """Return rows as a table; ``title`` is for a screen reader, ``leads`` are the addresses that rows lead to."""
    head = [*(['<th scope="col" class="short">Open</th>'] if leads else []), *map(_head, columns)]
    lines = [_line([_link(leads[index])] if leads else [], row, columns) for index, row in enumerate(rows.to_dicts())]
    return (
        f'{_STYLE}<div class="rows" tabindex="0" role="region" aria-label="{escape(title)}"><table>'
        f"<thead><tr>{''.join(head)}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _head(column: Field) -> str:
    return f'<th scope="col"{_class("number" if column.format else "")}>{html(column.title)}</th>'


def _line(first: list[str], row: Mapping[str, Any], columns: Sequence[Field]) -> str:
    return f"<tr>{''.join([*first, *_cells(row, columns)])}</tr>"


def _link(address: str) -> str:
    return f'<td class="short"><a href="{escape(address)}">{OPEN}</a></td>'


def _cells(row: Mapping[str, Any], columns: Sequence[Field]) -> Iterator[str]:
    for column in columns:
        value = row[column.name]
        text = _text(value, column)
        kind = "number" if isinstance(value, int | float) else "short" if len(text) <= _SHORT else ""
        yield f"<td{_class(kind)}>{html(text)}</td>"


def _text(value: Any, column: Field) -> str:
    if value is None:
        return NOTHING
    if column.format:
        return number(value, column.format)
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
