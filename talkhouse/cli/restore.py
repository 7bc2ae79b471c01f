"""``talkhouse restore``: the publisher's files, written back from the tables."""

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from talkhouse.cli.terminal.completion import corpora
from talkhouse.cli.terminal.console import Database, errors, output, quiet_end
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.restore.output_paths import Source
    from talkhouse.restore.write_back import Restored

_SHOWN = 5


def command(
    corpus: Annotated[
        str,
        typer.Argument(metavar="CORPUS", help="Id of the corpus, for instance dbdc3.", autocompletion=corpora),
    ],
    folder: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="The folder to write to: a new one, or an empty one.")
    ],
    archives: Annotated[
        bool, typer.Option("--archive", metavar="", help="Give archives back as archives, not as folders.")
    ] = False,
    db: Database = None,
) -> None:
    """Write the publisher's files of a corpus back, from the tables of the warehouse alone.

    Paths and names are the publisher's. JSON is equal in every value, its keys in their order; text files are equal
    byte for byte. What could not be loaded comes from the quarantine, in its place. An archive becomes a folder of its
    members, or with --archive an archive with the same members.

    Nothing is in DIR before everything is. There is no option to write over a folder that holds something.

    Examples:
        talkhouse restore dbdc3 --output dbdc3

        talkhouse restore dbdc3 --output ~/corpora/dbdc3 --archive
    """
    import talkhouse
    from ingest.registry import corpora, pick
    from talkhouse import interrupt
    from talkhouse.relations import check_corpus
    from talkhouse.restore.write_back import records_of, write_back

    with quiet_end(), talkhouse.open(database(db)) as con, interrupt.stoppable(con, None) as stop, Bar() as bar:
        check_corpus(con, corpus)
        known = pick(corpora(), corpus)
        bar.start(f"restoring {corpus}", records_of(con, corpus))
        done = write_back(con, known, folder, archives=archives, told=bar.advance, whole=stop.check)
    _show(corpus, folder, done)


class Bar:
    """Shows how many records and bytes are written, on a terminal only (standard error)."""

    def __init__(self) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.completed:,} of {task.total:,} records, {task.fields[written]}"),
            TimeRemainingColumn(),
            console=errors,
            transient=True,
            disable=not errors.is_terminal,
            expand=True,
        )
        self._records = self._bytes = 0
        self._shown = 0.0

    def __enter__(self) -> "Bar":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def start(self, what: str, records: int) -> None:
        """Show a corpus with the records that lie ahead."""
        for task in self._bar.task_ids:
            self._bar.remove_task(task)
        self._records = self._bytes = 0
        self._bar.add_task(escape(what), total=records, written=decimal(0))

    def advance(self, records: int, size: int) -> None:
        """Count records and bytes; the bar is drawn again at most ten times a second."""
        self._records += records
        self._bytes += size
        if time.monotonic() - self._shown > 0.1:
            self._shown = time.monotonic()
            self._bar.update(self._bar.task_ids[0], completed=self._records, written=decimal(self._bytes))


def _show(corpus: str, folder: Path, done: "Restored") -> None:
    """Say what was written, what of it came from the quarantine, and what is not in the warehouse."""
    output.print(
        f"Restored {done.given:,} files of {corpus} ({decimal(done.bytes)}) to {escape(str(folder))}", soft_wrap=True
    )
    output.print(f"  {done.records:,} records, {done.quarantined:,} of them from the quarantine", soft_wrap=True)
    for (kind, note), count in Counter((one.kind, one.note) for one in done.left_out).items():
        some = [one for one in done.left_out if (one.kind, one.note) == (kind, note)]
        output.print(f"  not given back, no data: {count:,} {_why(some[0])}", soft_wrap=True)
        for one in some[:_SHOWN]:
            output.print(f"    {escape(one.id)}", soft_wrap=True)
        if count > _SHOWN:
            output.print(f"    ... and {count - _SHOWN:,} more (meta.source_files has them all)", soft_wrap=True)


def _why(source: "Source") -> str:
    """Say why a file is no data."""
    return escape(source.note or "that the reader did not recognise")
