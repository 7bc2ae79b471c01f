"""Writes a package: a folder that a program opens, whole or not at all, with the files that describe it."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.packages.content import ExportPackage, PackageLayout
from talkhouse.packages.descriptions import write_descriptions, write_manifest
from talkhouse.query import sandbox
from talkhouse.query.export import MEMORY
from talkhouse.query.formats import Tool
from talkhouse.query.pseudonyms import pseudonyms
from talkhouse.query.row_stream import OnRows
from talkhouse.query.selection import NO_FILTERS, Filters
from talkhouse.query.terms import check_terms
from talkhouse.system.atomic_output import atomic_folder, private_folder_at, private_folder_path
from talkhouse.system.memory import in_little_memory
from talkhouse.warehouse.opened import Warehouse


@dataclass(frozen=True)
class WrittenPackage:
    """A package that was written."""

    package: ExportPackage
    path: Path
    files: tuple[dict[str, Any], ...]
    """The files of data, as the manifest has them."""
    bytes: int
    """Of all files."""


def export_package(
    warehouse: Warehouse,
    name: str,
    tool: Tool,
    output: Path,
    *,
    filters: Filters = NO_FILTERS,
    is_accepted: bool = False,
    key_file: Path | None = None,
    on_rows: OnRows = lambda _: None,
) -> WrittenPackage:
    """Write a corpus, or a view or table, as a folder for a program.

    ``is_accepted``: the user accepts the terms of the corpora; ``key_file``: the key of pseudonyms in place of ids of
    people. DuckDB sorts beside the folder if the warehouse was opened with ``talkhouse.query.export.settings``.

    Raises UsageError for names, filters and folders that can't be, TermsNotAccepted, OutputFailed where there is no
    room, QueryFailed where a view fails.
    """
    # Only the module of the wanted program is imported.
    layout: PackageLayout = import_module(f"talkhouse.packages.{tool}").LAYOUT

    def write(folder: Path) -> tuple[ExportPackage, list[dict[str, Any]]]:
        names = pseudonyms(warehouse.con, key_file, output) if key_file else None
        package = layout.plan(warehouse, name, filters, names)
        selections = [config.selection for config in package.configs]
        check_terms(package.parts, is_accepted=is_accepted, selection=selections[0] if len(selections) == 1 else None)
        return package, layout.write(package, folder, on_rows)

    # The second folder is the one that ``settings`` names.
    with atomic_folder(output) as folder, private_folder_at(private_folder_path(output), output):
        try:
            package, files = in_little_memory(warehouse.con, MEMORY, lambda: write(folder))
            write_descriptions(package, folder)
            write_manifest(package, folder, files)
        except duckdb.Error as error:
            raise sandbox.failure(error) from error
        warehouse.check_complete()
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return WrittenPackage(package, output, tuple(files), size)
