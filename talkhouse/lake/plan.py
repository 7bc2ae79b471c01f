"""What goes into a lake: the rows of each corpus in each table, and which of them lie there already."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Table as Declared

from talkhouse.lake.files import Content, content
from talkhouse.lake.warehouses import SHARED, Warehouses
from talkhouse.lake_format.manifest import Column, File, Manifest
from talkhouse.lake_format.table_files import is_whole
from talkhouse.progress import Progress
from talkhouse.schema import warehouse
from talkhouse.schema.tables import metadata
from talkhouse.warehouse.relations import columns_of


@dataclass(frozen=True)
class Part:
    """The rows of a corpus in a table, and the files of the current snapshot that hold just these."""

    content: Content
    kept: tuple[File, ...] = ()
    """Empty where the rows have to be written."""
    damaged: tuple[str, ...] = ()
    """Files that would be kept but are missing or have changed."""


@dataclass(frozen=True)
class PlannedTable:
    """A table with the parts that have rows, or else one without."""

    table: Declared
    columns: tuple[Column, ...]
    parts: tuple[Part, ...]

    @property
    def rows(self) -> int:
        """The number of its rows."""
        return sum(part.content.rows for part in self.parts)


Plan = tuple[PlannedTable, ...]


def make_plan(warehouses: Warehouses, lake: Path, current: Manifest | None, progress: Progress) -> Plan:
    """Count and hash the rows of all tables, and find which of them the lake has already."""
    progress.begin("comparing", unit="rows")
    return tuple(_plan(warehouses, table, lake, current, progress) for table in metadata.tables.values())


def _plan(
    warehouses: Warehouses, table: Declared, lake: Path, current: Manifest | None, progress: Progress
) -> PlannedTable:
    columns = _columns(warehouses, table)
    contents = []
    for corpus in (*warehouses.corpora, SHARED):
        with warehouse.explain_damage(warehouses.path(corpus)):
            contents.append(content(warehouses.con, table, columns, corpus, warehouses.rows(table, corpus)))
        progress.advance(contents[-1].rows)
    # A table without rows has a file too: whoever reads it sees its columns.
    with_rows = [rows for rows in contents if rows.rows] or contents[-1:]
    return PlannedTable(table, columns, tuple(_compare(rows, lake, current) for rows in with_rows))


def _columns(warehouses: Warehouses, table: Declared) -> tuple[Column, ...]:
    """Describe the columns of a table as it is declared, with DuckDB's types."""
    columns = columns_of(warehouses.con, table.schema or "main", table.name)
    types = {column["name"]: column["type"] for column in columns}
    return tuple(
        Column(
            str(column.name), types[column.name], bool(column.nullable) and not column.primary_key, column.comment or ""
        )
        for column in table.columns
    )


def _compare(rows: Content, lake: Path, current: Manifest | None) -> Part:
    """Find the files of the current snapshot that hold just these rows."""
    before = current.table(rows.full_name) if current else None
    if before is None or before.fingerprints.get(rows.corpus) != rows.fingerprint:
        return Part(rows)
    files = tuple(file for file in before.files if file.corpus == rows.corpus)
    damaged = tuple(file.path for file in files if not is_whole(file, lake))
    return Part(rows, damaged=damaged) if damaged else Part(rows, kept=files)
