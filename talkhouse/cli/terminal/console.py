"""What the commands print with, the options that several of them have, and how they end at Ctrl-C."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from talkhouse.ingest.files.boundary import OPTION
from talkhouse.ingest.files.limits import described
from talkhouse.visible import visible


class Printer(Console):
    """Prints what it is given as text safely for a terminal, and a reader who leaves is not an error.

    No emoji, since the key mantis:train:0 is not a picture of a train.
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

MOST_ROWS = 10**12
"""Of an option that counts rows: more than a warehouse has, and DuckDB can still add to it."""

MOST_SECONDS = 10**9
"""Of an option that is a time: 31 years, which every clock can count."""

Database = Annotated[
    Path | None,
    typer.Option(
        "--db",
        metavar="FILE",
        help="The warehouse. Default: $TALKHOUSE_DB, then talkhouse.duckdb in this folder.",
        show_default=False,
    ),
]
NoWait = Annotated[
    bool,
    typer.Option(
        "--no-wait", metavar="", help="If another build is running, stop and say which, instead of waiting for it."
    ),
]
MaxQuarantine = Annotated[
    str,
    typer.Option(
        "--max-quarantine",
        metavar="N|N%",
        help="Stop instead of publishing when more records of a corpus than this can't be loaded: a count, or a "
        "share of its records. 100% accepts everything.",
    ),
]
MaxMemory = Annotated[
    str,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        help="How much memory DuckDB may take while it builds: a size such as 2GB, or a share of the machine's memory. "
        "What does not fit is written to the disk; what reading the files takes comes on top.",
    ),
]
InputLimit = Annotated[
    list[str] | None,
    typer.Option(
        "--input-limit",
        metavar="NAME=VALUE",
        help=f"Read more of the files than corpora have; only for files that you trust (may be repeated). "
        f"Defaults: {described()}.",
        show_default=False,
    ),
]
FollowLinks = Annotated[
    bool,
    typer.Option(
        OPTION,
        metavar="",
        help="Also follow links that lead out of the folder that was named; only where you trust whoever made it.",
    ),
]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON for programs.")]


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
