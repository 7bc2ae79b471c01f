"""Which rows of a published copy may differ from the warehouse's: those of source files whose hashes have changed.

Both databases get temporary tables of these files and of their records and dialogues, of then and of now. A row of a
large table that belongs to none of them has the same source file here and there, whose rows are all the same.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import duckdb
from psycopg import Connection

from talkhouse.postgres.record import FilesOfTables
from talkhouse.postgres.server import run
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.warehouse.file_hashes import FileHashes
from talkhouse.warehouse.rows_hash import RowsHash

_KEYS = ("record_id", "dialogue_id")


def hashes_by_file(hashes: FileHashes) -> FilesOfTables:
    """Return the hashes of the source files' rows in large tables as a publication records them: with 16 hex digits."""
    return {
        qualified(table): {
            file: RowsHash(same.rows, same.hash[:16])
            for of_files in of_corpora.values()
            for file, same in of_files.items()
        }
        for table in metadata.tables.values()
        if (of_corpora := hashes.of(table))
    }


class ChangedFiles(NamedTuple):
    """The source files whose rows differ."""

    by_table: dict[str, frozenset[str]]
    """Those whose rows may differ in a large table: in each other file they are known to be the same."""
    different: frozenset[str]
    """Those of which it is known that they differ, or that are new or gone."""
    share: float
    """Of the rows of large tables, then and now, how many belong to these."""


def changed_files(
    before: FilesOfTables, now: FilesOfTables, files_before: Mapping[str, int], files_now: Mapping[str, int]
) -> ChangedFiles:
    """Compare a copy with the warehouse; ``files_before`` and ``files_now`` have a hash of each source file's row."""
    files = files_before.keys() | files_now.keys()
    by_table, different = {}, {file for file in files if files_before.get(file) != files_now.get(file)}
    for name in before.keys() & now.keys():
        same = {file for file, rows in now[name].items() if before[name].get(file) == rows}
        by_table[name] = frozenset(files - same)
        different |= (before[name].keys() | now[name].keys()) - same
    rows = Counter[bool]()
    for of_files in (*before.values(), *now.values()):
        for file, same_rows in of_files.items():
            rows[file in different] += same_rows.rows
    return ChangedFiles(by_table, frozenset(different), rows[True] / max(1, rows.total()))


class Rows(NamedTuple):
    """Which rows of a relation: the condition in DuckDB, and in PostgreSQL."""

    here: str
    there: str
    is_empty: bool = False


ALL = Rows("true", "true")


class KeysOfFiles:
    """Temporary tables of source files, their records and their dialogues, in both databases.

    Those of PostgreSQL are gone when the transaction ends.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, server: Connection[Any], main: str, nul: str | None) -> None:
        """``main``: what that schema is called in PostgreSQL, which has the records of then; ``nul``: as in Options."""
        self._nul = nul or ""
        self._con, self._server, self._main = con, server, quoted(main)
        self._numbers: dict[frozenset[str], int] = {}

    def add(self, files: frozenset[str]) -> None:
        """Make the tables of some files, before the copy's records are changed."""
        if files in self._numbers:
            return
        number = self._numbers[files] = len(self._numbers)
        self._create(_name("source_file_id", number), files)
        in_files = f"where source_file_id in (select id from {_name('source_file_id', number)})"
        for key in _KEYS:
            query = f"select distinct {key} from {{}}.records {in_files} and {key} is not null"
            there, here = run(self._server, query.format(self._main)), self._con.execute(query.format("main"))
            self._create(_name(key, number), [id_ for (id_,) in (*there.fetchall(), *here.fetchall())])

    def rows(self, files: frozenset[str], key: str) -> Rows:
        """Return the rows that have the key of some files."""
        name = _name(key, self._numbers[files])
        ((first, last),) = self._con.execute(f"select system.main.min(id), system.main.max(id) from {name}").fetchall()
        among = f"{quoted(key)} in (select id from {name})"
        # DuckDB leaves out what is beyond the two before it computes a view.
        between = f"{quoted(key)} between {literal(first or '')} and {literal(last or '')}"
        return Rows(f"{between} and {among}", among, first is None)

    def _create(self, name: str, ids: Iterable[str]) -> None:
        distinct = sorted(set(ids))
        self._con.execute(f"create or replace temp table {name} as select unnest($1::varchar[]) as id", [distinct])
        run(self._server, f"create temp table {name} (id text primary key) on commit drop")
        there = sorted({id_.replace("\0", self._nul) for id_ in distinct})
        run(self._server, f"insert into {name} select unnest(%s::text[])", [there])
        run(self._server, f"analyze {name}")


def _name(key: str, number: int) -> str:
    return f"talkhouse_{key}_{number}"
