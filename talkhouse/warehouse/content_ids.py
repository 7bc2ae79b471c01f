"""Which release a warehouse was checked out of, and the id of its contents where that is known already.

To compute the id all rows are hashed, so it is kept in the user's cache folder with what tells whether a file has
changed: its size, time and inode.
"""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from talkhouse.schema.sql import quoted
from talkhouse.system.cache import Cache, key_of
from talkhouse.warehouse.byte_copy import identity

if TYPE_CHECKING:  # what is known already is said without SQLAlchemy, which takes its time
    from talkhouse.warehouse.rows_hash import ByFile, TableHash, TaskHash

_KEPT = Cache("content", ".json", most=64)
_SOURCE = re.compile(r"release ([a-z0-9][a-z0-9._-]{0,63}) ([0-9a-f]{64})")
"""What ``meta.loads.source`` says in a warehouse that was checked out of a release."""


class ContentIds(NamedTuple):
    """What is known of the contents of a warehouse."""

    release: str | None = None
    """The release that it was checked out of, or that was made of it."""
    content_id: str | None = None


class Contents(NamedTuple):
    """The hashes of all that is in a warehouse."""

    tables: "list[TableHash]"
    tasks: "list[TaskHash]"

    @property
    def content_id(self) -> str:
        """The id of all of it."""
        from talkhouse.warehouse.rows_hash import content_id

        return content_id(self.tables, self.tasks)

    def id_of(self, corpus: str) -> str:
        """Return the id of the contents of a corpus."""
        from talkhouse.warehouse.rows_hash import content_id

        return content_id(
            [table for table in self.tables if table.corpus == corpus],
            [task for task in self.tasks if task.task.partition(".")[0] == corpus],
        )


def source_of(name: str, release_id: str) -> str:
    """Write what a warehouse says of the release that it was checked out of."""
    return f"release {name} {release_id}"


def known_ids(con: duckdb.DuckDBPyConnection, database: str, path: Path) -> ContentIds:
    """Return the identity of a warehouse as far as known without hashing its rows."""
    last = _last_build(con, database)
    if last and (match := _SOURCE.fullmatch(last[0])):
        return ContentIds(match[1], match[2])
    content = _KEPT.read(key_of(identity(path), *last))
    return ContentIds(*json.loads(content)) if content else ContentIds()


def keep_ids(con: duckdb.DuckDBPyConnection, database: str, path: Path, ids: ContentIds) -> None:
    """Keep what was found of a warehouse."""
    _KEPT.keep(json.dumps(ids).encode(), key_of(identity(path), *_last_build(con, database)))


def _last_build(con: duckdb.DuckDBPyConnection, database: str) -> list[str]:
    """Return the source and end of the build that is read; another may have replaced the file at its path by now."""
    last = f"select source, finished_at::varchar from {quoted(database)}.meta.loads order by load_id desc limit 1"
    return [str(fact) for row in con.execute(last).fetchall() for fact in row]


def contents_of(
    con: duckdb.DuckDBPyConnection, database: str, corpora: list[str] | None = None, by_file: "ByFile | None" = None
) -> Contents:
    """Hash all that is in a warehouse, or all of some corpora; ``by_file``: as in ``table_hashes``."""
    from talkhouse.warehouse.rows_hash import table_hashes, task_hashes

    tables = table_hashes(con, database, corpora=corpora, by_file=by_file)
    return Contents(tables, task_hashes(con, database, corpora=corpora))
