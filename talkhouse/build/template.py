"""The empty warehouse that a build fills: tables, macros and views with their comments.

To make one takes a third of a small build, and every build of one Talkhouse has the same. So it is kept in the user's
folder for caches and copied; where that folder can't be written, or what is there can't be read, it is made again.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import duckdb
from platformdirs import user_cache_path

import migrations
import queries
import schema
from queries.catalogue import Catalogue
from queries.views import create_split_views, create_views
from schema import warehouse
from schema.errors import NotAWarehouse
from talkhouse.atomic_output import sync

_KEPT = 8
"""Empty warehouses that are kept; each change of a view makes another."""

Splits = Mapping[str, Iterable[str]]
"""The splits that each corpus declares."""


def put(path: Path, catalogue: Catalogue, splits: Splits) -> duckdb.DuckDBPyConnection:
    """Put an empty warehouse at a path where there is none, and open it for writing."""
    kept = user_cache_path("talkhouse") / f"empty-{_key(catalogue, splits)}.duckdb"
    with suppress(OSError):
        shutil.copyfile(kept, path)
    if (con := _opened(path)) is not None:
        return con
    path.unlink(missing_ok=True)
    _make(path, catalogue, splits)
    with suppress(OSError):
        _keep(path, kept)
    return warehouse.create(path)


def _key(catalogue: Catalogue, splits: Splits) -> str:
    """Give a hash of all that decides what is in it: DuckDB, the SQL, and the code that makes it."""
    declared = sorted((corpus, *names) for corpus, names in splits.items())
    state = sha256(f"{duckdb.__version__} {catalogue.hash} {declared}".encode())
    for package in (schema, migrations, queries):
        for source in sorted(Path(package.__path__[0]).rglob("*.py")):
            state.update(source.read_bytes())
    return state.hexdigest()[:32]


def _opened(path: Path) -> duckdb.DuckDBPyConnection | None:
    """Open a copy if it is whole: its blocks have checksums, but a file that was never written is an empty one."""
    if not path.exists():
        return None
    try:
        con = warehouse.create(path)
    except duckdb.Error:
        return None
    with suppress(NotAWarehouse, duckdb.Error):
        if warehouse.revision(con, path) == migrations.head():
            return con
    con.close()
    return None


def _make(path: Path, catalogue: Catalogue, splits: Splits) -> None:
    with warehouse.create(path) as con:
        # Hundreds of small statements: no other thread has to wake for them.
        con.execute("set threads = 1")
        migrations.make(con)
        con.execute("begin")
        create_views(con, catalogue)
        create_split_views(con, catalogue, splits)
        con.execute("commit")
        con.execute("checkpoint")


def _keep(path: Path, kept: Path) -> None:
    """Keep a copy, whole or not at all, and forget the oldest."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    copy = kept.with_name(f"{kept.name}.{os.getpid()}")
    shutil.copyfile(path, copy)
    sync(copy)
    copy.replace(kept)
    found = sorted(kept.parent.glob("empty-*"), key=lambda one: one.stat().st_mtime)
    for old in found[:-_KEPT]:
        old.unlink(missing_ok=True)
