"""The rows of parts on their way into a lake: workers merge the files of many parts into the files of a table."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import duckdb
import polars as pl

from talkhouse.ingest.loading.batches import Batch
from talkhouse.ingest.loading.load import without
from talkhouse.ingest.loading.load_corpus import insert_batch
from talkhouse.ingest.loading.parts import KeptPart
from talkhouse.ingest.loading.workers import Advance, Workers
from talkhouse.ingest.progress import Progress
from talkhouse.lake.lake_files import CorpusRows, MadeRows, columns_of_table, link, write
from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.lake_manifest import LakeColumn, LakeFile
from talkhouse.schema.guard import Settings, configure, guard
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.system.memory import in_little_memory
from talkhouse.warehouse.rows_hash import RowsHash, joined, rows_hash

_GROUP = 256_000_000
"""Bytes of the files that one task merges, as workers wrote them; what comes out is a file of the lake, as a rule."""

_MEMORY = 150_000_000
"""Bytes that DuckDB may hold in a task, unless a row needs more; the rest lies on the disk."""

_ROWS = "rows"
"""The folder of the files that are ready, beside those of the parts."""


class _FileOfPart(NamedTuple):
    path: Path
    repeated: Sequence[str]
    """Keys of rows that are left out."""


class RowsOfParts:
    """Where the rows of corpora go that are loaded into a lake, as ``build.staging.RowsElsewhere``."""

    def __init__(self, workers: Workers, progress: Progress) -> None:
        self.workers, self._progress = workers, progress
        self.settings: Settings = {"allowed_directories": [str(workers.folder / _ROWS)]}
        self.made: dict[tuple[str, str], MadeRows] = {}
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
            _put_view(con, table, described, [one for key, one in self.made.items() if key[0] == _name(table)])

    def _take(self, task: "_MergeTask", merged: "_Merged") -> None:
        key, ready = (_name(task.table), task.corpus), Inside(self.workers.folder, _ROWS)
        before = self.made.get(key, MadeRows(RowsHash(0, joined([])), self.workers.folder, ()))
        same = RowsHash(before.same.rows + merged.same.rows, joined([before.same.hash, merged.same.hash]))
        files = link(merged.files, merged.folder, ready, first=len(before.files))
        self.made[key] = MadeRows(same, self.workers.folder, (*before.files, *files))


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
    con: duckdb.DuckDBPyConnection, table: str, columns: Sequence[LakeColumn], made: Sequence[MadeRows]
) -> None:
    paths = ", ".join(literal(str(one.folder / file.path)) for one in made for file in one.files)
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
        types = (f"{quoted(one.name)} {one.type}{'' if one.nullable else ' not null'}" for one in self.columns)
        con.execute(f"create or replace table merged ({', '.join(types)})")
        for path, repeated in self.parts:
            rows = without(Batch(self.table, pl.read_ipc(path)), repeated)
            insert_batch(con, Batch(self.table, rows), "merged")

    def _write(self, con: duckdb.DuckDBPyConnection, folder: Path, advance: Advance) -> _Merged:
        same = rows_hash(con, "from merged")
        table = metadata.tables[self.table]
        content = CorpusRows(table, self.columns, self.corpus, "select * from merged", same.rows, "")
        return _Merged(same, folder, write(con, content, Inside(folder), lambda rows: advance(rows, 0)))
