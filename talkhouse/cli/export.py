"""``talkhouse export``: a view or table as a file, a folder for another program, or the dashboards for Superset."""

import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from talkhouse.cli.terminal import options
from talkhouse.cli.terminal.console import decimal, escape, output, warn
from talkhouse.cli.terminal.progress import ProgressBar
from talkhouse.escaping import visible
from talkhouse.export.formats import ChatForm, ExportFormat, PersonaPlace, Tool
from talkhouse.overlap.request import DROPPED, VERDICTS, checked_verdicts
from talkhouse.personal import PersonalData
from talkhouse.provenance import not_published
from talkhouse.schema.errors import UsageError
from talkhouse.settings import database

if TYPE_CHECKING:
    from talkhouse.export.export import Exported
    from talkhouse.export.pseudonyms import AboutPseudonyms
    from talkhouse.export.selection import Filters
    from talkhouse.export.terms import LicencePart
    from talkhouse.packages.content import SplitRows
    from talkhouse.packages.export import WrittenPackage


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
    help="A folder for this program, where NAME may be a corpus too; superset, dbt: a file about all, without NAME.",
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
@click.option(
    "--as", "chat_form", type=options.OneOf(ChatForm), help="With --for chat: whole dialogues, or a prompt and answers."
)
@click.option("--roles", metavar="A=B,C=D", help="With --for chat: the chat's role for each role of the corpus.")
@click.option(
    "--persona",
    type=options.OneOf(PersonaPlace),
    help="With --for chat: put the persona of the speaker who answers first, as a message of this role.",
)
@options.flag("--notes", help="With --for labelstudio and argilla: include the notes that fit.")
@options.accept_terms
@options.personal
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
    chat_form: ChatForm | None,
    roles: str | None,
    persona: PersonaPlace | None,
    notes: bool,
    accept_terms: bool,
    personal: PersonalData,
    pseudonymise: Path | None,
    escape_formulas: bool,
    db_path: str | None,
    memory_limit: str | None,
    force: bool,
    db: Path | None,
) -> None:
    """Write a view or table to a file, and next to it PATH.manifest.json; or a folder that another program opens.

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

    --redact puts marks such as <email> and <phone> in place of e-mail addresses, telephone, card and account numbers,
    IP addresses, and names after a greeting, in all texts; spans of labels move along, and the manifest counts the
    marks. Texts of a corpus of your own that have any (names aside) stop the command without it, unless
    --keep-personal-data is given. docs/personal-data.md says what is found and what is not.

    With --for huggingface, croissant or convokit, PATH is a new folder that datasets, mlcroissant or ConvoKit opens,
    and NAME may be a corpus: all its task views; for ConvoKit it must be one, and the options choose its records.

    With --for chat, PATH is a new folder with a file of JSON Lines for each split, in the form that trainers read:
    whole dialogues (messages), a turn with what comes before it (prompt, completion), or a prompt with two answers
    (chosen, rejected). NAME is a corpus, a view or table that names dialogues, or a query in quotes that does. In a
    tree, each path from the first message to a last one is a chat. --roles says which role of a chat each role of the
    corpus is.

    With --for labelstudio or argilla, PATH is a new folder with whole dialogues to label, tasks.json or records.json;
    NAME is a corpus or main.dialogues, and the options choose its rows. --notes includes the labels and words of
    talkhouse notes, as predictions or suggestions, without their authors; talkhouse notes --take imports what
    annotators make of them.

    Hugging Face's datasets would read the manifests of plain files as data: name the files, as in
    load_dataset("parquet", data_files="DIR/*.parquet"), or write a folder with --for huggingface.

    With --for superset, PATH is a zip archive that Apache Superset imports: a read-only connection to the warehouse, a
    dataset for each view of bi, and dashboards.

    With --for dbt, PATH is a YAML file with all views and tables as dbt's sources: their comments, and tests of their
    keys. Put it among the models of a project for dbt-duckdb.

    Examples:
        talkhouse export dbdc3.breakdown_detection --output breakdown.parquet
        talkhouse export dbdc3.breakdown_detection --release dbdc3 --split eval --output eval.jsonl
        talkhouse export turns --where "length(text) > 80" --columns dialogue_id,turn_index,text --output turns.tsv
        talkhouse export delidata --for huggingface --output delidata-dataset
        talkhouse export dbdc3 --for convokit --output convokit-dbdc3
        talkhouse export mantis --for chat --roles agent=assistant --accept-terms --output chats
        talkhouse export --for dbt --output models/talkhouse.yml
        talkhouse export --for superset --output talkhouse-superset.zip
    """
    _check_use(tool, drop_overlap=drop_overlap)
    if tool is Tool.SUPERSET:
        export_for_superset(path, db, db_path, force=force)
        return
    if tool is Tool.DBT:
        export_for_dbt(path, db, force=force)
        return
    if name is None:
        raise UsageError(
            "nothing to export",
            next_step="name a view or table (see: talkhouse views), a corpus with --for, or --for superset",
        )
    from talkhouse.export.export import export, settings
    from talkhouse.export.selection import Filters
    from talkhouse.overlap.overlap_file import SCHEMA
    from talkhouse.personal.redact import opened_for
    from talkhouse.system.memory import MemoryLimit

    filters = Filters(split, release, subset, where)
    beside: dict[str, Path] = {}
    if against:
        from talkhouse.overlap.compute import with_verdicts

        beside = {SCHEMA: with_verdicts(database(db), against, memory_limit)}
    limits = {} if memory_limit is None else {"memory_limit": MemoryLimit(memory_limit).text}
    with (
        opened_for(database(db), personal, beside=beside, settings={**settings(path), **limits}) as warehouse,
        ProgressBar() as bar,
    ):
        if against:
            from talkhouse.overlap.read import left_out

            filters = replace(filters, left_out=left_out(warehouse, name, filters, beside[SCHEMA], verdicts))
        how: dict[str, Any] = {
            "filters": filters,
            "is_accepted": accept_terms,
            "personal": personal,
            "key_file": pseudonymise,
            "on_rows": bar.advance,
        }
        bar.begin(f"exporting {name}", unit="rows")
        if tool is None:
            chosen = None if columns is None else [column.strip() for column in columns.split(",")]
            how |= {"columns": chosen, "limit": limit, "escape_formulas": escape_formulas, "force": force}
            show = partial(_show_export, export(warehouse, name, path, file_format=file_format, **how))
        else:
            from talkhouse.notes.notes_file import path_for, read, with_states
            from talkhouse.packages.chat import ChatOptions, roles_of
            from talkhouse.packages.export import export_package

            if tool is Tool.CHAT:
                roles_in_chats = roles_of(roles) if roles else {}
                how["chats"] = ChatOptions(chat_form, roles_in_chats, has_personas=persona is not None)
            if notes:
                how["notes"] = with_states(warehouse.con, read(path_for(database(db))))
            show = partial(_show_package, export_package(warehouse, name, tool, path, **how))
    show()
    _show_left_out(filters)


_OF_ROWS = (
    *("NAME", "--split", "--release", "--subset", "--where", "--accept-terms", "--redact", "--keep-personal-data"),
    *("--pseudonymise", "--escape-formulas", "--format", "--columns", "--limit", "--memory-limit"),
)
_OF_A_FILE = ("--format", "--columns", "--limit", "--escape-formulas", "--force")


def _check_use(tool: Tool | None, *, drop_overlap: bool) -> None:
    """Raise UsageError for options that say nothing of what is to be written."""
    if tool not in (Tool.LABELSTUDIO, Tool.ARGILLA):
        options.check_absent(["--notes"], "goes with --for labelstudio and --for argilla")
    if tool is not Tool.CHAT:
        options.check_absent(["--as", "--roles", "--persona"], "goes with --for chat")
    if tool in (Tool.SUPERSET, Tool.DBT):
        what = "the dashboards" if tool is Tool.SUPERSET else "the sources"
        options.check_absent(_OF_ROWS, f"is for a view or table, and --for {tool} exports {what}")
    elif tool is not None:
        options.check_absent(_OF_A_FILE, f"is for a file, and --for {tool} writes a folder")
    if tool is not Tool.SUPERSET:
        options.check_absent(["--db-path"], "goes with --for superset")
    if not drop_overlap:
        options.check_absent(["--against"], "goes with --drop-overlap")
    elif tool not in (None, Tool.CHAT) or not click.get_current_context().params["against"]:
        raise UsageError(
            "--drop-overlap leaves examples out of a file" if tool else "--drop-overlap is against some places",
            expected="a file of a task's view, and places with --against",
            next_step="see: talkhouse export --help",
        )


def _show_left_out(filters: "Filters") -> None:
    if filters.left_out is not None:
        counts = ", ".join(f"{number:,} {verdict}" for verdict, number in filters.left_out.about["left_out"].items())
        places = visible(", ".join(filters.left_out.about["against"]))
        output.print(f"  left out, since they stand in {escape(places)}: {counts}")


def export_for_superset(path: Path, db: Path | None, db_path: str | None, *, force: bool) -> None:
    """Write the dashboards, and say how they are imported."""
    from talkhouse.superset.bundle import write_bundle
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        there = PurePosixPath(db_path or database(db).resolve())
        bundle = write_bundle(warehouse.con, path, there, force=force)
    output.print(
        f"Wrote {len(bundle.dashboards)} dashboards with {bundle.chart_count} charts, on {bundle.dataset_count} "
        f"datasets ({decimal(bundle.bytes)}), to {escape(str(bundle.path))}"
    )
    output.print(f"  opens {escape(str(there))} read-only")
    for remark in _remarks(Path(there), database(db)):
        output.print(f"  {escape(remark)}")
    output.print(
        f"  import it with: superset import-dashboards --path {escape(quote(str(bundle.path)))} --username admin"
    )


def export_for_dbt(path: Path, db: Path | None, *, force: bool) -> None:
    """Write the sources, and say how many tables they have."""
    from talkhouse.export.dbt import write_sources
    from talkhouse.warehouse.opened import opened

    with opened(database(db)) as warehouse:
        count = write_sources(warehouse, path, force=force)
    output.print(f"Wrote {count} views and tables as sources of dbt to {escape(str(path))}")


def _remarks(there: Path, exported: Path) -> Iterator[str]:
    """Return the obstacles to Superset's opening the warehouse, as far as they are visible here."""
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
    output.print(f"Exported {exported.rows:,} rows of {escape(exported.name)} ({size}) to {escape(str(exported.path))}")
    output.print(f"  described in {escape(str(exported.manifest))}")
    if exported.contents.pseudonyms:
        _show_pseudonyms(exported.contents.pseudonyms)
    if exported.contents.formulas_escaped:
        output.print("  an apostrophe stands before texts that a spreadsheet takes for formulas")
    for note in exported.notes:
        output.print(f"  {escape(visible(note))}")
    show_licences(exported.contents.corpora, exported.contents.parts)


def _show_package(written: "WrittenPackage") -> None:
    """Print what a package has, and under which licences."""
    package = written.package
    warn([warning for config in package.configs for warning in config.warnings])
    output.print(f"Wrote {escape(package.name)} ({decimal(written.bytes)}) to {escape(str(written.path))}")
    for config in package.configs:
        splits = ", ".join(_split(split) for split in config.splits)
        output.print(f"  {escape(config.name)}: {config.rows:,} rows ({escape(splits)})")
    for file in written.files:
        if "config" not in file and file["rows"] is not None:
            left_out = (
                f"; left out for want of a prompt: {file['without_prompt']:,}" if file.get("without_prompt") else ""
            )
            output.print(f"  {escape(file['path'])}: {file['rows']:,} rows{left_out}")
    if package.left_out:
        output.print(f"  left out, with no rows to export: {escape(', '.join(package.left_out))}")
    for note in package.notes:
        output.print(f"  {escape(visible(note))}")
    if about := package.about_pseudonyms:
        _show_pseudonyms(about)
    show_licences(package.corpora, package.parts)


def _split(split: "SplitRows") -> str:
    """Return a split as users have to name it, how many rows it has, and what its publisher calls it."""
    other = f", published as '{split.published}'" if split.published not in (None, split.name) else ""
    return f"{split.name} {split.rows:,}{other}"


def _show_pseudonyms(about: "AboutPseudonyms") -> None:
    output.print(f"  pseudonyms by the key {about['key']}: {escape(visible(about['remark']))}")


def show_licences(corpora: Sequence[dict[str, Any]], parts: "Sequence[LicencePart]") -> None:
    """Print the licences of corpora, with the parts that were written of each."""
    for corpus in corpora:
        note = not_published(corpus)
        tag = f", {note}" if note else ""
        output.print(f"  licence of {escape(corpus['corpus_id'] + tag)}: {escape(corpus['licence'])}")
        if corpus["terms"]:
            output.print(f"    {escape(corpus['terms'])}")
        for part in (part for part in parts if part.corpus_id == corpus["corpus_id"]):
            output.print(f"    {escape(part.summary)}")
