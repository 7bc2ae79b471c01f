"""The warehouse that a user names: a file, or ``release:NAME``, checked out to be read and never written."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from talkhouse.schema.errors import UsageError
from talkhouse.settings import RELEASE_PREFIX, database

if TYPE_CHECKING:
    import duckdb

    from talkhouse.schema.guard import Settings


def connect(path: str | Path | None, *, settings: "Settings", unsafe: bool = False) -> "duckdb.DuckDBPyConnection":
    """Open what a user names, read-only, in an instance of DuckDB of its own; raises what ``open_warehouse`` does."""
    from talkhouse import migrations
    from talkhouse.schema.warehouse import open_warehouse

    return open_warehouse(database(to_read(path)), migrations.head(), settings=settings, unsafe=unsafe)


def to_read(named: str | Path | None) -> Path | None:
    """Return the file of a warehouse that is to be read, None where nobody named one.

    Of a release, named here or by ``$TALKHOUSE_DB``, it is the file that it is checked out to.
    """
    if not is_release(named):
        return None if named is None else Path(named)
    from talkhouse.releases.checkout import resolve

    return resolve(_name(named).removeprefix(RELEASE_PREFIX))


def to_write(named: str | Path | None) -> Path | None:
    """Return the file of a warehouse that is to be written, None where nobody named one; UsageError for a release."""
    if is_release(named):
        raise UsageError(
            "a release never changes",
            expected="a warehouse file: --db FILE",
            next_step="make one of the release with: talkhouse release checkout NAME --output FILE",
        )
    return None if named is None else Path(named)


def is_release(named: str | Path | None) -> bool:
    """Whether a release is named, here or by ``$TALKHOUSE_DB``."""
    return _name(named).startswith(RELEASE_PREFIX)


def _name(named: str | Path | None) -> str:
    return str(named or os.environ.get("TALKHOUSE_DB") or "")
