"""Loads files into a lake on Spark: workers read them and write the tables; no warehouse of the whole is made."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from talkhouse.build.plan import check_no_code, plan, present
from talkhouse.build.request import BuildRequest, Input, QuarantineLimit, from_data
from talkhouse.build.staging import Stage
from talkhouse.build.workspace import Workspace
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.keys import Memory, Tallies
from talkhouse.ingest.known.origins import CorpusOrigin
from talkhouse.ingest.outcomes import Outcome
from talkhouse.ingest.progress import Progress
from talkhouse.ingest.registry import Registry, all_corpora
from talkhouse.ingest.sources import SourceFile
from talkhouse.lake import folder
from talkhouse.lake.lake_files import Warehouses
from talkhouse.lake.rows_of_parts import RowsOfParts
from talkhouse.lake.write_lake import LakeResult, explained, settings_of, write_warehouses
from talkhouse.schema import warehouse
from talkhouse.schema.errors import RegistryError
from talkhouse.spark.sessions import check_installed, session
from talkhouse.spark.workers import SparkWorkers
from talkhouse.system import interrupt
from talkhouse.system.folders import temporary_folder
from talkhouse.system.memory import MemoryLimit
from talkhouse.translation.translate import translate
from talkhouse.warehouse.opened import Warehouse

_LARGE = 1_000_000_000
"""Bytes from which on it is told that a file is read by one worker; and no lake of so many rows is small."""


def load_lake(
    lake: Path,
    data: Path,
    url: str,
    progress: Progress,
    *,
    only: tuple[str, ...] = (),
    limit: QuarantineLimit,
    follow_links: bool = False,
    delta: bool = False,
    dry_run: bool = False,
    corpus_roots: tuple[Path, ...] = (),
) -> LakeResult:
    """Load a data folder into a lake on Spark, whole or not at all: the lake that a build of it gives.

    ``url``: a master or Spark Connect. Every worker has to see both folders, and to have the same Talkhouse.
    Raises what ``write_lake``, ``build`` and ``spark.check.check`` raise.
    """
    begun = time.monotonic()
    folder.check(lake)
    check_installed()
    lake, data = lake.absolute(), data.absolute()
    known = all_corpora(corpus_roots, data)
    check_no_code(data, corpus_roots)
    request = _in_parts(known, from_data(known, data, only, follow_links=follow_links))
    for file in (file for item in request.inputs for file in item.files if file.stat.size >= _LARGE):
        progress.note(f"{file.location}: {file.stat.size / 1e9:.1f} GB, which one worker reads alone")
    progress.begin("starting Spark")
    with (
        folder.acquire(lake) as workspace,
        explained(lake),
        temporary_folder() as of_spark,
        session(url, rows=_LARGE, folder=of_spark) as spark,
        SparkWorkers(spark, workspace.private) as workers,
    ):
        workers.check(data)
        rows = RowsOfParts(workers, progress)
        stage = _stage(known, request, workspace.private, progress, rows)
        notes = (*request.notes, *stage.build(limit).warnings)
        with (
            warehouse.connect(stage.workspace.stage, settings={**rows.settings, **settings_of(lake)}) as con,
            interrupt.stoppable(con, None) as stop,
        ):
            one = Warehouse(con)
            warehouses = Warehouses(con, (one,), tuple(stage.plan.present), rows.made)
            translation = translate(con, one.catalogue, one.split_views)
            result = write_warehouses(
                warehouses, workspace, translation, stop.check, progress, delta=delta, dry_run=dry_run
            )
        return result._replace(notes=notes, seconds=time.monotonic() - begun)


def _stage(known: Registry, request: BuildRequest, private: Path, progress: Progress, rows: RowsOfParts) -> Stage:
    """Return a warehouse to be built that has no rows of what workers read."""
    build_plan = plan(request, None, rehash=False)
    workspace = Workspace(private / "small.duckdb", private, datetime.now(UTC), ExitStack())
    here = present(known, (), build_plan, None, workspace.old)
    return Stage(workspace, progress, here, request, build_plan, MemoryLimit(), elsewhere=rows)


def _in_parts(known: Registry, request: BuildRequest) -> BuildRequest:
    """Return the request in which one worker reads each corpus that is not read in parts."""
    inputs = [
        item if item.corpus.parts else replace(item, corpus=_whole(item, known.origin(item.corpus.id)))
        for item in request.inputs
    ]
    return replace(request, inputs=tuple(inputs))


def _whole(item: Input, origin: CorpusOrigin) -> Corpus:
    return replace(item.corpus, parts=_WholeCorpus(origin, item.corpus.version, item.corpus.declaration))


@dataclass(frozen=True)
class _WholeCorpus:
    """Reads all files of a corpus, which the worker takes from where it is known, as its ``parts``."""

    origin: CorpusOrigin
    version: int
    declaration: str | None
    together: bool = True

    def corpus(self) -> Corpus:
        """Return the corpus; RegistryError where it is another one there."""
        corpus = self.origin.load()
        if (corpus.version, corpus.declaration) != (self.version, self.declaration):
            raise RegistryError(
                f"a worker of Spark has another corpus '{corpus.id}'",
                where=self.origin.place,
                next_step="install the same on every worker, or share the folder",
            )
        return corpus

    def sort_out(self, files: list[SourceFile]) -> tuple[list[Outcome], list[SourceFile]]:
        """Return all files: the reader says which it passes over."""
        return [], files

    def read(self, files: list[SourceFile], _: Memory) -> Iterator[Outcome]:
        """Read them."""
        return iter(self.corpus().read(files))

    def end(self, _: list[SourceFile], __: Tallies) -> Iterator[Outcome]:
        """Yield nothing: the reader has said it all."""
        return iter(())
