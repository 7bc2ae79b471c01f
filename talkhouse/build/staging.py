"""Builds the new warehouse in the workspace: what is kept, what is read, examples, checks, and the record of it all."""

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, Protocol

import duckdb

from talkhouse.build.metadata import (
    copy_file_facts,
    copy_kept,
    record_findings,
    record_load,
    record_rules,
    record_sources,
)
from talkhouse.build.plan import Plan, Present
from talkhouse.build.quality_gate import check_quarantine, run_checks
from talkhouse.build.request import BuildRequest, Input, QuarantineLimit
from talkhouse.build.template import open_template
from talkhouse.build.workspace import Workspace
from talkhouse.explore.inventory import Inventory, files, findings, status
from talkhouse.ingest.declared.declaration.model import NOT_STATED
from talkhouse.ingest.files.disk_files import check_unchanged
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.loading.load_corpus import Connect, load_corpus
from talkhouse.ingest.loading.parts import KeptPart
from talkhouse.ingest.loading.vocabulary import complete_vocabulary
from talkhouse.ingest.loading.workers import Processes, Workers
from talkhouse.ingest.progress import Progress
from talkhouse.queries.checks import checks
from talkhouse.queries.views import check_schemes, create_split_views, fill_examples
from talkhouse.schema import warehouse
from talkhouse.schema.errors import TalkhouseError
from talkhouse.schema.guard import NO_SETTINGS, Settings, guard
from talkhouse.schema.sql import literal
from talkhouse.system.memory import MemoryLimit, usual_readers
from talkhouse.translation.translate import left_out, left_out_lines
from talkhouse.warehouse import query_files


class Built(NamedTuple):
    """What is known of a staged file that is ready to be published."""

    warnings: list[str]
    """For the user."""
    status: dict[str, Any]
    """What it holds, as ``explore.status`` says; empty where its rows lie elsewhere."""


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

    def build(self, limit: QuarantineLimit) -> Built:
        """Make the staged file ready to be published."""
        started, begun = datetime.now(UTC), time.monotonic()
        known, catalogue = self.known, self.known.catalogue
        loaded = [item.corpus for item in self.plan.load]
        with self._open() as con:
            if self.workspace.old.exists():
                copy_kept(con, self.workspace.old, self.plan, known)
            # While files are read, each connection works in the thread that uses it: hundreds of small statements wake
            # no other, and none that is idle frees memory that the inserts need again.
            con.execute("set threads = 1")
            connect = partial(warehouse.another_connection, con, self.workspace.stage)
            with self._workers() as workers:
                for item in self.plan.load:
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
            # What no one can write otherwise is no news: only 'talkhouse lake' names views of a task of corpus.toml.
            templates = {f"{file.folder}.{file.stem}" for file in known.files if file.path.parent.name == DECLARATION}
            told = {name for view in lost if view.full_name not in templates for name in (view.full_name, view.because)}
            news = [view for view in lost if view.full_name in told]
            warnings += [f"a lake leaves out {line}" for line in left_out_lines(news)]
            self._fill_examples(con)
            run_checks(con, checks(catalogue, known.corpora))
            # Not the clock again: it may have been set back.
            finished = started + timedelta(seconds=time.monotonic() - begun)
            record_load(con, self.request, catalogue, self.plan, started, finished)
            con.execute("checkpoint")
            return Built(warnings, {} if self.elsewhere else status(con, self.workspace.stage))

    def inventory(self) -> Inventory:
        """List the files and the findings of the staged file."""
        with warehouse.connect(self.workspace.stage) as con:
            return Inventory(files(con), findings(con))

    def _open(self) -> duckdb.DuckDBPyConnection:
        """Make the file, with its tables and views, and open it."""
        con = open_template(self.workspace.stage, self.known.catalogue, self.known.splits)
        con.execute(f"set memory_limit = {literal(self.memory_limit.text)}")
        con.execute(f"set temp_directory = {literal(str(self.workspace.folder / 'spilled'))}")
        # Row groups are compressed and written while the next ones are read, not all at the commit.
        con.execute("set write_buffer_row_group_count = 1")
        return con

    def _workers(self) -> AbstractContextManager[Workers]:
        if self.elsewhere:
            return nullcontext(self.elsewhere.workers)
        return Processes(self.jobs or usual_readers(), self.workspace.folder)

    def _load(self, connect: Connect, item: Input, workers: Workers) -> None:
        """Load one corpus."""
        try:
            self.progress.begin(f"reading {item.corpus.id}", size=sum(file.content_size() for file in item.files))
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
                )
            finally:
                # What was read of a file that changed meanwhile may be half of one version and half of another.
                check_unchanged(item.files)
        except TalkhouseError as error:
            error.corpus_id = item.corpus.id
            raise
        self.progress.end()

    def _fill_examples(self, con: duckdb.DuckDBPyConnection) -> None:
        """Fill the examples, then create the views of splits that only they name."""
        catalogue, declared = self.known.catalogue, self.known.corpora
        check_schemes(con, catalogue, declared)
        con.execute("begin")
        fill_examples(con, catalogue, declared)
        create_split_views(con, catalogue, self.known.splits)
        con.execute("commit")
