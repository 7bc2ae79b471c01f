"""Loads files into a lake on Spark: workers read them and write the tables; no warehouse of the whole is made."""

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import duckdb
import polars as pl

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.keys import Memory, Tallies
from talkhouse.ingest.loading.batches import Batch
from talkhouse.ingest.loading.load import without
from talkhouse.ingest.loading.load_corpus import KeptPart, insert_batch
from talkhouse.ingest.loading.workers import Advance, Workers
from talkhouse.ingest.outcomes import Outcome, ReaderFinding
from talkhouse.ingest.progress import Progress
from talkhouse.ingest.registry import Registry, all_corpora
from talkhouse.ingest.registry.origins import CorpusOrigin
from talkhouse.ingest.sources import SourceFile
from talkhouse.lake import folder
from talkhouse.lake.lake_files import CorpusRows, MadeRows, Warehouses, columns_of_table, link, write
from talkhouse.lake.write_lake import LakeResult, NewSnapshot, explained, settings_of
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.lake_manifest import LakeColumn, LakeFile
from talkhouse.load.plan import check_no_code, plan, present
from talkhouse.load.request import BuildRequest, Input, QuarantineLimit, from_data
from talkhouse.load.staging import Stage
from talkhouse.load.workspace import Workspace
from talkhouse.schema import warehouse
from talkhouse.schema.errors import RegistryError
from talkhouse.schema.guard import Settings, configure, guard
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.spark.sessions import check_installed, session
from talkhouse.spark.workers import SparkWorkers
from talkhouse.system import interrupt
from talkhouse.system.files import temporary_folder
from talkhouse.system.memory import MemoryLimit, in_little_memory
from talkhouse.translation.translate import translate
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.rows_hash import RowsHash, added, rows_hash

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
            own = Warehouse(con)
            warehouses = Warehouses(con, (own,), tuple(stage.plan.present), rows.written)
            translation = translate(con, own.catalogue, own.split_views)
            new = NewSnapshot(warehouses, lake, workspace.state, translation, progress, delta=delta)
            result = new.would_be() if dry_run else new.written(workspace, stop.check)
        return result._replace(notes=notes, seconds=time.monotonic() - begun)


class RowsOfParts:
    """Where the rows of corpora go that are loaded into a lake, as ``build.staging.RowsElsewhere``."""

    def __init__(self, workers: Workers, progress: Progress) -> None:
        self.workers, self._progress = workers, progress
        self.settings: Settings = {"allowed_directories": [str(workers.folder / _ROWS)]}
        self.written: dict[tuple[str, str], MadeRows] = {}
        """The rows that are written, by table and corpus."""
        self._files: defaultdict[tuple[str, str], list[_FileOfPart]] = defaultdict(list)

    def keep(self, corpus_id: str, part: KeptPart) -> None:
        """Keep where the rows of a part are."""
        for table, path in part.written:
            self._files[table, corpus_id].append(_FileOfPart(path, part.repeated.get(table, ())))

    def settle(self, con: duckdb.DuckDBPyConnection) -> None:
        """Write the files of the lake, by workers, and put a view over them in place of each table."""
        columns = {table: columns_of_table(con, metadata.tables[table]) for table, _ in self._files}
        tasks = [
            _MergeTask(table, columns[table], corpus, group, self.workers.folder)
            for (table, corpus), files in self._files.items()
            for group in _groups(files)
        ]
        self._progress.begin("writing", unit="rows")
        with self.workers.working(self._progress.advance):
            for number, task in enumerate(tasks):
                self.workers.submit(number, task)
            for number, task in enumerate(tasks):
                self._take(task, self.workers.result(number))
        for table, described in columns.items():
            _put_view(con, table, described, [part for key, part in self.written.items() if key[0] == _name(table)])

    def _take(self, task: "_MergeTask", merged: "_Merged") -> None:
        key, ready = (_name(task.table), task.corpus), Inside(self.workers.folder, _ROWS)
        before = self.written.get(key, MadeRows(added([]), self.workers.folder, ()))
        files = link(merged.files, merged.folder, ready, first=len(before.files))
        self.written[key] = MadeRows(added([before.same, merged.same]), self.workers.folder, (*before.files, *files))


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
    has_speaker_facts: bool = True

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

    def sort_out(self, files: list[SourceFile], _: Collection[str] = ()) -> tuple[list[Outcome], list[SourceFile]]:
        """Return all files: the reader says which it passes over."""
        return [], files

    def read(self, files: list[SourceFile], _: Memory) -> Iterator[Outcome]:
        """Read them."""
        return iter(self.corpus().read(files))

    def end(self, _: Tallies) -> Iterator[tuple[str, ReaderFinding]]:
        """Yield nothing: the reader has said it all."""
        return iter(())


_GROUP = 256_000_000
"""Bytes of the files that one task merges, as workers wrote them; what comes out is a file of the lake, as a rule."""

_MEMORY = 150_000_000
"""Bytes that DuckDB may hold in a task, unless a row needs more; the rest lies on the disk."""

_ROWS = "rows"
"""The folder of the files that are ready, next to those of the parts."""


class _FileOfPart(NamedTuple):
    path: Path
    repeated: Sequence[str]
    """Keys of rows that are left out."""


def _name(table: str) -> str:
    return qualified(metadata.tables[table])


def _groups(files: Sequence[_FileOfPart]) -> Iterator[list[_FileOfPart]]:
    """Yield files that are merged into one, in their order."""
    group, size = list[_FileOfPart](), 0
    for file in files:
        group.append(file)
        size += file.path.stat().st_size
        if size >= _GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _put_view(
    con: duckdb.DuckDBPyConnection, table: str, columns: Sequence[LakeColumn], parts: Sequence[MadeRows]
) -> None:
    paths = ", ".join(literal(str(part.folder / file.path)) for part in parts for file in part.files)
    cast = ", ".join(f"{quoted(column.name)}::{column.type} as {quoted(column.name)}" for column in columns)
    con.execute(f"drop table {_name(table)}")
    con.execute(f"create view {_name(table)} as select {cast} from read_parquet([{paths}], hive_partitioning = false)")


class _Merged(NamedTuple):
    same: RowsHash
    folder: Path
    files: list[LakeFile]


@dataclass(frozen=True)
class _MergeTask:
    """Write the rows of a corpus in a table, sorted, from the files of some parts; at a worker."""

    table: str
    columns: tuple[LakeColumn, ...]
    corpus: str
    parts: Sequence[_FileOfPart]
    folder: Path

    def __str__(self) -> str:
        return f"{_name(self.table)} of {self.corpus}"

    def __call__(self, advance: Advance) -> _Merged:
        """Write them."""
        folder = Path(mkdtemp(dir=self.folder))
        with duckdb.connect() as con:
            configure(con, {"temp_directory": str(folder / "sorting")})
            # The other cores of the machine have tasks of their own.
            con.execute("set threads = 1")
            in_little_memory(con, _MEMORY, lambda: self._insert(con))
            guard(con)
            return in_little_memory(con, _MEMORY, lambda: self._write(con, folder, advance))

    def _insert(self, con: duckdb.DuckDBPyConnection) -> None:
        types = (
            f"{quoted(column.name)} {column.type}{'' if column.nullable else ' not null'}" for column in self.columns
        )
        con.execute(f"create or replace table merged ({', '.join(types)})")
        for path, repeated in self.parts:
            rows = without(Batch(self.table, pl.read_ipc(path)), repeated)
            insert_batch(con, Batch(self.table, rows), "merged")

    def _write(self, con: duckdb.DuckDBPyConnection, folder: Path, advance: Advance) -> _Merged:
        same = rows_hash(con, "from merged")
        table = metadata.tables[self.table]
        content = CorpusRows(table, self.columns, self.corpus, "select * from merged", same.rows, "")
        return _Merged(
            same, folder, write(con, [content], content.sorted, Inside(folder), lambda rows: advance(rows, 0))
        )
