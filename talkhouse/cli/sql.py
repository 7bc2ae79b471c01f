"""``talkhouse sql``: one query, read-only and sandboxed."""

import sys
from contextlib import nullcontext
from math import isnan
from pathlib import Path

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import warn
from talkhouse.export.formats import TEXTS, QueryFormat
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database


@options.command
@click.argument("query", metavar="QUERY", help="The query; - reads it from standard input.")
@options.db
@click.option(
    "--format",
    "query_format",
    type=options.OneOf(QueryFormat),
    default=QueryFormat.TABLE.value,
    help="How to write the rows; parquet needs --output.",
)
@options.path("--output", metavar="FILE", help="Write to a file instead of the screen.")
@click.option("--limit", metavar="N", type=options.ROWS, help="Return at most N rows, and say if there were more.")
@click.option("--timeout", metavar="SECONDS", type=options.SECONDS, help="Stop a query that takes longer.")
@click.option(
    "--memory-limit",
    metavar="SIZE",
    default="50%",
    help="How much memory the query may take: a size such as 2GB, or a share of the machine's memory.",
)
@options.escape_formulas
@options.flag("--texts", hidden=True, help="Write, as parquet, the text of each value that the table shows.")
@options.flag("--unsafe", help="Lift the sandbox: the query may read and write your files, and change settings.")
def command(
    query: str,
    db: Path | None,
    query_format: QueryFormat,
    output: Path | None,
    limit: int | None,
    timeout: float | None,
    memory_limit: str,
    escape_formulas: bool,
    texts: bool,
    unsafe: bool,
) -> None:
    r"""Run one SQL query on the warehouse, which is opened read-only.

    The query is sandboxed: it sees the warehouse and nothing else. It can't read or write other files, reach the
    network, attach databases, load extensions or change settings, and it is one statement. So a query from someone else
    can do no harm beyond taking time (--timeout) and memory (--memory-limit; half of the machine's unless you
    raise or lower it). It runs in a process of its own, which is ended if it does not stop.

    Where talkhouse overlap has written NAME.overlap.duckdb next to the warehouse, its tables are there too: from
    overlap.matches. So are the index of talkhouse search --rank, from search.postings, the vectors of talkhouse
    vectors, from vectors.vectors, and the notes of talkhouse notes, from notes.notes.

    --unsafe lifts the sandbox for queries that you trust, for instance to join a CSV file of your own. The warehouse is
    opened read-only there too.

    The table and markdown are for reading: control characters and invisible characters in them are written as \x1b,
    \u202e. csv, json, jsonl and parquet keep every text exactly as it is, so write them to a file or a program rather
    than to a terminal.

    The formats are those of export. In csv, text is in double quotes, with quotes inside doubled; an empty cell
    without quotes is null, one with quotes ("") an empty text; lists are JSON. A spreadsheet would take some texts for
    formulas: talkhouse export --help says how to open it. In json and jsonl, a JSON column keeps the spelling of its
    numbers.

    Examples:
        talkhouse sql "from main.corpora"
        talkhouse sql "select label, count(*) from dbdc3.breakdown_detection group by all"
        talkhouse sql "from dbdc3.breakdown_detection_eval" --format parquet --output eval.parquet
        talkhouse sql "from main.turns" --limit 20 --timeout 10
        talkhouse sql "from main.turns join 'mine.csv' using (dialogue_id)" --unsafe
    """
    from talkhouse.system.interrupt import run_apart
    from talkhouse.system.memory import MemoryLimit

    if timeout is not None and isnan(timeout):
        raise UsageError("--timeout is not a number of seconds", found="nan")
    memory = MemoryLimit(memory_limit)
    start_clock = run_apart(timeout, lambda: _clean_up(output))
    from talkhouse.export import sandbox
    from talkhouse.export.sandbox import run_query
    from talkhouse.notes import notes_file
    from talkhouse.overlap import overlap_file
    from talkhouse.schema.sql import identifier
    from talkhouse.search.search_index import INDEX
    from talkhouse.search.turn_vectors import VECTORS
    from talkhouse.system.memory import capped
    from talkhouse.warehouse.opened import opened
    from talkhouse.warehouse.sidecar import detach_if_hidden, detach_unless_fitting

    text, path = _read_input() if query == "-" else query, database(db)
    settings = sandbox.settings(sandboxed=not unsafe, memory=memory.text)
    made_by = {"overlap": "talkhouse overlap", **{kind.schema: kind.made_by for kind in (INDEX, VECTORS)}}
    beside = {**overlap_file.attachable(path), **INDEX.attachable(path), **VECTORS.attachable(path)}
    notes = notes_file.attachable(path)
    with opened(path, beside={**beside, **notes}, settings=settings, unsafe=unsafe, seconds=timeout) as warehouse:
        con, check = warehouse.con, warehouse.check_complete
        for name, file in beside.items():
            if problem := detach_unless_fitting(con, identifier(warehouse.database), name, file, made_by[name]):
                warn([problem])
        for name, file in notes.items():
            if problem := detach_if_hidden(con, name, file):
                warn([problem])
        if output is not None and output.exists() and output.samefile(path):
            message, next_step = "the rows would replace the warehouse", "name another --output FILE"
            raise UsageError(message, where=output, next_step=next_step)
        start_clock()
        with capped(con) if not unsafe else nullcontext():
            run_query(
                con,
                text,
                TEXTS if texts else query_format,
                output,
                limit=limit,
                sandboxed=not unsafe,
                escape_formulas=escape_formulas,
                check_complete=check,
            )


def _read_input() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise UsageError("the query is not valid Unicode", found=str(error), next_step="write it in UTF-8") from error


def _clean_up(output: Path | None) -> None:
    """Remove the half of a file that a killed query left."""
    from talkhouse.system.atomic_output import clear_private_folder

    if output is not None:
        clear_private_folder(output)
