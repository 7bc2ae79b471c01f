"""Builds a warehouse: the only place that knows the order stage, read, load, examples, views, publish."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

import migrations
from ingest.corpus import Corpus
from ingest.registry import DEFAULT_ROOT as CORPORA
from ingest.registry import corpora
from queries.catalogue import DEFAULT_ROOT as QUERIES
from queries.catalogue import Catalogue, catalogue
from queries.views import create_views, fill_examples
from schema import warehouse
from schema.errors import BuildFailed
from talkhouse.bookkeeping import carry, note_findings, note_load, note_rules
from talkhouse.inputs import Input, Request, from_data, from_paths, from_samples
from talkhouse.plan import Plan, look, plan
from talkhouse.progress import Progress
from talkhouse.publish import Workshop, publish, workshop


@dataclass
class Result:
    """What a build did."""

    path: Path
    plan: Plan
    notes: list[str]
    unchanged_since: datetime | None = None
    """When the warehouse was built, UTC, if it already was what was asked for; None where it was built now."""
    seconds: float = 0.0


def build(
    path: Path,
    progress: Progress,
    *,
    data: Path | None = None,
    only: tuple[str, ...] = (),
    rehash: bool = False,
    wait: bool = True,
    corpus_roots: tuple[Path, ...] = (),
    query_roots: tuple[Path, ...] = (),
) -> Result:
    """Make the warehouse equal to a data folder, or to the bundled samples where none is given.

    ``corpus_roots`` and ``query_roots`` are searched for corpora and views besides our own.
    """
    known = corpora((CORPORA, *corpus_roots))
    request = from_data(known, data, only) if data else from_samples(known, only)
    job = _Job(path, progress, known, catalogue((QUERIES, *query_roots)), request)
    return job.run(rehash=rehash, wait=wait)


def ingest(path: Path, progress: Progress, corpus_id: str, paths: list[Path], *, wait: bool = True) -> Result:
    """Replace one corpus by what the given files, folders or archives hold; the others stay."""
    known = corpora()
    job = _Job(path, progress, known, catalogue(), from_paths(known, corpus_id, paths))
    return job.run(rehash=False, wait=wait)


@dataclass(frozen=True)
class _Job:
    """One request on its way into one warehouse."""

    path: Path
    progress: Progress
    known: dict[str, Corpus]
    catalogue: Catalogue
    request: Request

    def run(self, *, rehash: bool, wait: bool) -> Result:
        """Do the request under the lock; the published file changes at the very end or not at all."""
        begun = time.monotonic()
        warehouse.check_name(self.path, {*self.known, *self.catalogue.schemas})
        with workshop(self.path, wait=wait, on_wait=self.progress.waiting) as bench, _clear_failures(self.path):
            old = look(bench.old, shown=self.path)
            todo = plan(self.request, old, self.catalogue, rehash=rehash)
            notes = [f"ignored the folder {name}: {why}" for name, why in self.request.ignored]
            result = Result(self.path, todo, notes)
            if todo.is_current and old and not bench.wal.exists():
                result.unchanged_since = old.finished_at
            else:
                self._stage(bench, todo, result)
                publish(bench)
        result.seconds = time.monotonic() - begun
        return result

    def _stage(self, bench: Workshop, todo: Plan, result: Result) -> None:
        """Build the new warehouse in the workshop, ready to be published."""
        started = datetime.now(UTC)
        migrations.upgrade(bench.stage)
        with warehouse.create(bench.stage) as con:
            if bench.old.exists():
                carry(con, bench.old, todo)
            for item in todo.load:
                self._load(con, item)
            self._make_views(con, todo)
            note_rules(con, [self.known[name] for name in todo.present if name in self.known])
            result.notes += note_findings(con, self.request, bench)
            note_load(con, self.request.source, self.catalogue, todo, started)
            con.execute("checkpoint")

    def _load(self, con: duckdb.DuckDBPyConnection, item: Input) -> None:
        """Load one corpus in one transaction."""
        from ingest.load import Load  # Polars takes its time to import, and an unchanged warehouse needs none of it

        self.progress.start(item.corpus, sum(file.content_size() for file in item.files))
        con.execute("begin")
        Load(con, item.corpus, self.progress.advance).run(item.files, is_sample=item.is_sample)
        con.execute("commit")
        self.progress.finish(item.corpus)

    def _make_views(self, con: duckdb.DuckDBPyConnection, todo: Plan) -> None:
        """Fill the examples, then create macros and views."""
        con.execute("begin")
        fill_examples(con, self.catalogue, todo.present)
        create_views(con, self.catalogue, {name: corpus.splits for name, corpus in self.known.items()})
        con.execute("commit")


# What DuckDB raises when it can't write or has no room, depending on the moment.
_FAILURES = (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.TransactionException, duckdb.FatalException)


@contextmanager
def _clear_failures(path: Path) -> Iterator[None]:
    """Say in one message what went wrong outside of the input: most often a full disk."""
    try:
        yield
    except (*_FAILURES, OSError) as error:
        raise BuildFailed(
            "the build stopped; the published warehouse is as it was",
            where=path,
            found=str(error).strip(),
            next_step="make room on the disk of this folder if it is full, and build again",
        ) from error
