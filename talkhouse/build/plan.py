"""Compares a request with the published warehouse: what is read, kept and removed, and what is known of each corpus."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from talkhouse import migrations
from talkhouse.build.request import SAMPLES, BuildRequest, Input
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.disk_files import DiskFile, Stat
from talkhouse.ingest.registry import Registry, corpora
from talkhouse.queries.catalogue import Catalogue, catalogue_of
from talkhouse.queries.files import Files, files_in, own_files
from talkhouse.schema import contents, warehouse
from talkhouse.schema.errors import RegistryError, UsageError
from talkhouse.warehouse import query_files
from talkhouse.warehouse.query_files import brought_files
from talkhouse.warehouse.readers import no_reader
from talkhouse.warehouse.relations import common_splits, split_views


@dataclass(frozen=True)
class PublishedState:
    """What the published warehouse says about itself."""

    revision: str
    catalogue_hash: str
    brought: Files
    """The SQL and the charts that corpora from elsewhere have brought."""
    origins: dict[str, str | None]
    """Corpus id -> where its reader came from; None where that is not known."""
    declarations: dict[str, str | None]
    """Corpus id -> the declaration that it was read by; None where that is Python."""
    finished_at: datetime | None
    readers: dict[str, tuple[int, bool]]
    """Corpus id -> version of its reader, and whether it is a sample."""
    stats: dict[str, frozenset[Stat]]
    hashes: dict[str, frozenset[tuple[str, str]]]
    """Corpus id -> path and SHA-256 of each file on disk."""
    ignored: frozenset[tuple[str, str]]


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

    @property
    def present(self) -> list[str]:
        """The corpora of the new warehouse."""
        return sorted([*(item.corpus.id for item in self.load), *self.keep])


def read_published(path: Path, shown: Path) -> PublishedState | None:
    """Read what the published warehouse says about itself; None where there is none.

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
    remove = tuple(sorted(published.readers.keys() - requested - outside))
    restamp = tuple(item for name, item in same.items() if _stats(item.files) != published.stats[name])
    is_current = (
        not load
        and not remove
        and not restamp
        and published.revision == migrations.head()
        and published.ignored == frozenset(request.ignored)
    )
    return Plan(load, tuple(sorted(same.keys() | outside)), restamp, remove, is_current)


def _read(con: duckdb.DuckDBPyConnection, revision: str) -> PublishedState:
    """Read tables and columns of the first schema: the published file may be of any older one, without any others."""
    last = con.execute("select catalogue_hash, finished_at from meta.loads order by load_id desc limit 1").fetchone()
    catalogue_hash, finished_at = last or ("", None)
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
        ((database,),) = con.execute("select current_database()").fetchall()
        brought = query_files.brought(con, database)
        origins = dict(con.execute("select corpus_id, origin from main.corpora").fetchall())
        declarations = dict(con.execute("select corpus_id, declaration from main.corpora").fetchall())
    ignored = con.execute("select source_file_id, detail from meta.findings where corpus_id is null and rule = 'TH-05'")
    return PublishedState(
        revision,
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
    if published.readers.get(name) != (item.corpus.version, item.is_sample):
        return False
    if published.declarations.get(name) != item.corpus.declaration:
        return False
    if not rehash:
        return _stats(item.files) == published.stats[name]
    return frozenset((file.stat.path, file.sha256()) for file in item.files) == published.hashes[name]


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
    """Those that are kept, and that nobody here can read: the previous warehouse has what is known of them."""
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
    kept = [file for file in (published.brought if published else ()) if file.folder in gone]
    splits = {name: corpus.splits for name, corpus in {**own, **declared}.items()}
    return Present(
        declared,
        {name: str(known.origin(name)) for name in declared},
        gone,
        (*own_files(), *files_in(query_roots), *brought, *kept),
        {**splits, **_splits_of(old, gone)},
    )


def _splits_of(old: Path, gone: Iterable[str]) -> Mapping[str, Iterable[str]]:
    if not gone:
        return {}
    with warehouse.connect(old) as con:
        ((database,),) = con.execute("select current_database()").fetchall()
        found = common_splits(split_views(con, database).values())
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


def check_readers(request: BuildRequest, plan: Plan, published: PublishedState | None) -> None:
    """Raise RegistryError for a corpus that would go only because it can't be read here, though its files are there."""
    unread = {name for name, _ in (*request.ignored, *request.left_out)}
    for name in plan.remove:
        if published and name in unread:
            step = "or, to remove the corpus, take its folder out of the data"
            raise no_reader(name, published.origins.get(name), step)
