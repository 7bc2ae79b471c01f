"""``talkhouse export``: a view or table as a file, or the dashboards as a file that a BI tool imports."""

from pathlib import Path

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.exports import Wanted, export_file, export_for_superset, export_package
from talkhouse.overlap.request import DROPPED, VERDICTS, checked_verdicts
from talkhouse.query.formats import ExportFormat, Tool
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database


@options.command
@options.relation
@options.path("--output", "path", metavar="PATH", required=True, help="The file to write; its ending sets the format.")
@options.split
@options.release
@options.subsets
@options.where
@click.option(
    "--format", "file_format", type=options.OneOf(ExportFormat), help="The format, where the ending does not set it."
)
@click.option("--columns", metavar="A,B,C", help="Only these columns, in this order.")
@click.option("--limit", metavar="N", type=options.ROWS, help="The first N rows only.")
@click.option(
    "--for",
    "tool",
    type=options.OneOf(Tool),
    help="A folder for this program, where NAME may be a corpus too; superset: without NAME, the dashboards.",
)
@options.flag("--drop-overlap", help="Leave out a task's examples that stand in the places of --against.")
@options.against
@click.option(
    "--verdicts",
    metavar="A,B",
    default=",".join(DROPPED),
    callback=lambda _, __, text: checked_verdicts(text),
    help=f"With --drop-overlap: the verdicts that leave an example out, of: {', '.join(VERDICTS)}.",
)
@options.accept_terms
@options.path(
    "--pseudonymise",
    metavar="KEYFILE",
    help="Replace the ids of people by keyed hashes; the key is a file of 32 random bytes or more.",
)
@options.escape_formulas
@click.option(
    "--db-path",
    metavar="PATH",
    help="With --for superset: the warehouse's path on the BI tool's machine. Default: the path here.",
)
@options.memory_limit()
@options.force
@options.db
@options.named_folders
def command(
    name: str | None,
    path: Path,
    split: str | None,
    release: str | None,
    subset: tuple[str, ...],
    where: str | None,
    file_format: ExportFormat | None,
    columns: str | None,
    limit: int | None,
    tool: Tool | None,
    drop_overlap: bool,
    against: tuple[str, ...],
    verdicts: tuple[str, ...],
    accept_terms: bool,
    pseudonymise: Path | None,
    escape_formulas: bool,
    db_path: str | None,
    memory_limit: str | None,
    force: bool,
    db: Path | None,
) -> None:
    """Write a view or table to a file, and beside it PATH.manifest.json; or a folder that another program opens.

    The rows are in published order, and two exports of one warehouse are equal to the byte. The format follows from the
    ending of PATH (.parquet .csv .tsv .jsonl .arrow .feather) or from --format. Parquet and Arrow keep types and lists;
    JSON columns are text in them. The files' own metadata holds the licences, the citations and the meaning of each
    column.

    In CSV and TSV, lists are JSON. Text is in double quotes, with quotes inside doubled; tabs and line ends are kept.
    An empty cell without quotes is null, one with quotes an empty text: Polars reads them so, and DuckDB does with
    allow_quoted_nulls = false. Read text columns as text, or "007" becomes 7.

    Every text is written exactly as it is, in all formats. A spreadsheet takes a text that begins with =, +, - or @ for
    a formula, also in quotes: import the CSV file with all columns as text (Excel: Data, From Text/CSV, do not detect
    types; LibreOffice: mark the columns as Text and leave "Evaluate formulas" off) instead of double-clicking it.
    --escape-formulas is for files that people will double-click: it puts an apostrophe before such texts, which are
    then no longer as published. The manifest says so.

    --split, --release, --subset and --where choose rows. Where the publisher has no split of that name, the standard
    names are tried. An expression may read the columns, and other tables and views of the warehouse by a subquery.

    --drop-overlap leaves out the examples of a task that stand in other places, such as your training data: those that
    talkhouse overlap --against gives the verdict dialogue, both or turn. The manifest says against what, by which
    thresholds, and how many of each verdict there were.

    Where a licence asks for more than attribution (share alike; no commercial use; no licence at all), the command
    stops and says so, unless --accept-terms is given.

    --pseudonymise puts keyed hashes in the place of people's ids: the same in every export with one key. Names inside
    texts are not touched.

    With --for huggingface, croissant or convokit, PATH is a new folder that datasets, mlcroissant or ConvoKit opens,
    and NAME may be a corpus: all its task views; for ConvoKit it must be one, and the options choose its records.

    With --for labelstudio or argilla, PATH is a new folder with whole dialogues to label, tasks.json or records.json;
    NAME is a corpus or main.dialogues, and the options choose its rows.

    Hugging Face's datasets would read the manifests of plain files as data: name the files, as in
    load_dataset("parquet", data_files="DIR/*.parquet"), or write a folder with --for huggingface.

    With --for superset, PATH is a zip archive that Apache Superset imports: a read-only connection to the warehouse, a
    dataset for each view of bi, and dashboards.

    Examples:
        talkhouse export dbdc3.breakdown_detection --output breakdown.parquet
        talkhouse export dbdc3.breakdown_detection --release dbdc3 --split eval --output eval.jsonl
        talkhouse export turns --where "length(text) > 80" --columns dialogue_id,turn_index,text --output turns.tsv
        talkhouse export delidata --for huggingface --output delidata-dataset
        talkhouse export dbdc3 --for convokit --output convokit-dbdc3
        talkhouse export --for superset --output talkhouse-superset.zip
    """
    if tool is Tool.SUPERSET:
        of_rows = {
            "NAME": name,
            "--split": split,
            "--release": release,
            "--subset": subset,
            "--where": where,
            "--accept-terms": accept_terms,
            "--pseudonymise": pseudonymise,
            "--escape-formulas": escape_formulas,
            "--format": file_format,
            "--columns": columns,
            "--limit": limit,
            "--memory-limit": memory_limit,
        }
        options.check_absent(of_rows, "is for a view or table, and --for superset exports the dashboards", "export")
        export_for_superset(path, db, db_path, force=force)
        return
    options.check_absent({"--db-path": db_path}, "goes with --for superset", "export")
    if not drop_overlap:
        options.check_absent({"--against": against}, "goes with --drop-overlap", "export")
    elif tool is not None or not against:
        raise UsageError(
            "--drop-overlap leaves examples out of a file" if tool else "--drop-overlap is against some places",
            expected="a file of a task's view, and places with --against",
            next_step="see: talkhouse export --help",
        )
    if name is None:
        raise UsageError(
            "nothing to export",
            next_step="name a view or table (see: talkhouse views), a corpus with --for, or --for superset",
        )
    from talkhouse.query.selection import Filters

    wanted = Wanted(
        name,
        path,
        Filters(split, release, subset, where),
        is_accepted=accept_terms,
        key_file=pseudonymise,
        memory_limit=memory_limit,
    )
    if tool is None:
        names = None if columns is None else [column.strip() for column in columns.split(",")]
        export_file(
            wanted,
            database(db),
            file_format=file_format,
            columns=names,
            limit=limit,
            escape_formulas=escape_formulas,
            against=against,
            verdicts=verdicts,
            force=force,
        )
        return
    of_a_file = {
        "--format": file_format,
        "--columns": columns,
        "--limit": limit,
        "--escape-formulas": escape_formulas,
        "--force": force,
    }
    options.check_absent(of_a_file, f"is for a file, and --for {tool} writes a folder", "export")
    export_package(wanted, database(db), tool)
