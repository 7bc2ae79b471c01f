"""Commands of Click, with help in colours that is as wide as the terminal, and how each of them ends."""

import errno
import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from talkhouse.settings import database
from talkhouse.system import ctrl_c


class _Help(click.HelpFormatter):
    """Writes help: terms and headings in colours, which Click drops where there is no terminal."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how the command is called."""
        super().write_usage(prog, args, prefix or click.style("Usage: ", bold=True))

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        super().write_heading(click.style(heading, bold=True))

    def write_text(self, text: str) -> None:
        """Write paragraphs; an indented line, such as an example, stays as it is, to be copied."""
        indent = " " * self.current_indent
        for number, paragraph in enumerate(text.split("\n\n")):
            head, *indented = paragraph.split("\n    ")
            self.write("\n" * bool(number))
            super().write_text(head)
            self.write("".join(f"{indent}    {line.strip()}\n" for line in indented))

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:  # type: ignore[override]
        """Write terms with what they mean."""
        super().write_dl([(click.style(term, fg="cyan"), text) for term, text in rows], col_max, col_spacing)


class _Context(click.Context):
    formatter_class = _Help


class Group(click.Group):
    """Some commands under one name."""

    context_class = _Context


class Command(click.Command):
    """A command: one line at Ctrl-C, none where the reader of its output has left, and no traceback of a bad file."""

    context_class = _Context

    def get_short_help_str(self, limit: int = 45) -> str:  # noqa: ARG002 - it wraps, and is never cut
        """Return the first paragraph of the help."""
        return " ".join(inspect.cleandoc(self.help or "").partition("\n\n")[0].split())

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _quiet_end(), ctrl_c.raises():
            try:
                return super().invoke(ctx)
            except Exception:
                if "duckdb" not in sys.modules:
                    raise
                from talkhouse.schema import warehouse

                path = ctx.params.get("db")
                with warehouse.explain_failures(database(path)):
                    raise


@contextmanager
def _quiet_end() -> Iterator[None]:
    """End without a traceback at Ctrl-C, with 130, and where the reader of the output has left, with 0."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        click.echo(str(interrupt) or "interrupted", err=True)
        raise click.exceptions.Exit(130) from None
    except OSError as error:
        # A terminal that is gone raises EIO.
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        raise reader_has_left() from None


def reader_has_left() -> click.exceptions.Exit:
    """Discard what is still to be written, which is flushed at the end and would fail; return how to end, with 0."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return click.exceptions.Exit(0)
