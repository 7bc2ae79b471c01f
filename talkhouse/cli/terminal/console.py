"""What the commands print with. Rich is imported when something is printed, not before."""

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from talkhouse.visible import visible

if TYPE_CHECKING:
    from rich.text import Text

    from talkhouse.cli.terminal.safe_console import SafeConsole


class Printer:
    """Prints texts with Rich's markup; its options are those of Rich's console."""

    def __init__(self, **options: Any) -> None:
        self._options = options

    @cached_property
    def console(self) -> "SafeConsole":
        """Rich's console."""
        from talkhouse.cli.terminal.safe_console import SafeConsole

        return SafeConsole(**self._options)

    @property
    def is_terminal(self) -> bool:
        """Whether it prints on a terminal."""
        return self.console.is_terminal

    def print(self, *objects: object, **options: Any) -> None:
        """Print what Rich can."""
        self.console.print(*objects, **options)


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
    (output if output.is_terminal else Printer(width=10_000)).print(table)


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
    """Print warnings, beside the output."""
    for warning in warnings:
        errors.print(f"[yellow]warning:[/] {escape(visible(warning))}", soft_wrap=True)
