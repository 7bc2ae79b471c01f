"""Builds a warehouse: compares the request with what is published, stages a new file, and publishes it."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.ingest.files.limits import DEFAULT, Limits
from talkhouse.ingest.progress import Progress
from talkhouse.ingest.registry import Registry, all_corpora
from talkhouse.ingest.registry.origins import CorpusOrigin
from talkhouse.load.plan import (
    Plan,
    Present,
    PublishedState,
    check_no_code,
    check_nothing_is_lost,
    plan,
    present,
    read_published,
)
from talkhouse.load.request import BuildRequest, QuarantineLimit, from_data, from_paths, from_samples
from talkhouse.load.workspace import PUBLISHED, Workspace, acquire_workspace, migrate_old, publish
from talkhouse.queries.catalogue import catalogue_of
from talkhouse.queries.files import files_in, own_files
from talkhouse.schema import warehouse
from talkhouse.schema.errors import BuildFailed, TalkhouseError, is_full_disk, joined
from talkhouse.settings import note_on_newer
from talkhouse.system.memory import MemoryLimit, has_run_out, out_of_memory
from talkhouse.warehouse import query_files
from talkhouse.warehouse.build_facts import Inventory
from talkhouse.warehouse.readers import changed_declarations

DEFAULT_LIMIT = QuarantineLimit()
DEFAULT_MEMORY = MemoryLimit()


@dataclass
class BuildResult:
    """What a build did."""

    path: Path
    plan: Plan
    notes: list[str]
    unchanged_since: datetime | None = None
    """When the warehouse was built, UTC, if it was up to date already; None if it was built now."""
    seconds: float = 0.0
    status: dict[str, Any] = field(default_factory=dict)
    """What was built, as ``inventory.status`` says; empty where nothing had to be."""
    read: Mapping[str, str] = field(default_factory=dict)
    """Corpus id -> how many of its files were read, or why all were; of corpora that were there before."""
    inventory: Inventory | None = None
    """The files and findings that the warehouse would have, of a dry run."""


def build(
    path: Path,
    progress: Progress,
    *,
    data: Path | None = None,
    only: tuple[str, ...] = (),
    rehash: bool = False,
    wait: bool = True,
    limit: QuarantineLimit = DEFAULT_LIMIT,
    memory_limit: MemoryLimit = DEFAULT_MEMORY,
    jobs: int | None = 1,
    input_limits: Limits = DEFAULT,
    follow_links: bool = False,
    dry_run: bool = False,
    compact: bool = False,
    corpus_roots: tuple[Path, ...] = (),
    query_roots: tuple[Path, ...] = (),
    remove: tuple[str, ...] = (),
) -> BuildResult:
    """Make the warehouse equal to a data folder, or to the bundled samples without one.

    ``limit``: how much of a corpus may be quarantined. ``memory_limit``: how much memory DuckDB may take.
    ``jobs``: processes that read; None: as many as the machine has room for. ``input_limits``: how much of a file is
    read. ``follow_links``: also those that lead out of the data folder. ``dry_run``: build everything and publish
    nothing. ``compact``: copy what is kept row by row, also where nothing changed.
    Raises the error of a corpus that can't be loaded, or one for several, after the others are published: ``built`` of
    the error is their result. What the warehouse had of that corpus stays.
    ``corpus_roots`` and ``query_roots`` are searched for corpora and views besides Talkhouse's own. ``remove``: corpora
    that go; UsageError where another would, whose files are not in the data folder.
    """
    known = all_corpora(corpus_roots, data)
    if data:
        check_no_code(data, corpus_roots)
    request = (
        from_data(known, data, only, input_limits, follow_links=follow_links) if data else from_samples(known, only)
    )
    request = replace(request, remove=frozenset(remove))
    job = _Job(path, progress, known, query_roots, request, limit, memory_limit, jobs, dry_run, compact)
    return job.run(rehash=rehash, wait=wait)


def ingest(
    path: Path,
    progress: Progress,
    corpus_id: str,
    paths: list[Path],
    *,
    wait: bool = True,
    limit: QuarantineLimit = DEFAULT_LIMIT,
    memory_limit: MemoryLimit = DEFAULT_MEMORY,
    jobs: int | None = 1,
    input_limits: Limits = DEFAULT,
    follow_links: bool = False,
    corpus_roots: tuple[Path, ...] = (),
    declaration: CorpusOrigin | None = None,
) -> BuildResult:
    """Replace one corpus by what these files, folders or archives hold; the others stay.

    ``declaration``: what declares the corpus, where nothing else does.
    """
    known = all_corpora(corpus_roots)
    if declaration is not None:
        known = known.with_another(declaration)
    request = from_paths(known, corpus_id, paths, input_limits, follow_links=follow_links)
    job = _Job(path, progress, known, (), request, limit, memory_limit, jobs)
    return job.run(rehash=False, wait=wait)


@dataclass(frozen=True)
class _Job:
    """One request for one warehouse."""

    path: Path
    progress: Progress
    known: Registry
    query_roots: tuple[Path, ...]
    request: BuildRequest
    limit: QuarantineLimit
    memory_limit: MemoryLimit
    jobs: int | None
    is_dry_run: bool = False
    compact: bool = False

    def run(self, *, rehash: bool, wait: bool) -> BuildResult:
        """Fulfil the request under the build lock; the published file changes at the very end or not at all."""
        begun = time.monotonic()
        files = (*own_files(), *files_in(self.query_roots))
        warehouse.check_name(self.path, {*self.known, *catalogue_of(files).schemas})
        with (
            explain_failures(self.path, self.memory_limit),
            acquire_workspace(self.path, wait=wait, on_wait=self.progress.note) as workspace,
        ):
            published = read_published(workspace.old, shown=self.path)
            request = self.request
            if published and request.scope is not None:
                # A request for some corpora says nothing about other folders: what was found of them stays.
                request = replace(request, ignored=tuple(sorted(published.ignored)))
            refusals: list[TalkhouseError] = []
            while True:
                try:
                    result = self._fulfil(request, published, workspace, rehash=rehash)
                    break
                except TalkhouseError as error:
                    if error.corpus_id is None:
                        raise
                    refusals.append(error)
                    request = request.without(error.corpus_id)
                    if not request.inputs:
                        raise joined(refusals) from error
                    workspace.start_again()
        result.seconds = time.monotonic() - begun
        if refusals:
            refused = joined(refusals)
            refused.built = result
            raise refused
        return result

    def _fulfil(
        self, request: BuildRequest, published: PublishedState | None, workspace: Workspace, *, rehash: bool
    ) -> BuildResult:
        """Make the warehouse what is requested, or raise an error that names the corpus whose fault it is."""
        build_plan = plan(request, published, rehash=rehash)
        is_own = PUBLISHED.note_of(workspace.published) is not None
        if not is_own:
            # What somebody else may have changed is read again.
            whole = {**build_plan.whole, **dict.fromkeys(build_plan.changes, _NOT_OURS)}
            build_plan = replace(build_plan, changes={}, whole=whole)
        check_nothing_is_lost(request, build_plan, published)
        result = BuildResult(self.path, build_plan, self.request.notes)
        known = present(self.known, self.query_roots, build_plan, published, workspace.old)
        is_current = build_plan.is_current and not workspace.wal.exists() and not self.compact
        if is_current and published and _has_views(published, known) and _is_declared(workspace.old, known):
            result.unchanged_since = published.finished_at
            return result
        # Polars and SQLAlchemy are not needed where nothing changed.
        from talkhouse.load.base_copy import template_key
        from talkhouse.load.staging import Stage
        from talkhouse.warehouse.file_hashes import identity_of, take_over

        before = identity_of(self.path)
        migrate_old(workspace)
        stage = Stage(
            workspace, self.progress, known, request, build_plan, self.memory_limit, self.jobs, compact=self.compact
        )
        built = stage.build(self.limit)
        result.notes += built.warnings
        if published and published.catalogue_hash != known.catalogue.hash:
            result.notes += filter(None, [note_on_newer(published.talkhouse_version)])
        result.status, result.read = {**built.status, "database": str(self.path)}, built.read
        if self.is_dry_run:
            result.inventory = stage.inventory()
        else:
            is_all_own = is_own or not build_plan.keep
            publish(workspace, template_key(known.catalogue, known.splits) if is_all_own else None)
            take_over(before, self.path, built.replaced)
        return result


_NOT_OURS = "no build of yours is known to have published the warehouse here as it is (a build from nothing would)"


def _has_views(published: PublishedState, known: Present) -> bool:
    """Whether the published warehouse has the SQL that the new one would have."""
    has_files = query_files.to_keep(published.brought) == query_files.to_keep(known.files)
    return has_files and published.catalogue_hash == known.catalogue.hash


def _is_declared(old: Path, known: Present) -> bool:
    """Whether the published warehouse has what its corpora declare of themselves today."""
    with warehouse.connect(old) as con:
        return not any(changed_declarations(con, known.corpora))


# What DuckDB raises when it can't write or has no room, depending on the moment.
_FAILURES = (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.TransactionException, duckdb.FatalException)

_FULL = "there is no room on the disk for what the command makes on the way to a new warehouse"
_MAKE_ROOM = "make room on the disk of this folder if it is full, and build again"
_NEXT_STEPS = {
    "Too many open files": "allow more open files, for instance with: ulimit -n 1024",
    "Permission denied": "allow writing to the folder of the warehouse, or name another file with --db FILE",
}


@contextmanager
def explain_failures(path: Path, memory_limit: MemoryLimit) -> Iterator[None]:
    """Turn what went wrong outside of the input into one message: too little memory, or most often a full disk."""
    try:
        with warehouse.explain_damage(path):
            yield
    except (*_FAILURES, OSError) as error:
        message = str(error).strip()
        is_full = is_full_disk(error)
        if has_run_out(error) and not is_full:
            raise out_of_memory(
                BuildFailed,
                "the build",
                error,
                note="; the published warehouse is unchanged",
                where=path,
                expected=f"a build within --memory-limit {memory_limit.text}",
                next_step="raise the limit, for instance: --memory-limit 4GB",
            ) from error
        raise BuildFailed(
            f"{_FULL if is_full else 'the build stopped'}; the published warehouse is unchanged",
            where=path,
            found=message,
            next_step=next((step for words, step in _NEXT_STEPS.items() if words in message), _MAKE_ROOM),
        ) from error
