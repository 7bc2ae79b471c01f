"""``talkhouse export``: a view or table as a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal
from rich.markup import escape

from talkhouse.cli.terminal.completion import relations
from talkhouse.cli.terminal.console import Database, output, quiet_end
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.query.formats import ExportFormat
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.query.export import Exported


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A view or table, as dbdc3.breakdown_detection.",
            autocompletion=relations,
        ),
    ],
    path: Annotated[
        Path, typer.Option("--output", metavar="PATH", help="The file to write; its ending sets the format.")
    ],
    split: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="Only the rows of this split: the publisher's name, or train, validation, test.",
            show_default=False,
        ),
    ] = None,
    file_format: Annotated[
        ExportFormat | None,
        typer.Option("--format", help="The format, where the ending does not set it.", show_default=False),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Only these columns, in this order.", show_default=False),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="The first N rows only.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace existing files.")] = False,
    db: Database = None,
) -> None:
    """Write a view or table to a file, and beside it PATH.manifest.json: columns, counts, checksum, licences.

    The rows come in the published order, and two exports of one warehouse are equal to the byte. The format follows
    from the ending of PATH (.parquet .csv .tsv .jsonl .arrow .feather) or by --format. Parquet and Arrow keep types and
    lists; JSON columns are text in them.

    In CSV and TSV lists are JSON. Text is in double quotes, a quote inside it doubled; tabs and line ends stay as they
    are. An empty cell without quotes is null, one with quotes is an empty text: Polars reads it so, DuckDB with
    allow_quoted_nulls = false. Read text columns as text, or "007" becomes 7.

    Where the publisher has no split of that name, the standard names are tried.

    Examples:
        talkhouse export dbdc3.breakdown_detection --output breakdown.parquet

        talkhouse export dbdc3.breakdown_detection --split eval --output eval.jsonl

        talkhouse export turns --columns dialogue_id,turn_index,text --output turns.tsv
    """
    import talkhouse
    from talkhouse import interrupt
    from talkhouse.query.export import configure, export

    with quiet_end(), talkhouse.open(database(db)) as con, interrupt.stoppable(con, None) as stop, ProgressBar() as bar:
        bar.begin(f"exporting {name}", unit="rows")
        configure(con, path)
        done = export(
            con,
            name,
            path,
            file_format=file_format,
            split=split,
            columns=None if columns is None else [column.strip() for column in columns.split(",")],
            limit=limit,
            force=force,
            on_rows=bar.advance,
            check_complete=stop.check,
        )
    _show(done)


def _show(done: "Exported") -> None:
    """Print what was written, and under which licences."""
    size = decimal(done.bytes)
    output.print(f"Exported {done.rows:,} rows of {done.name} ({size}) to {escape(str(done.path))}", soft_wrap=True)
    output.print(f"  described in {escape(str(done.manifest))}", soft_wrap=True)
    for corpus in done.corpora:
        tag = ", invented sample" if corpus["is_sample"] else ""
        output.print(f"  licence of {corpus['corpus_id']}{tag}: {escape(corpus['licence'])}", soft_wrap=True)
        if corpus["terms"]:
            output.print(f"    {escape(corpus['terms'])}", soft_wrap=True)
