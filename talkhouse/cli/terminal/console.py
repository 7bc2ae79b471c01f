"""What the commands print with: colours and live progress on a terminal only, plain lines elsewhere."""

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

if TYPE_CHECKING:
    from ingest.corpus import Corpus


class Printer(Console):
    """No emoji, since the key mantis:train:0 is not a picture of a train; and a reader who leaves is no error."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, emoji=False, **options)

    def on_broken_pipe(self) -> None:
        """End with 0, as for ``| head``; Rich would end with 1."""
        _discard()
        raise typer.Exit(0)


output = Printer()
errors = Printer(stderr=True)

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
        "--no-wait", metavar="", help="Stop and say who is building instead of waiting for another build to end."
    ),
]
MaxQuarantine = Annotated[
    str,
    typer.Option(
        "--max-quarantine",
        metavar="N|N%",
        help="Stop instead of publishing when more records of a corpus than this can't be loaded: a count, or a "
        "share of its records. 100% lets everything pass.",
    ),
]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON for programs.")]


class Bar:
    """Shows a build's progress: a live bar on a terminal, a line per corpus elsewhere (standard error)."""

    def __init__(self) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            DownloadColumn(),
            TransferSpeedColumn(),
            TextColumn("{task.fields[records]:,} records"),
            TimeRemainingColumn(),
            console=errors,
            transient=True,
            disable=not errors.is_terminal,
            expand=True,
        )
        self._task: TaskID | None = None
        self._records = 0
        self._begun = 0.0

    def __enter__(self) -> "Bar":
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._bar.stop()
        if kind is KeyboardInterrupt:
            errors.print("interrupted; the published warehouse is as it was")

    def waiting(self, holder: str) -> None:
        """Say that another build runs."""
        errors.print(f"waiting for another build of this warehouse ({holder})")

    def start(self, corpus: "Corpus", size: int) -> None:
        """Show a corpus with the bytes that lie ahead."""
        if self._task is not None:
            self._bar.remove_task(self._task)  # it is read again
        self._records, self._begun = 0, time.monotonic()
        self._task = self._bar.add_task(f"reading {corpus.id}", total=size, records=0)
        if not errors.is_terminal:
            errors.print(f"reading {corpus.id}: {size / 1e6:,.1f} MB")

    def advance(self, size: int, records: int) -> None:
        """Move the bar."""
        self._records += records
        if self._task is not None:
            self._bar.update(self._task, advance=size, records=self._records)

    def finish(self, corpus: "Corpus") -> None:
        """Say how many records the corpus had."""
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None
        if not errors.is_terminal:
            seconds = time.monotonic() - self._begun
            errors.print(f"read {corpus.id}: {self._records:,} records in {seconds:,.1f} s")


@contextmanager
def quiet_end() -> Iterator[None]:
    """End without a traceback at Ctrl-C, with 130, and where the reader of our output has left, with 0."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(130) from None
    except OSError as error:
        # EIO is what a terminal gives that is gone.
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        _discard()
        raise typer.Exit(0) from None


def _discard() -> None:
    """Send what is still to be written nowhere: it is flushed at the end, which would fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
