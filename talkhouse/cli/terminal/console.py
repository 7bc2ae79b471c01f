"""What the commands print with, and how they end at Ctrl-C."""

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from talkhouse.visible import visible


class Printer(Console):
    """Prints what it is given as text safely for a terminal, and a reader who leaves is not an error.

    No emoji, since a key such as corpus:train:0 is not a picture of a train.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Make what acts on a terminal visible: messages quote texts, names of files and SQL."""
        return super().render_str(visible(text, lines=True), **options)

    def on_broken_pipe(self) -> None:
        """End with 0, as for ``| head``; Rich would end with 1."""
        _discard()
        raise typer.Exit(0)


output = Printer()
errors = Printer(stderr=True)


def warn(warnings: Iterable[str]) -> None:
    """Print warnings, beside the output."""
    for warning in warnings:
        errors.print(f"[yellow]warning:[/] {escape(visible(warning))}", soft_wrap=True)


@contextmanager
def quiet_end() -> Iterator[None]:
    """End without a traceback at Ctrl-C, with 130, and where the reader of the output has left, with 0."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        typer.echo(str(interrupt) or "interrupted", err=True)
        raise typer.Exit(130) from None
    except OSError as error:
        # A terminal that is gone raises EIO.
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        _discard()
        raise typer.Exit(0) from None


def _discard() -> None:
    """Discard what is still to be written: it is flushed at the end, which would fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
