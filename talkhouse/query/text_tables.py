"""Tables to read, drawn for the screen or in Markdown: what would act on a terminal or hide is written out in both."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from talkhouse.query.row_stream import Rows
from talkhouse.visible import markdown, visible


def write_table(rows: Rows, stream: TextIO) -> None:
    """Draw a table that fits the terminal; elsewhere nothing is cut off."""
    console = Console(file=stream, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(file=stream, highlight=False, emoji=False, width=10_000)
    table = Table(box=box.ROUNDED if console.is_terminal else box.ASCII, header_style="bold")
    for column in rows.columns:
        table.add_column(Text(visible(column.title)), justify="right" if column.is_number else "left", overflow="fold")
    for cells in _cells(rows):
        table.add_row(*map(Text, cells))
    console.print(table)


def write_markdown(rows: Rows, stream: TextIO) -> None:
    """Write a Markdown table."""
    stream.write(markdown_head([column.title for column in rows.columns]))
    stream.writelines(map(markdown_line, _cells(rows)))


def markdown_head(titles: Sequence[str]) -> str:
    """Return the first two lines of a Markdown table."""
    return f"{markdown_line(titles)}|{' --- |' * len(titles)}\n"


def markdown_line(cells: Sequence[str]) -> str:
    """Return a row of a Markdown table, with its line end; nothing in a cell is taken for markup."""
    shown = (markdown(cell, lines=True).replace("\n", "<br>") for cell in cells)
    return "| " + " | ".join(shown) + " |\n"


def _cells(rows: Rows) -> Iterator[list[str]]:
    """Yield every row as texts, empty where there is no value."""
    for texts in rows.texts():
        yield ["" if text is None else visible(text, lines=True) for text in texts]
