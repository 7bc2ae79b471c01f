"""The template that every build begins with: a warehouse with all tables, macros, views and comments, and no rows.

To make one takes a third of a small build, and every build of one Talkhouse needs the same. So it is kept in the user's
cache folder and copied; where that folder can't be written, or the copy can't be read, it is made again.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import duckdb
from platformdirs import user_cache_path

import migrations
import queries
import schema
from queries.catalogue import Catalogue
from queries.views import create_split_views, create_views
from schema import contents, warehouse
from schema.errors import NotAWarehouse
from talkhouse.atomic_output import sync

_KEPT = 8
"""Templates that are kept; each change of a view makes another."""

Splits = Mapping[str, Iterable[str]]
"""The splits that each corpus declares."""


def open_template(path: Path, catalogue: Catalogue, splits: Splits) -> duckdb.DuckDBPyConnection:
    """Copy the template to a new path, or make it there, and open it for writing."""
    kept = user_cache_path("talkhouse") / f"template-{_key(catalogue, splits)}.duckdb"
    with suppress(OSError):
        shutil.copyfile(kept, path)
    if (con := _open_copy(path)) is not None:
        return con
    path.unlink(missing_ok=True)
    _make(path, catalogue, splits)
    with suppress(OSError):
        _keep(path, kept)
    return warehouse.create(path)


def _key(catalogue: Catalogue, splits: Splits) -> str:
    """Hash all that decides what is in a template: DuckDB's version, the SQL, and the code that makes it."""
    declared = sorted((corpus, *names) for corpus, names in splits.items())
    state = sha256(f"{duckdb.__version__} {catalogue.hash} {declared}".encode())
    state.update(_code())
    return state.hexdigest()[:32]


@cache
def _code() -> bytes:
    """Hash the code that makes a template, once in a process."""
    folders = [Path(package.__path__[0]) for package in (schema, migrations, queries)]
    sources = [source for folder in folders for source in sorted(folder.rglob("*.py"))]
    return sha256(b"".join(source.read_bytes() for source in sources)).digest()


def _open_copy(path: Path) -> duckdb.DuckDBPyConnection | None:
    """Open a copy; None where it is incomplete (its blocks have checksums, but an empty file opens as a new one)."""
    if not path.exists():
        return None
    try:
        con = warehouse.create(path)
    except duckdb.Error:
        return None
    with suppress(NotAWarehouse, duckdb.Error):
        if contents.revision(con, path) == migrations.head():
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
    """Copy a new template to the cache folder, written beside and renamed, and remove the oldest there."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    copy = kept.with_name(f"{kept.name}.{os.getpid()}")
    try:
        shutil.copyfile(path, copy)
        sync(copy)
        copy.replace(kept)
    finally:
        copy.unlink(missing_ok=True)
    # The new one stays even if the clock was set back, which makes it the oldest.
    others = sorted(set(kept.parent.glob("template-*")) - {kept}, key=lambda one: one.stat().st_mtime)
    for oldest in others[: 1 - _KEPT]:
        oldest.unlink(missing_ok=True)
