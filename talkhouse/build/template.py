"""The template that every build begins with: a warehouse with all tables, macros, views and comments, and no rows.

To make one takes a third of a small build, and every build of one Talkhouse needs the same. So it is kept in the user's
cache folder and copied; where that folder can't be written, others can write there, or the copy can't be read, it is
made again.
"""

import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import duckdb
from platformdirs import user_cache_path

from talkhouse import migrations, queries, schema
from talkhouse.queries.catalogue import Catalogue
from talkhouse.queries.views import create_split_views, create_views
from talkhouse.schema import contents, warehouse
from talkhouse.schema.errors import NotAWarehouse
from talkhouse.system.atomic_output import sync

_KEPT = 8
"""Templates that are kept; each change of a view makes another."""

Splits = Mapping[str, Iterable[str]]
"""The splits that each corpus declares."""


def open_template(path: Path, catalogue: Catalogue, splits: Splits) -> duckdb.DuckDBPyConnection:
    """Copy the template to a new path, or make it there, and open it for writing."""
    kept = user_cache_path("talkhouse") / f"template-{_key(catalogue, splits)}.duckdb"
    is_private = _make_private(kept.parent)
    with suppress(OSError):
        if is_private:
            shutil.copyfile(kept, path)
    if (con := _open_copy(path)) is not None:
        return con
    path.unlink(missing_ok=True)
    _make(path, catalogue, splits)
    with suppress(OSError):
        if is_private:
            _keep(path, kept)
    return warehouse.create(path)


def _make_private(folder: Path) -> bool:
    """Make the cache folder; tell whether nobody else can have put a template there.

    It may be another user's, as under sudo. One in which a group may write is emptied and closed.
    """
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = folder.lstat()
        if stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid():
            if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                folder.chmod(0o700)
                for template in folder.glob("template-*"):
                    template.unlink()
            return True
    return False


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
