"""Builds the new warehouse in the workspace: what is kept, what is read, examples, checks, and the record of it all."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import duckdb

from talkhouse.ingest.declared.declaration.model import NOT_STATED
from talkhouse.ingest.files.disk_files import DiskFile, check_unchanged
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.loading.load_corpus import Connect, KeptPart, load_corpus
from talkhouse.ingest.loading.vocabulary import complete_vocabulary
from talkhouse.ingest.loading.workers import Processes, Workers
from talkhouse.ingest.progress import Progress
from talkhouse.load.base_copy import open_copy, open_template
from talkhouse.load.changed_files import ChangedFiles, ReadWhole
from talkhouse.load.metadata import (
    copy_file_facts,
    copy_kept,
    delete_corpus,
    record_findings,
    record_load,
    record_rules,
    record_sources,
)
from talkhouse.load.plan import Plan, Present
from talkhouse.load.quality_gate import check_quarantine, run_checks
from talkhouse.load.request import BuildRequest, Input, QuarantineLimit
from talkhouse.load.workspace import Workspace
from talkhouse.queries.checks import checks, run
from talkhouse.queries.views import check_schemes, create_split_views, fill_examples
from talkhouse.schema import warehouse
from talkhouse.schema.errors import TalkhouseError
from talkhouse.schema.guard import NO_SETTINGS, Settings, guard
from talkhouse.schema.sql import literal
from talkhouse.system.memory import MemoryLimit, usual_readers
from talkhouse.translation.translate import left_out, left_out_lines
from talkhouse.warehouse import query_files
from talkhouse.warehouse.build_facts import Inventory, files, findings, status
from talkhouse.warehouse.readers import current_versions


class Built(NamedTuple):
    """What is known of a staged file that is ready to be published."""

    warnings: list[str]
    """For the user."""
    status: dict[str, Any]
    """What it holds, as ``inventory.status`` says; empty where its rows lie elsewhere."""
    read: Mapping[str, str]
    """Corpus id -> how many of its files were read, or why it was read whole; of those that were there before."""
    replaced: Mapping[str, Collection[str]]
    """Corpus id -> source files whose rows went, perhaps to be read again; of those that were not read whole."""


class RowsElsewhere(Protocol):
    """Where the rows of corpora go that do not come into the staged file, which has views over them."""

    workers: Workers
    settings: Settings
    """What DuckDB needs to read them while it is guarded."""

    def keep(self, corpus_id: str, part: KeptPart) -> None:
        """Keep where the rows of a part are."""

    def settle(self, con: duckdb.DuckDBPyConnection) -> None:
        """Put a view over the rows in place of each table that has any, once all parts are there."""


@dataclass(frozen=True)
class Stage:
    """One new warehouse that is being built."""

    workspace: Workspace
    progress: Progress
    known: Present
    request: BuildRequest
    plan: Plan
    memory_limit: MemoryLimit
    jobs: int | None = 1
    """Processes that read, where there is enough to read."""
    elsewhere: RowsElsewhere | None = None
    compact: bool = False
    """Whether what is kept is copied row by row, so that the file has no free room."""

    def build(self, limit: QuarantineLimit) -> Built:
        """Make the staged file ready to be published."""
        started, begun = datetime.now(UTC), time.monotonic()
        known, catalogue = self.known, self.known.catalogue
        loaded = [item.corpus for item in self.plan.load]
        base = None if self.elsewhere or self.compact else open_copy(self.workspace, self.plan, known)
        found: dict[str, _OfFiles] = {}
        with base.con if base else open_template(self.workspace.stage, catalogue, known.splits) as con:
            self._configure(con, self.workspace.folder / "spilled")
            if having_charts := {file.folder for file in known.files if file.name == DECLARATION}:
                from talkhouse.charts.query import check_charts  # few corpora have charts of their own

                check_charts(lambda sql: con.execute(sql).fetchall(), having_charts, known.files)
            if self.workspace.old.exists() and not base:
                copy_kept(con, self.workspace.old, self.plan, known)
            # While files are read, each connection works in the thread that uses it: hundreds of small statements wake
            # no other, and none that is idle frees memory that the inserts need again.
            con.execute("set threads = 1")
            connect = partial(warehouse.another_connection, con, self.workspace.stage)
            with self._workers() as workers:
                for item in self.plan.load:
                    corpus_id = item.corpus.id
                    found[corpus_id] = self._load_changes(con, item, workers, base.passed if base else ())
                    if found[corpus_id].passed is None:
                        if corpus_id in self.plan.changes:
                            delete_corpus(con, corpus_id)
                        self._load(connect, item, workers)
            con.execute("reset threads")
            if self.request.is_replay:
                copy_file_facts(con, self.workspace.old, [corpus.id for corpus in loaded])
            # What follows runs the SQL of corpora, and writes to nothing but the staged file and what is spilled.
            guard(con, self.elsewhere.settings if self.elsewhere else NO_SETTINGS)
            check_quarantine(con, loaded, limit)
            if self.elsewhere:
                self.elsewhere.settle(con)
            con.execute("begin")
            for corpus in loaded:
                complete_vocabulary(con, corpus)
            con.execute("commit")
            record_rules(con, known)
            query_files.keep(con, known.files)
            warnings = record_findings(con, self.request, self.workspace)
            warnings += record_sources(con, [item.corpus for item in self.plan.load if not item.is_sample])
            warnings += [
                f"{corpus.id}: the licence is {NOT_STATED}; its corpus.toml can say it: licence = ..."
                for corpus in loaded
                if corpus.licence == NOT_STATED
            ]
            lost = left_out(con, catalogue)
            # A view that can only be written so is no news: only 'talkhouse lake' names views of a task of corpus.toml.
            templates = {f"{file.folder}.{file.stem}" for file in known.files if file.path.parent.name == DECLARATION}
            new = {name for view in lost if view.full_name not in templates for name in (view.full_name, view.because)}
            news = [view for view in lost if view.full_name in new]
            warnings += [f"a lake leaves out {line}" for line in left_out_lines(news)]
            self._fill_examples(con, {corpus.id for corpus in loaded} if base else known.corpora)
            versions = current_versions(con, known.corpora)
            run_checks(con, checks(catalogue, known.corpora, versions), _passed_by_all(found.values()))
            # Not the clock again: it may have been set back.
            finished = started + timedelta(seconds=time.monotonic() - begun)
            record_load(con, self.request, catalogue, self.plan, started, finished)
            con.execute("checkpoint")
            read = {name: of.files for name, of in found.items() if self.workspace.old.exists()}
            replaced = {name: of.replaced for name, of in found.items() if of.passed is not None}
            replaced |= dict.fromkeys(self.plan.keep, ())
            return Built(
                warnings, {} if self.elsewhere else status(con, self.workspace.stage, versions), read, replaced
            )

    def inventory(self) -> Inventory:
        """List the files and the findings of the staged file."""
        with warehouse.connect(self.workspace.stage) as con:
            return Inventory(files(con), findings(con))

    def _configure(self, con: duckdb.DuckDBPyConnection, spilled: Path) -> None:
        con.execute(f"set memory_limit = {literal(self.memory_limit.text)}")
        con.execute(f"set temp_directory = {literal(str(spilled))}")
        # Row groups are compressed and written while the next ones are read, not all at the commit.
        con.execute("set write_buffer_row_group_count = 1")

    def _workers(self) -> AbstractContextManager[Workers]:
        if self.elsewhere:
            return nullcontext(self.elsewhere.workers)
        return Processes(self.jobs or usual_readers(), self.workspace.folder)

    def _load_changes(
        self, con: duckdb.DuckDBPyConnection, item: Input, workers: Workers, held: Collection[str]
    ) -> "_OfFiles":
        """Load what is new of a corpus, where its other files need not be read; else nothing is changed.

        ``held``: the checks that hold of the rows that are there.
        """
        corpus_id, passed = item.corpus.id, dict[str, float]()
        changes = self.plan.changes.get(corpus_id)
        if item.corpus.parts is None or changes is None:
            return _OfFiles(": ".join(filter(None, ("read whole", self.plan.whole.get(corpus_id)))))

        def read(files: list[DiskFile], others: list[str]) -> None:
            self.workspace.fresh.unlink(missing_ok=True)
            with open_template(self.workspace.fresh, self.known.catalogue, self.known.splits) as fresh:
                self._configure(fresh, self.workspace.folder / "spilled_fresh")
                connect = partial(warehouse.another_connection, fresh, self.workspace.fresh)
                self._load(connect, replace(item, files=files), workers, others)
                complete_vocabulary(fresh, item.corpus)
                fresh.execute("checkpoint")
                guard(fresh)
                of_files = [check for check in checks(self.known.catalogue, [corpus_id]) if check.is_of_files]
                outcomes = run(fresh, (check for check in of_files if check.name in held))
                passed.clear()
                passed.update({found.check.name: found.milliseconds for found in outcomes if not found.offending})

        try:
            files, replaced = ChangedFiles(con, item, item.corpus.parts, self.workspace.fresh, read).load(changes)
        except ReadWhole as reason:
            return _OfFiles(f"read whole: {reason}")
        return _OfFiles(f"{files:,} of {len(item.files):,} files read", passed, replaced)

    def _load(self, connect: Connect, item: Input, workers: Workers, others: Sequence[str] = ()) -> None:
        """Load one corpus, or files of one behind others."""
        try:
            size = sum(file.content_size() for file in item.files)
            self.progress.begin(f"reading {'what is new of ' if others else ''}{item.corpus.id}", size=size)
            origin = self.known.origins[item.corpus.id]
            try:
                load_corpus(
                    connect,
                    item.corpus,
                    item.files,
                    self.progress.advance,
                    origin=origin,
                    is_sample=item.is_sample,
                    workers=workers,
                    keep=partial(self.elsewhere.keep, item.corpus.id) if self.elsewhere else None,
                    others=others,
                )
            finally:
                # What was read of a file that changed meanwhile may be half of one version and half of another.
                check_unchanged(item.files)
        except TalkhouseError as error:
            error.corpus_id = item.corpus.id
            raise
        self.progress.end()

    def _fill_examples(self, con: duckdb.DuckDBPyConnection, without_examples: Collection[str]) -> None:
        """Fill the examples of these corpora, then create the views of splits that only they name."""
        catalogue, declared = self.known.catalogue, self.known.corpora
        check_schemes(con, catalogue, declared)
        con.execute("begin")
        fill_examples(con, catalogue, without_examples)
        create_split_views(con, catalogue, self.known.splits)
        con.execute("commit")


class _OfFiles(NamedTuple):
    """What became of the files of one corpus."""

    files: str
    """How many were read, or why all were."""
    passed: Mapping[str, float] | None = None
    """Where not all were read: the checks that hold of those which were, and the milliseconds that it took to see."""
    replaced: Collection[str] = ()
    """Source files whose rows went, perhaps to be read again."""


def _passed_by_all(found: Iterable[_OfFiles]) -> dict[str, float]:
    """Return the checks that hold of the files of all corpora that were read, with the milliseconds in all."""
    known = [of.passed for of in found]
    each = [passed for passed in known if passed is not None]
    if not each or len(each) < len(known):
        return {}
    names = set.intersection(*(set(passed) for passed in each))
    return {name: sum(passed[name] for passed in each) for name in names}
