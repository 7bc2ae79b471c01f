"""Writes a view or table to a file, with a manifest next to it: always the same bytes for the same rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.export import composition, manifest, sandbox
from talkhouse.export.composition import corpora_of
from talkhouse.export.formats import ExportFormat
from talkhouse.export.manifest import ExportContents, described
from talkhouse.export.personal_data import check_personal_data
from talkhouse.export.pseudonyms import pseudonyms, with_pseudonyms
from talkhouse.export.row_stream import OnRows, QueryRows
from talkhouse.export.selection import NO_FILTERS, Filters, Selection, select
from talkhouse.export.terms import LicencePart, check_terms, parts_of
from talkhouse.export.writers import check_formulas, write
from talkhouse.personal import PersonalData
from talkhouse.schema.errors import UsageError
from talkhouse.schema.guard import Settings
from talkhouse.system.atomic_output import check_free, move_into_place, private_folder, private_folder_path
from talkhouse.system.files import target_of
from talkhouse.system.memory import in_little_memory
from talkhouse.warehouse.opened import Warehouse

MEMORY = 1_000_000_000
"""Bytes that DuckDB may hold while it sorts; what is above goes to the disk, so that memory does not grow with rows."""

SUFFIXES = {f".{name}": name for name in ExportFormat} | {".feather": ExportFormat.ARROW}
"""Ending of a file -> its format; the help of ``talkhouse export`` names them all."""


@dataclass(frozen=True)
class Exported:
    """A file that was written."""

    name: str
    path: Path
    manifest: Path
    bytes: int
    contents: ExportContents
    notes: list[str]
    """Of which publisher's releases, splits, subsets and languages the rows are, where these are several."""
    warnings: list[str]
    """What a reader may not expect, such as turns that are in it more than once."""

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self.contents.rows


def export(
    warehouse: Warehouse,
    name: str,
    output: Path,
    *,
    file_format: ExportFormat | None = None,
    filters: Filters = NO_FILTERS,
    columns: Sequence[str] | None = None,
    limit: int | None = None,
    is_accepted: bool = False,
    personal: PersonalData = PersonalData.ASK,
    key_file: Path | None = None,
    escape_formulas: bool = False,
    force: bool = False,
    on_rows: OnRows = lambda _: None,
) -> Exported:
    """Write a view or table to a file and describe it in ``<output>.manifest.json``.

    ``file_format`` follows from the output's ending where it is not given; ``is_accepted``: the user accepts the terms
    of the corpora; ``personal``: what becomes of personal data in texts of corpora of one's own; ``key_file``: the key
    of pseudonyms in place of ids of people; ``escape_formulas``: in CSV, texts that a spreadsheet takes for formulas
    have an apostrophe before them; ``force`` replaces existing files.

    Raises UsageError for names, columns, splits and files that can't be, TermsNotAccepted for terms that have
    to be accepted first, PersonalDataFound, OutputFailed where there is no room.
    """
    if name in warehouse.corpus_ids:
        raise UsageError(
            f"'{name}' is a corpus, and a file has the rows of one view or table",
            next_step="name one (see: talkhouse views), or write a folder with --for huggingface",
        )
    con, file_format = warehouse.con, file_format or format_of(output)
    check_formulas(file_format, escape_formulas=escape_formulas)
    manifest_path = manifest.path_for(output)
    check_free(con, (output, manifest_path), force=force)
    try:
        selection = select(warehouse, name, filters, columns=columns, limit=limit)
        hidden = pseudonyms(warehouse, key_file, output) if key_file is not None else None
        if hidden is not None:
            selection = with_pseudonyms(selection, warehouse, hidden)
        with private_folder(output) as folder:
            part, text = folder / "rows", folder / "manifest"
            parts = in_little_memory(con, MEMORY, lambda: _terms(warehouse, selection, is_accepted=is_accepted))
            in_little_memory(con, MEMORY, lambda: check_personal_data(warehouse, [selection], personal))
            sources = corpora_of(warehouse, selection)
            counts, warned = in_little_memory(con, MEMORY, lambda: _composed(warehouse, selection))
            of_file = partial(described, selection=selection, sources=sources, parts=parts)
            write_to = partial(write, file_format=file_format, escape_formulas=escape_formulas)
            rows = in_little_memory(con, MEMORY, lambda: _write(con, selection, of_file, write_to, part, on_rows))
            about = hidden.about(corpus["corpus_id"] for corpus in sources) if hidden else None
            contents = ExportContents(sources, parts, counts, rows, about, formulas_escaped=escape_formulas)
            content = manifest.describe(warehouse, selection, contents, file_format, part)
            text.write_text(content, encoding="utf-8")
            size = part.stat().st_size
            warehouse.check_complete()
            # In this order no manifest ever stands next to rows that it is not about, whenever the process is killed.
            manifest_path.unlink(missing_ok=True)
            move_into_place(part, target_of(output))
            move_into_place(text, manifest_path)
    except duckdb.Error as error:
        raise sandbox.failure(error) from error
    return Exported(selection.full_name, output, manifest_path, size, contents, composition.notes(counts), warned)


def settings(output: Path) -> Settings:
    """Return the settings with which a warehouse is opened for ``export``.

    DuckDB sorts in the private folder next to the output, which is removed with it, not next to the warehouse.
    """
    return {"temp_directory": str(private_folder_path(output) / "sorting")}


def format_of(output: Path) -> ExportFormat:
    """Return the format that a file's ending shows; UsageError where it shows none."""
    file_format = SUFFIXES.get(output.suffix.lower())
    if file_format is None:
        raise UsageError(
            f"the name '{output.name}' does not show the format",
            expected=f"a name that ends in {', '.join(SUFFIXES)}",
            next_step=f"choose one with --format {'|'.join(ExportFormat)}",
        )
    return file_format


def _terms(warehouse: Warehouse, selection: Selection, *, is_accepted: bool) -> tuple[LicencePart, ...]:
    parts = parts_of(warehouse, [selection])
    columns = [column["name"] for column in selection.columns]
    check_terms(parts, is_accepted=is_accepted, selection=selection, columns=columns)
    return parts


def _composed(warehouse: Warehouse, selection: Selection) -> tuple[composition.Composition, list[str]]:
    counts = composition.composition(warehouse, selection)
    return counts, composition.warnings(warehouse, selection, counts)


def _write(
    con: duckdb.DuckDBPyConnection,
    selection: Selection,
    describe: Callable[[Any], Any],
    write_to: Callable[..., None],
    path: Path,
    on_rows: OnRows,
) -> int:
    rows = QueryRows(con, con.sql(selection.sql()), on_rows=on_rows, describe=describe)
    with path.open("w", encoding="utf-8", newline="") as stream:
        write_to(rows, stream=stream)
    return rows.count


def check_output(
    con: duckdb.DuckDBPyConnection, output: Path, *, escape_formulas: bool = False, force: bool = False
) -> None:
    """Raise UsageError where the file exists already (unless ``force``) or its ending shows no format that will do."""
    check_formulas(format_of(output), escape_formulas=escape_formulas)
    check_free(con, (output,), force=force)


def write_rows(
    con: duckdb.DuckDBPyConnection, query: str, output: Path, *, escape_formulas: bool = False, force: bool = False
) -> int:
    """Write the rows of a query to a file in the format of its ending, whole or not at all; return their number.

    Raises UsageError where the file exists already (unless ``force``) or its ending shows no format.
    """
    check_output(con, output, escape_formulas=escape_formulas, force=force)
    file_format = format_of(output)
    with private_folder(output) as folder:
        rows = QueryRows(con, con.sql(query))
        with (folder / "rows").open("w", encoding="utf-8", newline="") as stream:
            write(rows, file_format, stream, escape_formulas=escape_formulas)
        move_into_place(folder / "rows", target_of(output))
    return rows.count
