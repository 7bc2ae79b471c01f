"""Whether a file may begin as a copy of the bytes of the one that it replaces, in which only what changed is replaced.

The one must have been written here by this user, and be untouched since: the user's cache folder has a note of it.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import duckdb

from talkhouse.system.cache import Cache, key_of

MOST_CHANGED = 1 / 3
"""Share of a file's content that may go or come now; beyond, all is written anew."""

_FORMAT = "1"


class TooMuchChanged(Exception):
    """So much is to be replaced in a copy that it is better written anew."""


@dataclass(frozen=True)
class WrittenFiles:
    """Notes on files of one kind that this user has written: what else decides whether they may be copied."""

    notes: Cache

    def note_of(self, path: Path) -> str | None:
        """Return the note on a file; None if it is not known that this user has written it, and nobody since."""
        key = own_identity(path)
        note = self.notes.read(key) if key else None
        return None if note is None else note.decode()

    def keep_note(self, path: Path, note: str) -> None:
        """Keep a note on a file that was written."""
        self.notes.keep(note.encode(), identity(path))


def identity(path: Path) -> str:
    """Hash what tells whether a file has changed: its path; size, time, inode and owner of it and of a log next to it.

    What DuckDB finds in such a log, which a process that was killed has left, it takes for a part of the file.
    """
    log = path.with_name(f"{path.name}.wal")
    facts = [file.stat() for file in (path, log) if file == path or file.exists()]
    numbers = [str(number) for info in facts for number in (info.st_size, info.st_mtime_ns, info.st_ino, info.st_uid)]
    return key_of(_FORMAT, str(path.resolve()), *numbers)


def own_identity(path: Path) -> str | None:
    """Return the identity of a file that no other user may write; None for others, and where there is none.

    In a folder that others may write to, another file can get the inode, size and time of one of this user's, but not
    its owner.
    """
    if not path.exists():
        return None
    facts = path.stat()
    is_own = facts.st_uid == os.geteuid() and not facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return identity(path) if is_own else None


def free_share(con: duckdb.DuckDBPyConnection, database: str) -> float:
    """Return the share of a database's blocks that nothing is in."""
    ((share,),) = con.execute(
        "select coalesce(free_blocks / nullif(total_blocks, 0), 0)::double from pragma_database_size() "
        "where database_name = $1",
        [database],
    ).fetchall()
    return float(share)
