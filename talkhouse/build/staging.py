"""Builds the new warehouse in the workshop: keep, load, examples, views, checks, and the notes about itself."""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

import duckdb

from ingest.corpus import Corpus
from ingest.load import Connect, Load
from queries.catalogue import Catalogue
from queries.checks import checks
from queries.views import create_split_views, fill_examples
from schema import warehouse
from schema.sql import literal
from talkhouse.build.metadata import carry, keep_facts, note_findings, note_load, note_rules
from talkhouse.build.plan import Plan
from talkhouse.build.progress import Progress
from talkhouse.build.quality_gate import limit_quarantine, pass_checks
from talkhouse.build.quarantine_limit import QuarantineLimit
from talkhouse.build.request import Input, Request
from talkhouse.build.template import put
from talkhouse.build.workspace import Workspace
from talkhouse.explore.findings import Inventory, files, findings
from talkhouse.explore.status import status

Opened: TypeAlias = Future[duckdb.DuckDBPyConnection]


@dataclass(frozen=True)
class Stage:
    """One new warehouse on its way."""

    path: Path
    workspace: Workspace
    progress: Progress
    known: dict[str, Corpus]
    catalogue: Catalogue
    request: Request
    plan: Plan

    def build(self, limit: QuarantineLimit) -> list[str]:
        """Make the staged file ready to be published; gives what there is to say about it."""
        started = datetime.now(UTC)
        present = [self.known[name] for name in self.plan.present if name in self.known]
        with ExitStack() as stack, ThreadPoolExecutor(max_workers=1) as threads:
            opened = threads.submit(self._open, stack)  # while the first files are read
            if self.workspace.old.exists():
                self._carry(opened.result(), present)
            for item in self.plan.load:
                self._load(partial(self._beside, opened), item)
            con = opened.result()
            con.execute("reset threads")  # from here on, few statements have much to do
            if self.request.is_replay:
                keep_facts(con, self.workspace.old, [item.corpus.id for item in self.plan.load])
            limit_quarantine(con, [item.corpus for item in self.plan.load], limit)
            note_rules(con, self.catalogue, present)
            notes = note_findings(con, self.request, self.workspace)
            wanted = checks(self.catalogue, self.plan.present)
            with self._beside(opened) as beside:
                pass_checks(con, beside, wanted, lambda: self._fill_examples(con))
            note_load(con, self.request, self.catalogue, self.plan, started)
            con.execute("checkpoint")
        return notes

    def _open(self, stack: ExitStack) -> duckdb.DuckDBPyConnection:
        """Make the file with its tables and views; the connection is closed with the stack."""
        con = stack.enter_context(put(self.workspace.stage, self.catalogue, self._splits))
        # Row groups are compressed and written while the next ones are read, not all at the commit.
        con.execute("set write_buffer_row_group_count = 1")
        con.execute(f"set temp_directory = {literal(str(self.workspace.folder / 'spilled'))}")
        # While files are read, each connection works in the thread that uses it: hundreds of small statements wake no
        # other, and none that is idle gives back memory that the inserts need again.
        con.execute("set threads = 1")
        return con

    def _carry(self, con: duckdb.DuckDBPyConnection, present: list[Corpus]) -> None:
        """Copy what is kept: few statements with much to do, so with all threads."""
        con.execute("reset threads")
        carry(con, self.workspace.old, self.plan, self.catalogue, present)
        con.execute("set threads = 1")

    def inventory(self) -> Inventory:
        """Say what the staged file holds."""
        with warehouse.connect(self.workspace.stage) as con:
            return Inventory(status(con, self.workspace.stage), files(con), findings(con))

    def _beside(self, opened: Opened) -> duckdb.DuckDBPyConnection:
        """Give another connection to the staged file, once it is prepared."""
        return warehouse.beside(opened.result(), self.workspace.stage)

    def _load(self, connect: Connect, item: Input) -> None:
        """Load one corpus."""
        self.progress.start(item.corpus, sum(file.content_size() for file in item.files))
        Load(connect, item.corpus, self.progress.advance).run(item.files, is_sample=item.is_sample)
        self.progress.finish(item.corpus)

    def _fill_examples(self, con: duckdb.DuckDBPyConnection) -> None:
        """Fill the examples (again, if they are there), then create the views of splits that only they name."""
        con.execute("begin")
        try:
            con.execute("delete from main.examples")
            fill_examples(con, self.catalogue, self.plan.present)
            create_split_views(con, self.catalogue, self._splits)
        except BaseException:
            con.execute("rollback")
            raise
        con.execute("commit")

    @property
    def _splits(self) -> dict[str, Mapping[str, str | None]]:
        """The splits that corpora declare."""
        return {name: corpus.splits for name, corpus in self.known.items()}
