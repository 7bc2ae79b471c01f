"""What goes into a lake: the rows of each corpus in each table, and which of them lie there already."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlalchemy import Table as Declared

from talkhouse.lake.files import Content, content, is_whole
from talkhouse.lake.manifest import Column, File, Manifest
from talkhouse.lake.warehouses import SHARED, Warehouses
from talkhouse.relations import columns_of
from talkhouse.schema import warehouse
from talkhouse.schema.tables import metadata


class Progress(Protocol):
    """Shows how far a lake is."""

    def begin(self, step: str, *, records: int = 0, unit: str = "records") -> None:
        """Show a new step, and no other; so many of the unit lie ahead."""

    def advance(self, records: int) -> None:
        """Count what is done."""


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


def make_plan(found: Warehouses, lake: Path, current: Manifest | None, progress: Progress) -> Plan:
    """Count and hash the rows of all tables, and find which of them the lake has already."""
    progress.begin("comparing", unit="rows")
    return tuple(_plan(found, table, lake, current, progress) for table in metadata.tables.values())


def _plan(found: Warehouses, table: Declared, lake: Path, current: Manifest | None, progress: Progress) -> PlannedTable:
    columns = _columns(found, table)
    contents = []
    for corpus in (*found.corpora, SHARED):
        with warehouse.explain_damage(found.path(corpus)):
            contents.append(content(found.con, table, columns, corpus, found.rows(table, corpus)))
        progress.advance(contents[-1].rows)
    # A table without rows has a file too: whoever reads it sees its columns.
    with_rows = [one for one in contents if one.rows] or contents[-1:]
    return PlannedTable(table, columns, tuple(_compare(one, lake, current) for one in with_rows))


def _columns(found: Warehouses, table: Declared) -> tuple[Column, ...]:
    """Describe the columns of a table as it is declared, with DuckDB's types."""
    types = {one["name"]: one["type"] for one in columns_of(found.con, table.schema or "main", table.name)}
    return tuple(
        Column(str(one.name), types[one.name], bool(one.nullable) and not one.primary_key, one.comment or "")
        for one in table.columns
    )


def _compare(one: Content, lake: Path, current: Manifest | None) -> Part:
    """Find the files of the current snapshot that hold just these rows."""
    before = current.table(one.full_name) if current else None
    if before is None or before.fingerprints.get(one.corpus) != one.fingerprint:
        return Part(one)
    files = tuple(file for file in before.files if file.corpus == one.corpus)
    damaged = tuple(file.path for file in files if not is_whole(file, lake))
    return Part(one, damaged=damaged) if damaged else Part(one, kept=files)
