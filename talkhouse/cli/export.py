"""``talkhouse export``: a view or table as a file, a folder for another program, or the dashboards for Superset."""

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import decimal, escape, output, warn
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.made import not_published
from talkhouse.overlap.request import DROPPED, VERDICTS, checked_verdicts
from talkhouse.query.formats import ExportFormat, Tool
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database
from talkhouse.visible import visible

if TYPE_CHECKING:
    from talkhouse.packages.content import SplitRows
    from talkhouse.packages.export import WrittenPackage
    from talkhouse.query.export import Exported
    from talkhouse.query.pseudonyms import AboutPseudonyms
    from talkhouse.query.selection import Filters
    from talkhouse.query.terms import LicencePart
    from talkhouse.schema.guard import Settings


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
@options.flag("--drop-overlap", help="Leave out a task's examples that also occur in the places given by --against.")
@options.against
@click.option(
    "--verdicts",
    metavar="A,B",
    default=",".join(DROPPED),
    callback=lambda _, __, text: checked_verdicts(text),
    help=f"With --drop-overlap: the verdicts that leave an example out, of: {', '.join(VERDICTS)}.",
)
@options.flag("--notes", help="With --for labelstudio and argilla: send the notes that fit along.")
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
    notes: bool,
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

    --drop-overlap leaves out the examples of a task that also occur in other places, such as your training data: those
    to which talkhouse overlap --against gives the verdict dialogue, both or turn. The manifest records the places, the
    thresholds, and how many examples of each verdict were left out.

    If a licence requires more than attribution (share alike; no commercial use; no licence at all), the command stops
    with a message unless --accept-terms is given.

    --pseudonymise replaces people's ids with keyed hashes, which are the same in every export made with the same key.
    Names inside texts are not changed.

    With --for huggingface, croissant or convokit, PATH is a new folder that datasets, mlcroissant or ConvoKit opens,
    and NAME may be a corpus: all its task views; for ConvoKit it must be one, and the options choose its records.

    With --for labelstudio or argilla, PATH is a new folder with whole dialogues to label, tasks.json or records.json;
    NAME is a corpus or main.dialogues, and the options choose its rows. --notes sends the labels and words of talkhouse
    notes along, as predictions or suggestions of their own, without their authors; what annotators make of them comes
    back by talkhouse notes --take.

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
    if tool not in (Tool.LABELSTUDIO, Tool.ARGILLA):
        options.check_absent({"--notes": notes}, "goes with --for labelstudio and --for argilla", "export")
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

    wanted = ExportRequest(
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
    export_package(wanted, database(db), tool, notes=notes)


@dataclass(frozen=True)
class ExportRequest:
    """The rows that are to be exported, and on what conditions."""

    name: str
    path: Path
    filters: "Filters"
    is_accepted: bool
    """Whether the terms of the corpora are accepted."""
    key_file: Path | None
    """The key of pseudonyms; None: ids of people stay as they are."""
    memory_limit: str | None


def export_file(
    wanted: ExportRequest,
    warehouse_path: Path,
    *,
    file_format: ExportFormat | None,
    columns: Sequence[str] | None,
    limit: int | None,
    escape_formulas: bool,
    against: Sequence[str],
    verdicts: Sequence[str],
    force: bool,
) -> None:
    """Write a view or table to a file, without examples of these ``verdicts`` against places; say what was written."""
    from talkhouse.query.export import export
    from talkhouse.warehouse.opened import opened

    beside: dict[str, Path] = {}
    if against:
        from talkhouse.overlap.drop import with_verdicts
        from talkhouse.overlap.overlap_file import SCHEMA

        judged = with_verdicts(warehouse_path, against, wanted.memory_limit)
        beside = {SCHEMA: judged}
    settings = _settings(wanted)
    with opened(warehouse_path, beside=beside, settings=settings) as warehouse, ProgressBar() as bar:
        filters = wanted.filters
        for file in beside.values():
            from talkhouse.overlap.drop import left_out

            filters = replace(filters, left_out=left_out(warehouse, wanted.name, filters, file, verdicts))
        bar.begin(f"exporting {wanted.name}", unit="rows")
        exported = export(
            warehouse,
            wanted.name,
            wanted.path,
            file_format=file_format,
            filters=filters,
            columns=columns,
            limit=limit,
            is_accepted=wanted.is_accepted,
            key_file=wanted.key_file,
            escape_formulas=escape_formulas,
            force=force,
            on_rows=bar.advance,
        )
    _show_export(exported)
    if filters.left_out is not None:
        counts = ", ".join(f"{number:,} {verdict}" for verdict, number in filters.left_out.about["left_out"].items())
        places = visible(", ".join(filters.left_out.about["against"]))
        output.print(f"  left out, since they stand in {escape(places)}: {counts}", soft_wrap=True)


def export_package(wanted: ExportRequest, warehouse_path: Path, tool: Tool, *, notes: bool) -> None:
    """Write a folder that a program opens, and say what was written."""
    from talkhouse.notes.notes_file import path_for, read
    from talkhouse.notes.states import with_states
    from talkhouse.packages.export import export_package as export
    from talkhouse.warehouse.opened import opened

    with opened(warehouse_path, settings=_settings(wanted)) as warehouse, ProgressBar() as bar:
        bar.begin(f"exporting {wanted.name}", unit="rows")
        written = export(
            warehouse,
            wanted.name,
            tool,
            wanted.path,
            filters=wanted.filters,
            is_accepted=wanted.is_accepted,
            key_file=wanted.key_file,
            notes=with_states(warehouse.con, read(path_for(warehouse_path))) if notes else None,
            on_rows=bar.advance,
        )
    _show_package(written)


def _settings(wanted: ExportRequest) -> "Settings":
    from talkhouse.query.export import settings
    from talkhouse.system.memory import MemoryLimit

    made = settings(wanted.path)
    return made if wanted.memory_limit is None else {**made, "memory_limit": MemoryLimit(wanted.memory_limit).text}


def export_for_superset(path: Path, db: Path | None, db_path: str | None, *, force: bool) -> None:
    """Write the dashboards, and say how they are imported."""
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
    """Return what may keep Superset from opening the warehouse, as far as it shows from here."""
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


def _show_export(exported: "Exported") -> None:
    """Print what was written, what to know of it, and under which licences."""
    warn(exported.warnings)
    size = decimal(exported.bytes)
    output.print(
        f"Exported {exported.rows:,} rows of {escape(exported.name)} ({size}) to {escape(str(exported.path))}",
        soft_wrap=True,
    )
    output.print(f"  described in {escape(str(exported.manifest))}", soft_wrap=True)
    if exported.contents.pseudonyms:
        _show_pseudonyms(exported.contents.pseudonyms)
    if exported.contents.formulas_escaped:
        output.print("  an apostrophe stands before texts that a spreadsheet takes for formulas", soft_wrap=True)
    for note in exported.notes:
        output.print(f"  {escape(visible(note))}", soft_wrap=True)
    show_licences(exported.contents.corpora, exported.contents.parts)


def _show_package(written: "WrittenPackage") -> None:
    """Print what a package has, and under which licences."""
    package = written.package
    warn([warning for config in package.configs for warning in config.warnings])
    output.print(
        f"Wrote {escape(package.name)} ({decimal(written.bytes)}) to {escape(str(written.path))}", soft_wrap=True
    )
    for config in package.configs:
        splits = ", ".join(_split(split) for split in config.splits)
        output.print(f"  {escape(config.name)}: {config.rows:,} rows ({escape(splits)})", soft_wrap=True)
    for file in written.files:
        if "config" not in file and file["rows"] is not None:
            output.print(f"  {escape(file['path'])}: {file['rows']:,} rows", soft_wrap=True)
    if package.left_out:
        output.print(f"  left out, with no rows to export: {escape(', '.join(package.left_out))}", soft_wrap=True)
    for note in package.notes:
        output.print(f"  {escape(visible(note))}", soft_wrap=True)
    if said := package.about_pseudonyms:
        _show_pseudonyms(said)
    show_licences(package.corpora, package.parts)


def _split(split: "SplitRows") -> str:
    """Return a split as users have to name it, how many rows it has, and what its publisher calls it."""
    other = f", published as '{split.published}'" if split.published not in (None, split.name) else ""
    return f"{split.name} {split.rows:,}{other}"


def _show_pseudonyms(said: "AboutPseudonyms") -> None:
    output.print(f"  pseudonyms by the key {said['key']}: {escape(visible(said['remark']))}", soft_wrap=True)


def show_licences(corpora: Sequence[dict[str, Any]], parts: "Sequence[LicencePart]") -> None:
    """Print the licences of corpora, with the parts that were written of each."""
    for corpus in corpora:
        note = not_published(corpus)
        tag = f", {note}" if note else ""
        output.print(f"  licence of {escape(corpus['corpus_id'] + tag)}: {escape(corpus['licence'])}", soft_wrap=True)
        if corpus["terms"]:
            output.print(f"    {escape(corpus['terms'])}", soft_wrap=True)
        for part in (part for part in parts if part.corpus_id == corpus["corpus_id"]):
            output.print(f"    {escape(part.summary)}", soft_wrap=True)
