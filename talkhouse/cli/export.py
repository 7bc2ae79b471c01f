"""``talkhouse export``: a view or table as a file, or the dashboards as a file that a BI tool imports."""

import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal
from rich.markup import escape

from talkhouse.cli.terminal.console import output
from talkhouse.cli.terminal.options import (
    MOST_ROWS,
    CorpusFolders,
    Db,
    Force,
    OptionalMaxMemory,
    Relation,
    Split,
    check_absent,
)
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.query.formats import ExportFormat, Tool
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.query.export import Exported


def command(
    name: Relation = None,
    *,
    path: Annotated[
        Path, typer.Option("--output", metavar="PATH", help="The file to write; its ending sets the format.")
    ],
    split: Split = None,
    file_format: Annotated[
        ExportFormat | None,
        typer.Option("--format", help="The format, where the ending does not set it.", show_default=False),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Only these columns, in this order.", show_default=False),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=MOST_ROWS, help="The first N rows only.", show_default=False)
    ] = None,
    tool: Annotated[
        Tool | None,
        typer.Option("--for", help="In place of NAME: the dashboards, for this BI tool.", show_default=False),
    ] = None,
    db_path: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="With --for: the warehouse's path on the BI tool's machine. Default: the path here.",
            show_default=False,
        ),
    ] = None,
    memory_limit: OptionalMaxMemory = None,
    force: Force = False,
    db: Db = None,
    _: CorpusFolders = None,
) -> None:
    """Write a view or table to a file, and beside it PATH.manifest.json: columns, counts, checksum, licences.

    The rows are in published order, and two exports of one warehouse are equal to the byte. The format follows from the
    ending of PATH (.parquet .csv .tsv .jsonl .arrow .feather) or from --format. Parquet and Arrow keep types and lists;
    JSON columns are text in them.

    In CSV and TSV, lists are JSON. Text is in double quotes, with quotes inside doubled; tabs and line ends are kept.
    An empty cell without quotes is null, one with quotes an empty text: Polars reads them so, and DuckDB does with
    allow_quoted_nulls = false. Read text columns as text, or "007" becomes 7.

    Every text is written exactly as it is, in all formats. A spreadsheet takes a text that begins with =, +, - or @ for
    a formula, also in quotes: import the CSV file with all columns as text (Excel: Data, From Text/CSV, do not detect
    types; LibreOffice: mark the columns as Text and leave "Evaluate formulas" off) instead of opening it by a click.

    Where the publisher has no split of that name, the standard names are tried.

    With --for superset, PATH is a zip archive that Apache Superset imports: a read-only connection to the warehouse, a
    dataset for each view of bi, and dashboards.

    Examples:
        talkhouse export dbdc3.breakdown_detection --output breakdown.parquet

        talkhouse export dbdc3.breakdown_detection --split eval --output eval.jsonl

        talkhouse export turns --columns dialogue_id,turn_index,text --output turns.tsv

        talkhouse export --for superset --output talkhouse-superset.zip
    """
    of_rows = {
        "NAME": name,
        "--split": split,
        "--format": file_format,
        "--columns": columns,
        "--limit": limit,
        "--memory-limit": memory_limit,
    }
    if tool is not None:
        check_absent(of_rows, "is for a view or table, and --for exports the dashboards", "export")
        _export_for_superset(path, db, db_path, force=force)
        return
    check_absent({"--db-path": db_path}, "goes with --for", "export")
    if name is None:
        raise UsageError(
            "nothing to export", next_step="name a view or table (see: talkhouse views), or --for superset"
        )
    from talkhouse.query.export import export, settings
    from talkhouse.system.memory import MemoryLimit
    from talkhouse.warehouse.opened import opened

    made = settings(path)
    if memory_limit is not None:
        made = {**made, "memory_limit": MemoryLimit(memory_limit).text}
    with opened(database(db), settings=made) as warehouse, ProgressBar() as bar:
        bar.begin(f"exporting {name}", unit="rows")
        exported = export(
            warehouse,
            name,
            path,
            file_format=file_format,
            split=split,
            columns=None if columns is None else [column.strip() for column in columns.split(",")],
            limit=limit,
            force=force,
            on_rows=bar.advance,
        )
    _show(exported)


def _export_for_superset(path: Path, db: Path | None, db_path: str | None, *, force: bool) -> None:
    from talkhouse.superset.bundle import write_bundle
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        there = PurePosixPath(db_path or database(db).resolve())
        bundle = write_bundle(warehouse.con, path, there, force=force)
    output.print(
        f"Wrote {len(bundle.dashboards)} dashboards with {bundle.chart_count} charts, on {bundle.dataset_count} "
        f"datasets ({decimal(bundle.bytes)}), to {escape(str(bundle.path))}",
        soft_wrap=True,
    )
    output.print(f"  opens {escape(str(there))} read-only", soft_wrap=True)
    for remark in _remarks(Path(there), database(db)):
        output.print(f"  {escape(remark)}", soft_wrap=True)
    output.print(
        f"  import it with: superset import-dashboards --path {escape(quote(str(bundle.path)))} --username admin",
        soft_wrap=True,
    )


def _remarks(there: Path, exported: Path) -> Iterator[str]:
    """Say what may keep Superset from opening the warehouse, as far as it shows from here."""
    try:
        if not there.exists():
            yield "there is no such file on this machine: the one where Superset runs must have it"
            return
        if not there.samefile(exported):
            yield f"on this machine that is another file than {exported}, whose views the dashboards fit"
        is_readable = there.stat().st_mode & stat.S_IROTH
        is_reached = all(folder.stat().st_mode & stat.S_IXOTH for folder in there.parents)
    except PermissionError:
        is_readable, is_reached = True, False
    if not is_readable:
        yield "only its owner and group may read that file: the user who runs Superset must be one of them"
    if not is_reached:
        yield "other users can't enter one of the folders above that file: the user who runs Superset must be able to"


def _show(exported: "Exported") -> None:
    """Print what was written, and under which licences."""
    size = decimal(exported.bytes)
    output.print(
        f"Exported {exported.rows:,} rows of {escape(exported.name)} ({size}) to {escape(str(exported.path))}",
        soft_wrap=True,
    )
    output.print(f"  described in {escape(str(exported.manifest))}", soft_wrap=True)
    for corpus in exported.corpora:
        tag = ", invented sample" if corpus["is_sample"] else ""
        output.print(f"  licence of {escape(corpus['corpus_id'])}{tag}: {escape(corpus['licence'])}", soft_wrap=True)
        if corpus["terms"]:
            output.print(f"    {escape(corpus['terms'])}", soft_wrap=True)
