"""Rows of any query as a table: the texts that the console shows, numbers sorted as numbers, null apart from those."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
import streamlit as st
from pyarrow import parquet
from pyarrow.lib import RecordBatch
from pyarrow.lib import Table as ArrowTable

from talkhouse.charts.fields import NOTHING, ChartField, number
from talkhouse.dashboard.text import html, style
from talkhouse.escaping import visible
from talkhouse.export.writers import number_columns
from talkhouse.schema.errors import QueryFailed

MOST_BYTES = 20_000_000
"""Of the rows of a table: the browser gets all of them."""

_EXACT = 2**53
"""From here on a browser's numbers are not exact."""

_MOST_DRAWN = 50_000
"""Numbers of a table that are drawn by a text of their own: above it takes seconds."""

_BATCH_ROWS = 16


@dataclass(frozen=True)
class ConsoleTable:
    """The rows of a query, as many as a table can have."""

    texts: pl.DataFrame
    """The text of each value."""
    numbers: dict[str, pl.Series]
    """The values of the columns that are numbers, and which a browser has exactly: it sorts by them."""
    has_more: bool = False
    """Whether there were more rows than a table can have."""

    @property
    def height(self) -> int:
        """The number of rows."""
        return self.texts.height

    def head(self, count: int) -> "ConsoleTable":
        """Return the first rows."""
        numbers = {name: values.head(count) for name, values in self.numbers.items()}
        return ConsoleTable(self.texts.head(count), numbers, self.has_more or self.height > count)


def read(source: Path | BinaryIO) -> ConsoleTable:
    """Read the first rows of a file of texts, as many as a table can have; QueryFailed if one value is too large."""
    with parquet.ParquetFile(source) as file:  # type: ignore[no-untyped-call]
        groups = [file.metadata.row_group(number).total_byte_size for number in range(file.num_row_groups)]
        if max(groups, default=0) > 4 * MOST_BYTES:
            raise QueryFailed(
                "the rows are too large for a table",
                expected=f"at most {4 * MOST_BYTES // 1_000_000} MB",
                found=f"{max(groups) // 1_000_000:,} MB",
                next_step="select fewer columns or rows, or download the rows as a file",
            )
        batches: list[RecordBatch] = []
        size = 0
        for batch in file.iter_batches(_BATCH_ROWS):
            size += batch.nbytes
            if batches and size > MOST_BYTES:
                break
            batches.append(batch)
        rows = ArrowTable.from_batches(batches, file.schema_arrow)
        has_more = rows.num_rows < file.metadata.num_rows
    names = _unique([visible(name) for name in rows.column_names])
    frame = pl.from_arrow(rows.rename_columns(names))
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - a table has columns
    numbers = {names[index]: _numbers(frame[names[index]]) for index in number_columns(rows.schema)}
    shown = partial(visible, lines=True)
    texts = frame.with_columns(frame[name].map_elements(shown, pl.String) for name in names if name not in numbers)
    return ConsoleTable(texts, {name: values for name, values in numbers.items() if values is not None}, has_more)


def _numbers(texts: pl.Series) -> pl.Series | None:
    """Return the numbers that texts write, or None if a browser has not all of them exactly, as NaN and 2**53."""
    numbers = [None if text is None else float(text) for text in texts]
    if all(number is None or _is_exact(number, text) for number, text in zip(numbers, texts, strict=True)):
        return pl.Series(texts.name, numbers, pl.Float64)
    return None


def _is_exact(number: float, text: str) -> bool:
    return math.isfinite(number) and abs(number) < _EXACT and Decimal(repr(number)) == Decimal(text)


@st.fragment
def draw(rows: ConsoleTable) -> None:
    """Draw rows as a table that can be sorted and searched, and below it the row of the cell that was chosen."""
    plain = [name for name, values in rows.numbers.items() if _is_drawn_so(values, rows.texts[name])]
    others = [name for name in rows.numbers if name not in plain]
    if len(others) * rows.height > _MOST_DRAWN:
        others = []
    shown = rows.texts.with_columns(rows.numbers[name] for name in (*plain, *others))
    # By Arrow: of a Polars frame Streamlit makes a Pandas one, in which null and NaN are the same.
    drawn = _styled(shown, rows.texts[others]) if others else shown.to_arrow()
    config = {name: st.column_config.NumberColumn(format="plain") for name in plain}
    chosen = st.dataframe(drawn, hide_index=True, column_config=config, on_select="rerun", selection_mode="single-cell")
    draw_chosen(chosen, lambda index: rows.texts.row(index, named=True))


def draw_chosen(chosen: Any, row: Callable[[int], Mapping[str, str | None]]) -> None:
    """Draw the row of the cell that was chosen in a table: one value below another, each whole."""
    if not chosen.selection.cells:
        st.caption("Choose a cell to read its row below.")
        return
    ((index, _),) = chosen.selection.cells
    lines = "".join(
        f'<tr><th scope="row">{_JOINT.sub("<wbr>", html(name))}</th><td class="text unbroken">'
        f"{'<em>null</em>' if value is None else html(value)}</td></tr>"
        for name, value in row(index).items()
    )
    st.html(
        f'{_STYLE}<div class="rows texts" role="region" aria-label="Row {index + 1}"><table><tbody>{lines}</tbody>'
        "</table></div>"
    )


def _is_drawn_so(numbers: pl.Series, texts: pl.Series) -> bool:
    """Whether a browser itself draws the numbers by these texts."""
    return all(
        number is None or (text == (str(int(number)) if number.is_integer() else repr(number)) and "e" not in text)
        for number, text in zip(numbers, texts, strict=True)
    )


def _styled(rows: pl.DataFrame, texts: pl.DataFrame) -> Any:
    """Return rows as a Styler of Pandas: some columns are drawn by texts of their own, and sorted by their numbers."""
    import pandas as pd

    frame = rows.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)

    def drawn(name: str) -> Any:
        # By repr: -0.0 is equal to 0.0.
        known = {repr(number): text for number, text in zip(rows[name], texts[name], strict=True)}
        return lambda number: known[repr(float(number))]

    return frame.style.format({name: drawn(name) for name in texts.columns}, na_rep="None")


def counted(count: int, what: str = "row") -> str:
    """Write a number of things: 1 row, 1,000 rows."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _unique(names: list[str]) -> list[str]:
    """Number the names that a query gives to several of its columns."""
    found: list[str] = []
    for name in names:
        number, unique = 0, name
        while unique in found:
            number += 1
            unique = f"{name}_{number}"
        found.append(unique)
    return found


_STYLE = style(__file__, "tables")

_PHONE = 340
"""Pixels of a table on a phone of 390, less what the estimate of a width may be wrong by."""

_LETTER = 7
"""Pixels of a letter."""

_AROUND = 11
"""Pixels of a cell in addition to its letters, in a narrow table."""

_LEAST_TEXT = 8 * 14
"""Pixels that a text has at least."""

_SHORT = 20
"""Letters of the longest text of a column that is not broken into lines."""

_TITLE = 9
"""Letters of a title that may need several lines."""

_WORD = re.compile(r"[^\s\-]{31,}")
"""Long runs without a place to break, which are broken anywhere."""

_NAME = re.compile(r"[^\s\-]{11,}")
"""Long words that are broken in a narrow table, which does not keep short words in one line either."""

_JOINT = re.compile(r"(?<=[\w>][_./:])(?=\w)")
"""Where the names of tasks, files and ids may be broken."""

OPEN = "Read"
"""The label of a row's link."""


def table_html(
    title: str,
    rows: pl.DataFrame,
    columns: Sequence[ChartField],
    leads: Sequence[str] | None = None,
    heads: Mapping[str, str] | None = None,
) -> str:
    """Return rows as a table; ``title`` is for a screen reader, ``leads`` are the addresses that rows lead to.

    An empty address is none. ``heads`` have HTML below the titles of columns, which stay in sight on a phone then.
    """
    shown = {column.name: [cell_text(value, column) for value in rows[column.name]] for column in columns}
    kinds = {column.name: _kind(column, rows[column.name], shown[column.name]) for column in columns}
    titles = "".join(
        f'<th scope="col"{_classes(kinds[column.name], column.title)}>{html(column.title)}'
        f"{heads[column.name] if heads else ''}</th>"
        for column in columns
    )
    head = f'<th scope="col" class="short">Open</th>{titles}' if leads else titles
    texts = " texts" if any(kind.startswith("text") for kind in kinds.values()) else ""
    is_wide = not heads and _is_wide(shown, columns, kinds, _LETTER * len(OPEN) + _AROUND if leads else 0)
    cells = ["".join(_cells(row, columns, kinds, is_wide=is_wide)) for row in zip(*shown.values(), strict=True)]
    linked = [_link(address) for address in leads] if leads else [""] * rows.height
    lines = "".join(f"<tr>{link}{others}</tr>" for link, others in zip(linked, cells, strict=True))
    return (
        f'{_STYLE}<div class="rows{texts}{" wide" if is_wide else ""}" tabindex="0" role="region"'
        f' aria-label="{html(title)}"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'
    )


def _link(address: str) -> str:
    link = f'<a href="{escape(address)}">{OPEN}</a>' if address else NOTHING
    return f'<td class="short">{link}</td>'


def _is_wide(
    shown: Mapping[str, Sequence[str]], columns: Iterable[ChartField], kinds: Mapping[str, str], width: int
) -> bool:
    """Whether a phone has no room for columns beside what has a width: each is as wide as its longest word."""
    for column in columns:
        kind, texts = kinds[column.name], shown[column.name]
        if kind in ("short", "text"):
            pattern = _NAME if kind == "short" else _WORD
            texts = [word for text in texts for word in re.split(r"[\s\-]+", pattern.sub(_apart, text))]
        letters = max(map(len, [*column.title.split(), *(texts if kind != "text unbroken" else ())]), default=0)
        width += max(_LETTER * letters + _AROUND, _LEAST_TEXT if kind.startswith("text") else 0)
        if width > _PHONE:
            return True
    return False


def _apart(word: re.Match[str]) -> str:
    return _JOINT.sub(" ", word[0])


def _kind(column: ChartField, values: pl.Series, texts: Sequence[str]) -> str:
    """Return the classes of a column's cells, by the longest of its texts."""
    if column.format or values.dtype.is_numeric():
        return "number"
    if max(map(len, texts), default=0) <= _SHORT:
        return "short"
    is_broken = any(not _JOINT.search(word) for text in texts for word in _WORD.findall(text))
    return "text unbroken" if is_broken else "text"


def _classes(kind: str, title: str) -> str:
    return f' class="{kind} wide"' if len(title) > _TITLE and not kind.startswith("text") else f' class="{kind}"'


def _cells(
    row: Iterable[str], columns: Sequence[ChartField], kinds: Mapping[str, str], *, is_wide: bool
) -> Iterator[str]:
    """Yield the cells of a row; those of a wide table know their titles, and which has the first number."""
    answer = next((column for column in columns if column.metric), None)
    for column, shown in zip(columns, row, strict=True):
        kind, text = kinds[column.name], html(shown)
        broken = text if kind == "number" else (_NAME if kind == "short" else _WORD).sub(_jointed, text)
        if is_wide:
            kind += " answer" if column is answer else ""
            yield f'<td class="{kind}" data-title="{html(column.title, lines=False)}"><span>{broken}</span></td>'
        else:
            yield f'<td class="{kind}">{broken}</td>'


def _jointed(word: re.Match[str]) -> str:
    return _JOINT.sub("<wbr>", word[0])


def cell_text(value: Any, column: ChartField) -> str:
    """Write a value of a column as tables do."""
    if value is None:
        return NOTHING
    if column.format:
        return number(value, column.format)
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)
