"""What the commands print with: consoles, tables, corpus text with its control characters made visible, and JSON."""

import os
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from talkhouse.escaping import escaped_json, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


class Printer:
    """Prints texts with Rich's markup; its options are those of Rich's console."""

    def __init__(self, **options: Any) -> None:
        self._options = options

    @cached_property
    def console(self) -> "Console":
        """Rich's console, made safe for texts that come from files."""
        from rich.console import Console

        class SafeConsole(Console):
            def render_str(self, text: str, **options: Any) -> "Text":
                # Messages quote texts, names of files and SQL.
                return super().render_str(visible(text, lines=True), **options)

            def on_broken_pipe(self) -> None:
                raise reader_has_left()  # Rich would end with 1, where `| head` is no error

        # No emoji, since a key such as corpus:train:0 is not a picture of a train.
        return SafeConsole(highlight=False, emoji=False, **self._options)

    @property
    def is_terminal(self) -> bool:
        """Whether it prints on a terminal."""
        return self.console.is_terminal

    def print(self, text: "str | Text" = "", *, markup: bool = True) -> None:
        """Print lines that the terminal alone wraps; without ``markup``, brackets in a text are no style."""
        self.console.print(text, soft_wrap=True, markup=markup)


def reader_has_left() -> click.exceptions.Exit:
    """Discard what is still to be written, which is flushed at the end and would fail; return the exit with 0."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return click.exceptions.Exit(0)


output = Printer()
errors = Printer(stderr=True)


def print_table(heads: Sequence[str], rows: Iterable[Sequence["str | Text"]], *, right: Collection[str] = ()) -> None:
    """Print a table that fits the terminal; elsewhere cut nothing off. ``right``: the heads of columns of numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, header_style="bold")
    for head in heads:
        table.add_column(Text(head), justify="right" if head in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    (output if output.is_terminal else Printer(width=10_000)).console.print(table)


def styled(text: str = "", style: str = "") -> "Text":
    """Return a text of Rich."""
    from rich.text import Text

    return Text(text, style)


def escape(text: str) -> str:
    """Return a text in which Rich sees no markup."""
    from rich.markup import escape

    return escape(text)


def decimal(size: int) -> str:
    """Return a number of bytes as people read it."""
    from rich.filesize import decimal

    return decimal(size)


def warn(warnings: Iterable[str]) -> None:
    """Print warnings, apart from the output."""
    for warning in warnings:
        errors.print(f"[yellow]warning:[/] {escape(visible(warning))}")


_BEFORE = 0.4
"""Share of a cut text that comes before the position that it is cut around."""

_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

_JSON = ("extra", "arguments")
"""Columns that are JSON."""

_NARROWEST = 20
"""A text gets this many columns even if the terminal has fewer."""


def highlighted(text: str, matches: Iterable[tuple[int, int]], style: str, *, lines: bool = False) -> "Text":
    """Return a text, its control characters visible and its matches in a style; ``lines`` keeps the ends of lines.

    Matches are sorted; where two overlap, both are in the style.
    """
    shown, at = styled(), 0
    for begin, end in matches:
        shown.append(visible(text[at:begin], lines=lines))
        shown.append(visible(text[max(at, begin) : end], lines=lines), style)
        at = max(at, end)
    return shown.append(visible(text[at:], lines=lines))


def around(text: "Text", at: int, cells: int) -> "Text":
    """Cut a text to a width in columns around a position in it, with an ellipsis where something is left out."""
    from rich.cells import cell_len
    from rich.text import Text

    if text.cell_len <= cells:
        return text
    widths = [cell_len(character) for character in text.plain]
    begin, left = at, int(cells * _BEFORE)
    while begin and (left := left - widths[begin - 1]) >= 0:
        begin -= 1
    end, right = begin, cells - 2
    while end < len(widths) and (right := right - widths[end]) >= 0:
        end += 1
    while begin and end == len(widths) and (right := right - widths[begin - 1]) >= 0:
        begin -= 1
    shown = text[begin:end] if begin < end else styled()
    return Text.assemble(_ELLIPSIS if begin else "", shown, _ELLIPSIS if end < len(widths) else "")


def who(role: str, speaker: str | None, kind: str) -> str:
    """Return the speaker of a turn, by role and name, and the kind of turn unless it is a message."""
    name = role if speaker in (None, role) else f"{role} {speaker}"
    return visible(name if kind == "message" else f"{name} ({kind})")


def print_hanging(head: "Text", body: "Text | None" = None) -> None:
    """Print a head and a body next to it: wrapped with a hanging indent on a terminal, unwrapped elsewhere."""
    from rich.text import Text

    body = body or styled()
    if not output.is_terminal:
        print(f"{head.plain}{body.plain}".replace("\n", "\n" + " " * len(head.plain)))
        return
    width = max(output.console.width - head.cell_len, _NARROWEST)
    indent = styled(" " * head.cell_len)
    for number, line in enumerate(body.wrap(output.console, width, overflow="fold") or [styled()]):
        line.rstrip()
        output.print(Text.assemble(indent if number else head, line))


def rows_as_json(content: Any) -> str:
    """Write rows as JSON: columns of JSON as what they are, numbers that JSON can't express as null."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(_unfold(content)), indent=2).decode()
    return escaped_json(text)


def _unfold(content: Any) -> Any:
    import msgspec

    if isinstance(content, list):
        return [_unfold(item) for item in content]
    if not isinstance(content, dict):
        return content
    return {
        name: msgspec.Raw(value.encode()) if name in _JSON and isinstance(value, str) else _unfold(value)
        for name, value in content.items()
    }
