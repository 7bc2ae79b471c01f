"""A table as HTML: all of its rows and texts are there, also for a screen reader; on a narrow screen it scrolls."""

from collections.abc import Collection, Iterator, Mapping, Sequence
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
.rows :is(th, td) { text-align: start; vertical-align: top; padding: 0.35rem 0.5rem; overflow-wrap: anywhere;
  min-width: 3em; border: 1px solid rgba(128, 128, 128, 0.3); }
.rows th { font-weight: 600; background: rgba(128, 128, 128, 0.08); }
.rows .number { text-align: end; font-variant-numeric: tabular-nums; }
.rows .short { white-space: nowrap; min-width: 0; }
.rows a { color: inherit; }
</style>
"""
"""Grey with some transparency fits the light theme and the dark one."""

_SHORT = 8
"""Letters that are not broken."""

OPEN = "Read"
"""What the link of a row is called."""


def table_html(title: str, rows: pl.DataFrame, columns: Sequence[Field], leads: Sequence[str] | None = None) -> str:
    """Return rows as a table; ``title`` is for a screen reader, ``leads`` are the addresses that rows lead to."""
    numbers = {column.name for column in columns if column.format or rows.schema[column.name].is_numeric()}
    titles = "".join(f'<th scope="col"{_class(column.name in numbers)}>{html(column.title)}</th>' for column in columns)
    head = f'<th scope="col" class="short">Open</th>{titles}' if leads else titles
    cells = ["".join(_cells(row, columns, numbers)) for row in rows.to_dicts()]
    linked = [_link(address) for address in leads] if leads else [""] * rows.height
    lines = "".join(f"<tr>{link}{others}</tr>" for link, others in zip(linked, cells, strict=True))
    return (
        f'{_STYLE}<div class="rows" tabindex="0" role="region" aria-label="{html(title)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _link(address: str) -> str:
    return f'<td class="short"><a href="{escape(address)}">{OPEN}</a></td>'


def _cells(row: Mapping[str, Any], columns: Sequence[Field], numbers: Collection[str]) -> Iterator[str]:
    for column in columns:
        text = _text(row[column.name], column)
        yield f"<td{_class(column.name in numbers, len(text) <= _SHORT)}>{html(text)}</td>"


def _class(is_number: bool, is_short: bool = False) -> str:
    names = [name for name, holds in {"number": is_number, "short": is_short}.items() if holds]
    return f' class="{" ".join(names)}"' if names else ""


def _text(value: Any, column: Field) -> str:
    if value is None:
        return NOTHING
    if column.format:
        return number(value, column.format)
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)
