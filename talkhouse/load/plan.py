"""Compares a request with the published warehouse: what is read, kept and removed, and what is known of each corpus."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import duckdb

from talkhouse import migrations
from talkhouse.escaping import visible
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.disk_files import DiskFile, Stat
from talkhouse.ingest.registry import Registry, corpora
from talkhouse.load.request import SAMPLES, BuildRequest, Input
from talkhouse.queries.catalogue import Catalogue, catalogue_of
from talkhouse.queries.files import Files, files_in, own_files
from talkhouse.schema import contents, warehouse
from talkhouse.schema.errors import RegistryError, UsageError
from talkhouse.warehouse import query_files
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.query_files import brought_files
from talkhouse.warehouse.readers import no_reader
from talkhouse.warehouse.relations import common_splits


@dataclass(frozen=True)
class PublishedState:
    """What the published warehouse says about itself."""

    revision: str
    talkhouse_version: str
    """Of its last build."""
    catalogue_hash: str
    brought: Files
    """The SQL and the charts that corpora from elsewhere have brought."""
    origins: dict[str, str | None]
    """Corpus id -> the origin of its reader, or None if unknown."""
    declarations: dict[str, str | None]
    """Corpus id -> the declaration that it was read by, or None if that is Python."""
    finished_at: datetime | None
    readers: dict[str, tuple[int, bool]]
    """Corpus id -> version of its reader, and whether it is a sample."""
    stats: dict[str, frozenset[Stat]]
    hashes: dict[str, frozenset[tuple[str, str]]]
    """Corpus id -> path and SHA-256 of each file on disk."""
    ignored: frozenset[tuple[str, str]]


class FileChanges(NamedTuple):
    """The files of a corpus that differ from those which were read."""

    new: tuple[DiskFile, ...]
    """To be read: those that are new, or have changed."""
    gone: tuple[str, ...]
    """Paths of those that are there no longer as they were."""


@dataclass(frozen=True)
class Plan:
    """What a build has to do; ``keep`` are corpora that are copied as they are."""

    load: tuple[Input, ...]
    keep: tuple[str, ...]
    restamp: tuple[Input, ...]
    """Those of the kept whose files have the same bytes, but other times or inodes."""
    remove: tuple[str, ...]
    is_current: bool
    """Whether the published warehouse has already the rows that the request asks for."""
    changes: Mapping[str, FileChanges] = field(default_factory=dict)
    """Of corpora in ``load`` of which some files alone may have to be read, by their ids."""
    whole: Mapping[str, str] = field(default_factory=dict)
    """The others in ``load``, with the reason why all of their files are read."""

    @property
    def present(self) -> list[str]:
        """The corpora of the new warehouse."""
        return sorted([*(item.corpus.id for item in self.load), *self.keep])


def read_published(path: Path, shown: Path) -> PublishedState | None:
    """Read what the published warehouse says about itself, or None if there is none.

    Raises NotAWarehouse for a file that Talkhouse did not make, SchemaMismatch for one of a newer schema.
    """
    if not path.exists():
        return None
    con = warehouse.connect(path, shown=shown)
    try:
        revision = contents.revision(con, shown)
        warehouse.check_revision(revision, migrations.head(), shown)
        return _read(con, revision)
    finally:
        con.close()


def plan(request: BuildRequest, published: PublishedState | None, *, rehash: bool) -> Plan:
    """Compare a request with what is published."""
    if published is None:
        return Plan(request.inputs, (), (), (), is_current=False)
    _protect_real_data(request, published)
    same = {item.corpus.id: item for item in request.inputs if _is_same(item, published, rehash=rehash)}
    load = tuple(item for item in request.inputs if item.corpus.id not in same)
    requested = {item.corpus.id for item in request.inputs}
    outside = {
        name
        for name in published.readers
        if name in request.refused or (request.scope is not None and name not in request.scope)
    }
    if both := sorted(request.remove & requested):
        raise UsageError(
            f"--remove {both[0]}: its files are in the data folder",
            where=request.source,
            next_step=f"take the folder {both[0]} out of it, or leave --remove out",
        )
    outside -= request.remove
    remove = tuple(sorted(published.readers.keys() - requested - outside))
    restamp = tuple(item for name, item in same.items() if _stats(item.files) != published.stats[name])
    is_current = (
        not load
        and not remove
        and not restamp
        and published.revision == migrations.head()
        and published.ignored == frozenset(request.ignored)
    )
    whole = {item.corpus.id: reason for item in load if (reason := _reads_all(item, published)) is not None}
    in_part = [item for item in load if item.corpus.id not in whole]
    changes = {item.corpus.id: _changes(item, published, rehash=rehash) for item in in_part}
    restamp += tuple(replace(item, files=_touched(item, published)) for item in in_part)
    return Plan(load, tuple(sorted(same.keys() | outside)), restamp, remove, is_current, changes, whole)


def _read(con: duckdb.DuckDBPyConnection, revision: str) -> PublishedState:
    """Read tables and columns of the first schema: the published file may be of any older one, without any others."""
    facts = "talkhouse_version, catalogue_hash, finished_at"
    last = con.execute(f"select {facts} from meta.loads order by load_id desc limit 1").fetchone()
    talkhouse_version, catalogue_hash, finished_at = last or ("", "", None)
    corpora = con.execute("select corpus_id, reader_version, is_sample from main.corpora").fetchall()
    stats: dict[str, set[Stat]] = {name: set() for name, _, _ in corpora}
    hashes: dict[str, set[tuple[str, str]]] = {name: set() for name, _, _ in corpora}
    files = con.execute(
        "select corpus_id, path, size, mtime_ns, inode, sha256 from meta.source_files where member is null"
    )
    for name, path, size, mtime_ns, inode, sha256 in files.fetchall():
        stats[name].add(Stat(path, size, mtime_ns, inode))
        hashes[name].add((path, sha256))
    origins: dict[str, str | None] = dict.fromkeys(stats)
    declarations: dict[str, str | None] = {}
    brought: Files = ()
    if revision == migrations.head():
        brought = query_files.brought(con, Warehouse(con).database)
        origins = dict(con.execute("select corpus_id, origin from main.corpora").fetchall())
        declarations = dict(con.execute("select corpus_id, declaration from main.corpora").fetchall())
    ignored = con.execute("select source_file_id, detail from meta.findings where corpus_id is null and rule = 'TH-05'")
    return PublishedState(
        revision,
        talkhouse_version,
        catalogue_hash,
        brought,
        origins,
        declarations,
        finished_at,
        {name: (version, is_sample) for name, version, is_sample in corpora},
        {name: frozenset(found) for name, found in stats.items()},
        {name: frozenset(found) for name, found in hashes.items()},
        frozenset((path, detail) for path, detail in ignored.fetchall()),
    )


def _is_same(item: Input, published: PublishedState, *, rehash: bool) -> bool:
    """Whether a corpus's reader and files are what they were: by size, time and inode, or by their bytes."""
    name = item.corpus.id
    if not _has_same_reader(item, published):
        return False
    if not rehash:
        return _stats(item.files) == published.stats[name]
    return frozenset((file.stat.path, file.sha256()) for file in item.files) == published.hashes[name]


def _has_same_reader(item: Input, published: PublishedState) -> bool:
    name, corpus = item.corpus.id, item.corpus
    return (
        published.readers.get(name) == (corpus.version, item.is_sample)
        and published.declarations.get(name) == corpus.declaration
    )


def _reads_all(item: Input, published: PublishedState) -> str | None:
    """Return why all files of a corpus are to be read; None if those that did not change may be left."""
    reader = item.corpus.parts
    if item.corpus.id not in published.readers:
        return "it was not in the warehouse"
    if reader is None:
        return "its reader takes all files together"
    if reader.together:
        return "one of its files says something about the others"
    return None if _has_same_reader(item, published) else "its declaration or its reader has changed"


def _changes(item: Input, published: PublishedState, *, rehash: bool) -> FileChanges:
    """Find the files that are to be read where others need not be."""
    stats, hashes = published.stats[item.corpus.id], published.hashes[item.corpus.id]

    def is_known(file: DiskFile) -> bool:
        return (file.stat.path, file.sha256()) in hashes if rehash else file.stat in stats

    new = tuple(file for file in item.files if not is_known(file))
    known = {file.stat.path for file in item.files} - {file.stat.path for file in new}
    return FileChanges(new, tuple(sorted({stat.path for stat in stats} - known)))


class FileState(NamedTuple):
    """A file of a corpus as it was read; one that is new, as it is on disk."""

    path: str
    size: int
    modified_at: datetime
    """UTC."""
    state: str | None
    """unchanged, changed, gone or new; None: not compared with a folder."""


def file_states(published: PublishedState, request: BuildRequest | None) -> dict[str, list[FileState]]:
    """Return the files of each corpus, in the order of their paths, and what the request's folder has of them.

    One whose size, time or inode is another has changed: the next build would read it.
    """
    inputs = request.inputs if request else ()
    there = {item.corpus.id: {file.stat.path: file.stat for file in item.files} for item in inputs}
    states = {}
    for name in sorted(published.stats.keys() | there.keys()):
        now, read = there.get(name, {}), {stat.path: stat for stat in published.stats.get(name, ())}
        states[name] = [
            FileState(path, stat.size, stat.modified_at, _state(read.get(path), now.get(path)) if request else None)
            for path, stat in sorted((now | read).items())
        ]
    return states


def _state(read: Stat | None, now: Stat | None) -> str:
    if read is None:
        return "new"
    return "gone" if now is None else "unchanged" if now == read else "changed"


def _touched(item: Input, published: PublishedState) -> list[DiskFile]:
    """Return the files whose size, time or inode is not that of a file that was read."""
    return [file for file in item.files if file.stat not in published.stats[item.corpus.id]]


def _stats(files: list[DiskFile]) -> frozenset[Stat]:
    return frozenset(file.stat for file in files)


def _protect_real_data(request: BuildRequest, published: PublishedState) -> None:
    """Never replace somebody's corpora by samples because an option was forgotten."""
    real = sorted(name for name, (_, is_sample) in published.readers.items() if not is_sample)
    if request.source == SAMPLES and real:
        raise UsageError(
            "the warehouse has real data, which the samples would replace",
            found=json.dumps(real),
            next_step="name the data with --data DIR, or another file for the samples with --db FILE",
        )


@dataclass(frozen=True)
class Present:
    """What is known of the corpora that the new warehouse holds."""

    corpora: Mapping[str, Corpus]
    """Those that are declared here."""
    origins: Mapping[str, str]
    """Where each of these comes from."""
    gone: tuple[str, ...]
    """The kept corpora that can't be read here: only the previous warehouse describes them."""
    files: Files
    """The SQL and the charts of all of them."""
    splits: Mapping[str, Iterable[str]]
    """The splits that each declares, of Talkhouse's own corpora also where they are not in it."""

    @property
    def catalogue(self) -> Catalogue:
        """The SQL of the new warehouse."""
        return catalogue_of(self.files)


def present(
    known: Registry, query_roots: Iterable[Path], plan: Plan, published: PublishedState | None, old: Path
) -> Present:
    """Find what is known of each corpus; ``old`` is the previous warehouse, where there is one."""
    declared: dict[str, Corpus] = {item.corpus.id: known[item.corpus.id] for item in plan.load}
    for name in plan.keep:
        try:
            declared[name] = known[name]
        except (KeyError, RegistryError):
            continue  # its rows are kept, and with them what the previous warehouse knows of it
    gone = tuple(name for name in plan.keep if name not in declared)
    own = corpora()
    elsewhere = sorted(declared.keys() - own.keys())
    brought = [file for name in elsewhere for file in brought_files(declared[name], known.origin(name))]
    retained = [file for file in (published.brought if published else ()) if file.folder in gone]
    splits = {name: corpus.splits for name, corpus in {**own, **declared}.items()}
    return Present(
        declared,
        {name: str(known.origin(name)) for name in declared},
        gone,
        (*own_files(), *files_in(query_roots), *brought, *retained),
        {**splits, **_splits_of(old, gone)},
    )


def _splits_of(old: Path, gone: Iterable[str]) -> Mapping[str, Iterable[str]]:
    if not gone:
        return {}
    with warehouse.connect(old) as con:
        found = common_splits(Warehouse(con).split_views.values())
    return {name: found.get(name, frozenset()) for name in gone}


def check_no_code(data: Path, corpus_roots: Iterable[Path]) -> None:
    """Raise UsageError where corpora would be imported from the data folder, where only data lies."""
    for root in corpus_roots:
        if root.resolve().is_relative_to(data.resolve()):
            raise UsageError(
                "this folder of corpora lies in the data folder, from which nothing is ever imported",
                where=root,
                found=f"--data {data}",
                next_step="keep the code of corpora in a folder of its own: --corpora DIR",
            )


def check_nothing_is_lost(request: BuildRequest, plan: Plan, published: PublishedState | None) -> None:
    """Raise an error for a corpus that would go unasked.

    RegistryError where it can't be read here, though its files are there; UsageError where they are not: a folder that
    is not mounted, or a file that was ingested long ago, must not cost its rows. A sample can be had again.
    """
    unread = {name for name, _ in (*request.ignored, *request.left_out)}
    for name in plan.remove:
        if published and name in unread:
            step = f"or, to remove the corpus, take its folder out of the data, and add: --remove {name}"
            raise no_reader(name, published.origins.get(name), step)
    unnamed = (name for name in plan.remove if published and not published.readers[name][1])
    gone = [visible(name) for name in unnamed if name not in request.remove]
    if gone:
        removed = " ".join(f"--remove {name}" for name in gone)
        others = " ".join(f"--corpus {item.corpus.id}" for item in request.inputs)
        raise UsageError(
            f"the build would remove {' and '.join(gone)}, whose files are not in the data folder; nothing was changed",
            where=request.source,
            expected=f"a folder {' and a folder '.join(gone)}",
            next_step=f"to keep what the warehouse has of it, build the others: {others}; to remove it: {removed}; "
            "to bring a warehouse up to date without any files: talkhouse migrate",
        )
