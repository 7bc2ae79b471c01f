"""``talkhouse sql``: one query, read-only and sandboxed."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from schema.errors import UsageError
from talkhouse.cli.terminal.console import Database
from talkhouse.query.formats import QueryFormat
from talkhouse.settings import database


def command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The query; - reads it from standard input.")],
    db: Database = None,
    query_format: Annotated[
        QueryFormat,
        typer.Option("--format", help="How to write the rows; parquet needs --output."),
    ] = QueryFormat.TABLE,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Write to a file instead of the screen.", show_default=False),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Return at most N rows, and say if there were more.", show_default=False),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.001, help="Stop a query that takes longer.", show_default=False),
    ] = None,
    unsafe: Annotated[
        bool,
        typer.Option(
            "--unsafe",
            metavar="",
            help="Lift the sandbox: the query may read and write your files, and change settings.",
        ),
    ] = False,
) -> None:
    """Run one SQL query on the warehouse, which is opened read-only.

    The query is sandboxed: it sees the warehouse and nothing else. It can't read or write other files, reach the
    network, attach databases, load extensions or change settings, and it is one statement. So a query that somebody
    sent you can do no harm except take long (--timeout) and need memory.

    --unsafe lifts the sandbox for queries that you trust, for instance to join a CSV file of your own. The warehouse is
    opened read-only there too.

    The formats are those of export. In csv, text is in double quotes, with quotes inside doubled; an empty cell
    without quotes is null, one with quotes ("") an empty text; lists are JSON. In json and jsonl, a JSON column keeps
    the spelling of its numbers.

    Examples:
        talkhouse sql "from main.corpora"

        talkhouse sql "select label, count(*) from dbdc3.breakdown_detection group by all"

        talkhouse sql "from dbdc3.breakdown_detection_eval" --format parquet --output eval.parquet

        talkhouse sql "from main.turns" --limit 20 --timeout 10

        talkhouse sql "from main.turns join 'mine.csv' using (dialogue_id)" --unsafe
    """
    import talkhouse
    from talkhouse import interrupt
    from talkhouse.query import sandbox
    from talkhouse.query.run_query import run_query

    text = sys.stdin.read() if query == "-" else query
    path = database(db)
    with talkhouse.open(path) as con:
        _check_output(output, path)
        sandbox.configure(con, sandboxed=not unsafe)
        with interrupt.stoppable(con, timeout) as stop:
            run_query(con, text, query_format, output, limit=limit, sandboxed=not unsafe, check_complete=stop.check)


def _check_output(output: Path | None, warehouse: Path) -> None:
    if output is not None and output.exists() and output.samefile(warehouse):
        raise UsageError("the rows would replace the warehouse", where=output, next_step="name another --output FILE")
