"""The hash of the rows of each source file in a large table, so that what is new alone is hashed and written.

The hash of rows is a sum, so a table's is that of its files together. Those of a warehouse are in the user's cache
folder, by what tells whether the warehouse has changed (as the ids of contents are): only this user's processes have
computed them, of this file or of the one from which a build took the rows over. A warehouse says nothing of its own
sums, since it may be a stranger's, and who verifies never looks here.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import duckdb
import msgspec
from sqlalchemy import Table

from talkhouse import migrations
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.system.cache import Cache, key_of
from talkhouse.warehouse.byte_copy import own_identity
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.rows_hash import FILE, RowsHash, added, group_hashes

LARGE = 100_000
"""Rows of a corpus in a table from which on they are hashed by source file."""

SPLIT = 1_000_000
"""Rows of a corpus in a table from which on they lie in several files of a release or lake."""

RUN = 250_000
"""Rows of such a file, more or less: all of them are written again where one of its source files changes."""

_A_FILE = 100
"""Rows of a source file, on average: with fewer, to remember them costs as much as to hash them."""

_KEPT = Cache("file-hashes", ".json", most=64)

_Known = dict[str, dict[str, dict[str, RowsHash]]]
"""By table, corpus and source file."""


class Run(NamedTuple):
    """Source files that follow each other, and their rows in a table."""

    files: tuple[str, ...]
    same: RowsHash


def identity_of(path: Path) -> str | None:
    """Return a hash that tells whether a warehouse has changed, or its schema revision; None as ``own_identity``."""
    with suppress(OSError):
        key = own_identity(path)
        return key and key_of(key, migrations.head())
    return None


def hashes_of(warehouse: Warehouse) -> "FileHashes":
    """Return the hashes of an opened warehouse; nothing is remembered where another file is in its place by now."""
    now = own_identity(warehouse.path) if warehouse.own_identity else None
    key = key_of(now, migrations.head()) if now and now == warehouse.own_identity else None
    return FileHashes(warehouse.con, warehouse.database, key)


def same_still(before: str | None, path: Path) -> str | None:
    """Return the identity of a file that was opened, if it is ``before``; else another one may be there by now."""
    return before if before == identity_of(path) else None


def take_over(before: str | None, path: Path, read_again: Mapping[str, Collection[str]]) -> None:
    """Remember for a warehouse that was built now what was known of the one that its rows come from.

    ``before``: the identity of that one. ``read_again``: the source files whose rows do not come from there, of each
    corpus that has others.
    """
    known = _read(before)
    if known and (now := identity_of(path)):
        stay = {
            table: {
                corpus: {file: same for file, same in of_files.items() if file not in read_again[corpus]}
                for corpus, of_files in of_corpora.items()
                if corpus in read_again
            }
            for table, of_corpora in known.items()
        }
        _KEPT.keep(msgspec.json.encode(stay), now)


def _read(key: str | None) -> _Known:
    content = _KEPT.read(key) if key else None
    with suppress(msgspec.DecodeError):  # half a file: it is made again
        return msgspec.json.decode(content, type=_Known) if content else {}
    return {}


@dataclass(frozen=True)
class FileHashes:
    """The hashes of a warehouse's rows by source file: those that are remembered, and the others when asked for."""

    con: duckdb.DuckDBPyConnection
    database: str
    key: str | None
    """What ``same_still`` has returned; None: nothing is remembered."""
    _found: _Known = field(default_factory=dict)
    _places: dict[str, dict[str, tuple[int, int, int]]] = field(default_factory=dict)
    """By table and source file: how many rows it has, and the numbers of the first and the last of them."""

    def of(self, table: Table) -> dict[str, dict[str, RowsHash]]:
        """Return the hashes of the rows of each source file, by corpus, of corpora with many rows in a table."""
        name = qualified(table)
        if name not in self._found:
            query = (
                "select estimated_size from system.main.duckdb_tables() "
                "where (database_name, schema_name, table_name) = (?, ?, ?)"
            )
            sizes = self.con.execute(query, [self.database, table.schema or "main", table.name]).fetchall()
            is_large = name in _TABLES and sum(size for (size,) in sizes) >= LARGE
            self._found[name] = self._of(table) if is_large else {}
        return self._found[name]

    def runs(self, table: Table, corpus: str) -> list[Run]:
        """Return the runs of source files whose rows in a table lie in files of their own; none where all lie in one.

        Where a run ends depends on its last file alone. So they are the same wherever and whenever the corpus was
        read, and a file more or less changes no other run than its own and the next.
        """
        of_files = self.of(table).get(corpus, {})
        if sum(same.rows for same in of_files.values()) < SPLIT:
            return []
        runs = [list[str]()]
        for file, same in sorted(of_files.items()):
            runs[-1].append(file)
            if int(same.hash[:16], 16) * RUN < same.rows << 64:
                runs.append([])
        return [Run(tuple(files), added(of_files[file] for file in files)) for files in runs if files]

    def select(self, table: Table, runs: Sequence[Run]) -> str:
        """Return the query of the rows of runs in a table, run by run, each sorted by grain."""
        columns = ", ".join(f"rows.{quoted(column.name)}" for column in table.columns)
        grain = ", ".join(f"rows.{quoted(column)} asc nulls last" for column in table.info["grain"])
        numbered = [f"({literal(file)}, {number})" for number, run in enumerate(runs) for file in run.files]
        return (
            f"select {columns} from {self._rows(table, [file for run in runs for file in run.files])} inner join "
            f"(values {', '.join(numbered)}) as runs(file, number) on {_file(table)} = runs.file "
            f"order by runs.number, {grain}"
        )

    def keep(self) -> None:
        """Remember what was asked for."""
        if self.key and self._found:
            _KEPT.keep(msgspec.json.encode(self._found), self.key)

    def _of(self, table: Table) -> dict[str, dict[str, RowsHash]]:
        query = (
            f"select {_file(table)}, (count(*), system.main.min(rows.rowid), system.main.max(rows.rowid)) "
            f"from {self._rows(table)} group by all"
        )
        places = self._places[qualified(table)] = dict(self.con.execute(query).fetchall())
        files = f"select source_file_id, corpus_id from {quoted(self.database)}.meta.source_files"
        owners = dict(self.con.execute(files).fetchall())
        if not places.keys() <= owners.keys():  # rows that no file has
            return {}
        remembered, found = _read(self.key).get(qualified(table), {}), {}
        for corpus in {owners[file] for file in places}:
            of_corpus = {file: rows for file, (rows, _, _) in places.items() if owners[file] == corpus}
            if sum(of_corpus.values()) >= max(LARGE, _A_FILE * len(of_corpus)):
                known = remembered.get(corpus, {})
                same = {
                    file: known[file] for file, rows in of_corpus.items() if file in known and known[file].rows == rows
                }
                found[corpus] = same | self._hashed(table, [file for file in of_corpus if file not in same])
        return found

    def _hashed(self, table: Table, files: list[str]) -> dict[str, RowsHash]:
        if not files:
            return {}
        of_files = f"{_file(table)} in ({', '.join(map(literal, files))})"
        query = f"select rows.*, {_file(table)} as {FILE} from {self._rows(table, files)} where {of_files}"
        groups = group_hashes(self.con, query, [FILE], [()])
        return {str(file): RowsHash(rows, hashed) for (file,), rows, (hashed,) in groups}

    def _rows(self, table: Table, files: Collection[str] = ()) -> str:
        """Return the rows of a table beside their source files; with ``files``, from the first of theirs to the last.

        DuckDB reads no others then, and those of new files are the last of all.
        """
        key, rows = key_column(table), f"{quoted(self.database)}.{qualified(table)}"
        if files:
            _, first, last = zip(*(self._places[qualified(table)][file] for file in files), strict=True)
            rows = f"(from {rows} where rowid between {min(first)} and {max(last)})"
        if key == "source_file_id":
            return f"{rows} as rows"
        known = quoted(f"files of {key} in {self.database}")
        self.con.execute(
            f"create temp table if not exists {known} as "
            f"select {key}, system.main.min(source_file_id) as source_file_id "
            f"from {quoted(self.database)}.main.records where {key} is not null group by all"
        )
        return f"{rows} as rows left join {known} as files on rows.{key} = files.{key}"


def key_column(table: Table) -> str | None:
    """Return the column by which the source file of a row is known; None where none tells it."""
    return next((name for name in ("source_file_id", "record_id", "dialogue_id") if name in table.columns), None)


def _file(table: Table) -> str:
    return "rows.source_file_id" if key_column(table) == "source_file_id" else "files.source_file_id"


_TABLES = {
    qualified(table)
    for table in metadata.tables.values()
    if table.schema is None and key_column(table) and table.name != "examples"  # which are numbered through all files
}
"""Tables whose rows a build takes over with those of their source files, as they are."""
