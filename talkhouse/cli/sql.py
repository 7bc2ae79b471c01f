"""``talkhouse sql``: one query, read-only."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from talkhouse.cli.console import Database
from talkhouse.formats import Format
from talkhouse.settings import database


def command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The query; - reads it from standard input.")],
    db: Database = None,
    form: Annotated[
        Format,
        typer.Option("--format", help="How to print the rows. In csv, lists are JSON; parquet needs --output."),
    ] = Format.TABLE,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Write to a file instead of the screen.", show_default=False),
    ] = None,
) -> None:
    """Run one SQL query on the warehouse, which is opened read-only.

    Examples:
        talkhouse sql "from main.corpora"

        talkhouse sql "select label, count(*) from dbdc3.breakdown_detection group by all"

        talkhouse sql "from dbdc3.breakdown_detection_eval" --format parquet --output eval.parquet
    """
    import talkhouse
    from talkhouse.formats import write

    text = sys.stdin.read() if query == "-" else query
    with talkhouse.open(database(db)) as con:
        write(con, text, form, output)
