"""Writes a view or table to a file, with a manifest beside it: the same rows in the same order, to the byte."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from schema.errors import UsageError
from schema.sql import literal
from talkhouse import atomic_output
from talkhouse.atomic_output import private_folder, private_folder_of, swap
from talkhouse.query import manifest, sandbox, writers
from talkhouse.query.formats import FileFormat
from talkhouse.query.memory import in_little_memory
from talkhouse.query.row_stream import Rows
from talkhouse.query.selection import Selection, select

_MEMORY = 1_000_000_000
"""Bytes that DuckDB may hold while it sorts; what is above goes to the disk, so that memory does not grow with rows."""

_WRITERS = {
    FileFormat.PARQUET: writers.to_parquet,
    FileFormat.CSV: writers.to_csv,
    FileFormat.TSV: writers.to_tsv,
    FileFormat.JSONL: writers.to_jsonl,
    FileFormat.ARROW: writers.to_arrow,
}

_SUFFIXES = {f".{form}": form for form in FileFormat} | {".feather": FileFormat.ARROW}


@dataclass(frozen=True)
class Exported:
    """A file that was written."""

    name: str
    path: Path
    manifest: Path
    rows: int
    bytes: int
    corpora: list[dict[str, Any]]
    """The corpora whose rows are in it, as the manifest has them: title, licence, terms, citation ..."""


def export(
    con: duckdb.DuckDBPyConnection,
    name: str,
    output: Path,
    *,
    form: FileFormat | None = None,
    split: str | None = None,
    columns: Sequence[str] | None = None,
    limit: int | None = None,
    force: bool = False,
    told: writers.Told = lambda _: None,
    whole: Callable[[], None] = lambda: None,
) -> Exported:
    """Write a view or table to a file and describe it in ``<output>.manifest.json``.

    ``form`` is told by the output's ending where it is not given; ``split`` is a publisher's own name, or a standard
    one (train, validation, test) that no publisher's split has; ``force`` replaces files that are there. ``told`` hears
    how many more rows are written; ``whole`` is called before the files appear and raises where the rows are not all.

    Raises UsageError for names, columns, splits and files that can't be, OutputFailed where there is no room.
    """
    form = form or _by_suffix(output)
    described = manifest.beside(output)
    _check_free(con, (output, described), force=force)
    try:
        selection = select(con, name, split=split, columns=columns, limit=limit)
        with private_folder(output) as folder:
            part, text = folder / "rows", folder / "manifest"
            sources = manifest.corpora(con, selection)
            rows = in_little_memory(con, _MEMORY, lambda: _write(con, selection, form, part, told))
            text.write_text(manifest.manifest(con, selection, sources, form, part, rows), encoding="utf-8")
            size = part.stat().st_size
            whole()
            # In this order no manifest ever stands beside rows that it is not about, whenever the process is killed.
            described.unlink(missing_ok=True)
            swap(part, output.resolve())
            swap(text, described)
    except duckdb.Error as error:
        raise sandbox.failure(error) from error
    return Exported(selection.full_name, output, described, rows, size, sources)


def settle(con: duckdb.DuckDBPyConnection, output: Path) -> None:
    """Let a connection sort in the private folder that the export has beside its output, and that goes with it.

    Not part of ``export``: DuckDB can't change the folder of a connection that has used it once. Without this it is
    DuckDB's own, beside the warehouse.
    """
    # DuckDB shows a bar of its own on standard output where it takes Python for interactive.
    con.execute("set enable_progress_bar = false")
    con.execute(f"set temp_directory = {literal(str(private_folder_of(output) / 'sorting'))}")


def _by_suffix(output: Path) -> FileFormat:
    form = _SUFFIXES.get(output.suffix.lower())
    if form is None:
        raise UsageError(
            f"the name '{output.name}' does not tell the format",
            expected=f"a name that ends in {', '.join(_SUFFIXES)}",
            next_step=f"give --format {'|'.join(FileFormat)}",
        )
    return form


def _check_free(con: duckdb.DuckDBPyConnection, paths: Sequence[Path], *, force: bool) -> None:
    """Refuse to write over the warehouse, and without ``force`` over anything."""
    rows = con.execute("select path from duckdb_databases() where database_name = current_database()").fetchall()
    warehouses = [Path(path) for (path,) in rows if path]
    for path in paths:
        with atomic_output.told(path):
            if path.is_dir() or not path.exists():
                continue
            if any(path.samefile(warehouse) for warehouse in warehouses):
                raise UsageError("the rows would replace the warehouse", where=path, next_step="name another --output")
        if not force:
            raise UsageError(
                "the file exists already", where=path, next_step="name another --output, or replace it with --force"
            )


def _write(
    con: duckdb.DuckDBPyConnection, selection: Selection, form: FileFormat, path: Path, told: writers.Told
) -> int:
    written = 0

    def count(rows: int) -> None:
        nonlocal written
        written += rows
        told(rows)

    _WRITERS[form](Rows(con, con.sql(selection.sql())), path, count)
    return written
