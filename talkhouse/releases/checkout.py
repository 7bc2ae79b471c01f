"""Checks a release out: a warehouse with its rows and its views, which every command and DuckDB read."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import duckdb

from talkhouse import migrations, queries, schema
from talkhouse.citation.work import Citation, of_release, software
from talkhouse.export.manifest import Cited, of_name
from talkhouse.load.renew import renew
from talkhouse.load.workspace import acquire_workspace, publish
from talkhouse.queries.files import own_files
from talkhouse.releases import manifest
from talkhouse.releases.objects import rows_of
from talkhouse.releases.store import RELEASES, Stored, check_bytes, read, store_of
from talkhouse.schema import contents, warehouse
from talkhouse.schema.errors import CatalogueError, OutputFailed, ReleaseDamaged, TalkhouseError, UsageError
from talkhouse.schema.guard import configure
from talkhouse.schema.sql import insert
from talkhouse.schema.sql_files import sql_of
from talkhouse.system.atomic_output import OutputMessages, check_replaceable, database_errors
from talkhouse.system.cache import Cache, cache_folder, code_of, key_of
from talkhouse.warehouse.content_ids import source_of
from talkhouse.warehouse.opened import opened

_TABLES_WITH_ROWS = ("meta.alembic_version", "meta.loads")
"""They are written from the manifest."""

_FULL = OutputMessages(
    "there is no room for the warehouse; what was there before is unchanged",
    "make room, or name a file on another disk",
    "the warehouse can't be written",
)

_CACHE = Cache("release", ".duckdb", most=4)


def checkout(
    stored: Stored, output: Path, *, as_released: bool = False, force: bool = False, memory: str | None = None
) -> None:
    """Write a release as a warehouse, as a build is published; ReleaseDamaged where a byte of it is another.

    Its rows are those that were released. It has the schema and the views of this Talkhouse, so that every command
    reads it, unless it is to be ``as_released``. Without ``force``, UsageError where there is a file already.
    ``memory``: as DuckDB reads it, such as 5% or 1GB.
    """
    check_bytes(stored)
    check_replaceable([output], {}, force=force)
    with acquire_workspace(output, wait=True, on_wait=lambda _: None) as workspace, _explained(stored, output):
        _fill(stored, workspace.stage, memory)
        if not as_released:
            with suppress(CatalogueError):  # SQL that a corpus has brought may fit none of today's views: all stay then
                renew(workspace.stage)
        publish(workspace, None)


def _fill(stored: Stored, path: Path, memory: str | None) -> None:
    """Make a warehouse of a release at a new path."""
    release = stored.release
    with stored.objects.reading(release.frame.file) as frame, path.open("wb") as copy:
        shutil.copyfileobj(frame, copy)
    # The frame may be a stranger's: whatever it holds reaches nothing else.
    with warehouse.create(path, guarded=True) as con:
        if what := contents.strange(con):
            raise ReleaseDamaged("the frame of the release was not made by Talkhouse", where=path, found=what)
        configure(con, {"enable_progress_bar": False, **({"memory_limit": memory} if memory else {})})
        con.execute("begin")
        for name in _TABLES_WITH_ROWS:
            con.execute(f"delete from {name}")
        if con.execute(sql_of(__file__, "filled_table")).fetchall():
            raise ReleaseDamaged("the frame of the release has rows", where=path, expected="a warehouse without rows")
        insert(con, "meta.alembic_version", [[release.schema_revision]])
        for table in release.tables:
            for file in table.files:
                with rows_of(stored, file) as rows:
                    con.register("rows_of_object", rows)
                    con.execute(f"insert into {table.table} by name from rows_of_object")
                    con.unregister("rows_of_object")
        created = datetime.fromisoformat(release.created_at.removesuffix("Z"))
        readers = {corpus.corpus_id: corpus.reader_version for corpus in release.corpora}
        load = {
            "load_id": 1,
            "started_at": created,
            "finished_at": created,
            "talkhouse_version": release.talkhouse_version,
            "schema_revision": release.schema_revision,
            "catalogue_hash": release.catalogue_hash,
            "source": source_of(release.name, release.content_id),
            "reader_versions": json.dumps(readers),
            "outcome": json.dumps(dict.fromkeys(readers, "loaded")),
        }
        con.execute(
            f"insert into meta.loads ({', '.join(load)}) values ({', '.join('?' * len(load))})", [*load.values()]
        )
        con.execute("commit")
        con.execute("checkpoint")


@contextmanager
def _explained(stored: Stored, output: Path) -> Iterator[None]:
    try:
        with database_errors(output, _FULL):
            yield
    except duckdb.Error as error:
        raise ReleaseDamaged(
            f"the release '{stored.release.name}' is not of one piece: its rows do not fit its frame",
            where=stored.store,
            expected="the tables that Talkhouse made",
            found=str(error).strip().splitlines()[0],
            next_step="take the store from a copy, or make another release",
        ) from error


def find(name: str, store: Path | None = None) -> Stored:
    """Read a release by its name, or by its folder; raises what ``read`` raises."""
    folder = Path(name)
    if "/" in name or (folder.is_dir() and (folder / manifest.MANIFEST).exists()):
        folder = folder.absolute()
        if folder.parent.name != RELEASES:
            raise UsageError(
                "this is not the folder of a release",
                where=name,
                expected=f"a folder STORE/{RELEASES}/NAME with a {manifest.MANIFEST}",
                next_step="name the release, and its store with --store DIR",
            )
        return read(folder.parent.parent, folder.name)
    return read(store or store_of(), name)


def resolve(name: str, store: Path | None = None, *, as_released: bool = False, memory: str | None = None) -> Path:
    """Return a warehouse file of a release, by its name or folder, checked out once into the user's cache folder.

    Its bytes are verified each time, so that a damaged release is never opened. The rest is as in ``checkout``.
    """
    stored = find(name, store)
    check_bytes(stored)
    if stored.release.schema_revision > migrations.head():
        warehouse.check_revision(stored.release.schema_revision, migrations.head(), Path(name))
    # Another Talkhouse may have other views, and so another file.
    views = "" if as_released else f"-{key_of(code_of(schema, migrations, queries), repr(own_files()))[:16]}"
    key = f"{stored.release.content_id}-{stored.sha256[:16]}{views}"
    path = _CACHE.path_of(key)
    if path is None:
        raise OutputFailed(
            "the release can't be checked out: nobody but you may write to the cache folder",
            where=cache_folder(),
            next_step="name a file for it with: talkhouse release checkout NAME --output FILE",
        )
    if path.exists():
        _CACHE.mark_used(path)  # or the next one, with which it is compared, could take its place
    else:
        checkout(stored, path, as_released=as_released, force=True, memory=memory)  # another process may have it by now
        _CACHE.forget_oldest(path)
    return path


def release_of(store: Path, name: str, content_id: str) -> Path | None:
    """Return the warehouse file of a release with these contents, or None if the store has none."""
    with suppress(TalkhouseError):
        if find(name, store).release.content_id == content_id:
            return resolve(name, store, as_released=True)
    return None


def cited_in(name: str, what: str | None, store: Path) -> Cited:
    """Return the works to cite for a release: its corpora, or those of a corpus, view or table in it, and itself."""
    stored = find(name, store)
    with opened(resolve(name, store)) as of:
        cited = Cited([Citation.from_corpus(corpus) for corpus in of.corpora], software(of.build))
        if what is not None:
            cited = of_name(of, what)
    release = stored.release
    corpora = [replace(corpus, version=f"Talkhouse release {release.name}") for corpus in cited.corpora]
    itself = of_release(release.name, release.content_id, stored.sha256, release.talkhouse_version)
    return Cited([*corpora, itself], cited.talkhouse)
