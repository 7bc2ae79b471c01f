"""Loads one corpus into a private warehouse: in this process, or in parts that other processes read.

What a reader remembers of the files before is all that a file's rows depend on. So a file is read as if it were the
first, and tells what its memory took for new (a ledger). If files before have told nothing under these keys, the reader
was right. Otherwise it reads the file again, with what they have told, until nothing is missing. No row is changed
afterwards; those that a corpus has once, such as its speakers, are left out where a file before has them.
"""

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from socket import gethostname
from tempfile import mkdtemp
from typing import Literal, NamedTuple, TypeAlias

import duckdb
import polars as pl

from talkhouse.ingest.contract.validation import check_columns
from talkhouse.ingest.corpus import Corpus, PartsReader
from talkhouse.ingest.files.disk_files import DiskFile
from talkhouse.ingest.keys import Ledger, Memory
from talkhouse.ingest.loading.batches import Batch
from talkhouse.ingest.loading.load import FileRead, Load, PartLoaded, at_full_speed
from talkhouse.ingest.loading.vocabulary import declare
from talkhouse.ingest.loading.workers import Advance, Workers
from talkhouse.ingest.registry.origins import BUILT_IN
from talkhouse.ingest.rows import Finding, Label, Quarantined
from talkhouse.ingest.sources import SourceFile, opened
from talkhouse.schema.errors import NothingLoaded
from talkhouse.schema.sql import ArrowStream
from talkhouse.schema.tables import metadata, qualified

Connect: TypeAlias = Callable[[], duckdb.DuckDBPyConnection]
"""Opens another connection to the warehouse that is being loaded."""

_TRANSACTIONS = 2
"""Transactions that are filled side by side: the rows of one are compressed in no more than one thread's time."""

LEAST = 32_000_000
"""Bytes of a corpus from which on it is read apart: a process takes a second of processor time to start."""

_FILE = 150_000
"""Bytes that each file counts for in addition to its own: a reader takes 5 to 16 ms for a file, however small."""

TOGETHER = 4_000_000
"""Bytes of small files that are a part together, which costs 17 ms more than to read them here; so counted, too."""

_AHEAD = 256_000_000
"""Bytes of files that are read ahead, though one before them is not done: so much lies in the workspace."""

_KEPT_AHEAD = 8
"""Parts for each worker that are read ahead where rows are kept."""


class KeptPart(NamedTuple):
    """Rows of a part in the files that a worker wrote, and what is left out of them."""

    written: list[tuple[str, Path]]
    """Tables, and files with rows of them."""
    repeated: Mapping[str, list[str]]
    """Table -> keys of rows that parts before have."""


Keep: TypeAlias = Callable[[KeptPart], None]

_NOT_KEPT = (Finding.TABLE, Quarantined.TABLE)
"""Tables whose rows are loaded all the same: they are few, are numbered through the corpus, and are told of."""


def load_corpus(
    connect: Connect,
    corpus: Corpus,
    disk: list[DiskFile],
    advance: Advance,
    *,
    origin: str = BUILT_IN,
    is_sample: bool,
    workers: Workers | None = None,
    keep: Keep | None = None,
    others: Collection[str] = (),
) -> None:
    """Read files and fill the tables of a warehouse that is thrown away if that fails.

    ``others``: the paths of the corpus's other files, which are loaded already. ``workers`` read the files apart, where
    the corpus allows it and there is enough to read; ``keep`` is as ``read_apart`` has it. What follows of its rows is
    left to do: ``complete_vocabulary``.
    """
    load = Load(corpus, [_InsertTransaction(connect) for _ in range(_TRANSACTIONS)], advance)
    with opened(disk) as (files, skipped), load.batches, at_full_speed():
        load.skip(skipped)
        with load.faults_of_the_reader():
            if workers is None or not read_apart(load, files, workers, keep, others):
                load.read(files, others)
            everything = [*files, *(item.file for item in skipped)]
            load.batches.add(load.counts.rows(disk, everything), 0)
            load.batches.flush()
            load.batches.finish()
        if not others:
            _check_loaded(load, disk, files)
    with connect() as con:
        con.execute("begin")
        declare(con, corpus, load.vocabulary, origin=origin, is_sample=is_sample, made_from=load.made_from)
        con.execute("commit")


def insert_batch(con: duckdb.DuckDBPyConnection, batch: Batch, table: str) -> None:
    """Insert a batch into a table, or raise ContractBroken for a value that it does not take.

    Not by ``register``, whose views keep their data until the transaction ends.
    """
    stream = ArrowStream(batch.frame)  # noqa: F841 - DuckDB finds it by its name
    try:
        con.execute(f"insert into {table} by name select * from stream")
    except (duckdb.ConstraintException, duckdb.ConversionException, duckdb.InvalidInputException):
        check_columns(batch.table, batch.frame.to_dict(), {})
        raise


class _InsertTransaction:
    """A transaction of its own, in which one batch after the other is inserted."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._con: duckdb.DuckDBPyConnection | None = None

    def write(self, batch: Batch) -> None:
        """Insert a batch, or raise ContractBroken for a value that the table does not take."""
        if self._con is None:
            self._con = self._connect()
            self._con.execute("begin")
        insert_batch(self._con, batch, qualified(metadata.tables[batch.table]))

    def finish(self) -> None:
        """Commit what was inserted."""
        if self._con is not None:
            self._con.execute("commit")

    def close(self) -> None:
        """Roll back what was not committed."""
        if self._con is not None:
            self._con.close()


def _check_loaded(load: Load, disk: list[DiskFile], files: list[SourceFile]) -> None:
    """Refuse a load of which nothing came in: most likely these are files of something else."""
    if load.counts.loaded:
        return
    names = [file.id for file in files] or [file.stat.path for file in disk]
    some = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
    raise NothingLoaded(
        f"nothing of the corpus '{load.corpus.id}' could be loaded",
        expected=load.corpus.files,
        found=f"{len(files):,} files ({some})" + (f"; {load.refusal}" if load.refusal else ""),
        next_step="check that these are the publisher's files of this corpus; nothing of it was changed",
    )


def read_apart(
    load: Load, files: list[SourceFile], workers: Workers, keep: Keep | None = None, others: Collection[str] = ()
) -> bool:
    """Read a corpus's files apart; return False, and nothing has been done, where they are not to be.

    ``others`` are as ``Load.read`` has them. ``keep`` is given the rows of each part, in order, instead of their being
    loaded, and the corpus is read apart however small it is.
    """
    reader = load.corpus.parts
    if reader is None or (workers.count < 2 and not keep):
        return False
    passed_over, wanted = reader.sort_out(files, others)
    parts = _parts(wanted, together=reader.together)
    if not keep and (len(parts) < 2 or sum(part.cost for part in parts) < LEAST):
        return False
    load.take(passed_over)
    by_id = {file.id: file for file in wanted}
    known, folder = Ledger(), Path(mkdtemp(dir=workers.folder))
    # What is kept lies there anyway, and nobody waits for the rows before it.
    most = workers.count * (_KEPT_AHEAD if keep else 1)

    def submit(number: int, seed: Ledger) -> None:
        workers.submit(number, _PartTask(reader, parts[number], folder, seed, "lz4" if keep else "uncompressed"))

    try:
        with workers.working(load.advance):
            submitted = ahead = 0
            for number, part in enumerate(parts):
                while submitted < len(parts) and (submitted - number < most or ahead < _AHEAD):
                    submit(submitted, Ledger())
                    ahead += parts[submitted].size
                    submitted += 1
                answer, seed = workers.result(number), Ledger()
                while needed := known.contested(answer.ledger):
                    shutil.rmtree(answer.folder)
                    seed.add(needed)
                    submit(number, seed)
                    answer = workers.result(number)
                repeated = known.repeated(answer.ledger)
                loaded = [(table, path) for table, path in answer.written if not keep or table in _NOT_KEPT]
                load.take_part(answer.loaded(loaded, part.size), by_id, repeated)
                if keep:
                    keep(KeptPart([entry for entry in answer.written if entry not in loaded], repeated))
                else:
                    shutil.rmtree(answer.folder)
                known.add(answer.ledger)
                ahead -= part.size
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    if not others:
        load.end(reader.end(known.tallies))
    return True


@dataclass(frozen=True)
class _Part:
    disks: tuple[DiskFile, ...]
    wanted: frozenset[str]
    """Ids of the files in it, of an archive perhaps some."""
    size: int

    @property
    def cost(self) -> int:
        """What it takes to read it, in bytes of a large file."""
        return self.size + _FILE * len(self.wanted)


def _parts(files: list[SourceFile], *, together: bool) -> list[_Part]:
    """Return parts of a file on disk or of several small ones, in order.

    There is one of all, ``together`` or where the files of an archive don't follow one another.
    """
    grouped = [(disk, list(some)) for disk, some in groupby(files, key=lambda file: file.disk)]
    singles = [
        _Part((disk,), frozenset(file.id for file in some), sum(file.size for file in some)) for disk, some in grouped
    ]
    together = together or len({disk.stat.path for disk, _ in grouped}) < len(grouped)
    groups: list[list[_Part]] = []
    cost = 0
    for single in singles:
        cost += single.cost
        if groups and (together or cost <= TOGETHER):
            groups[-1].append(single)
        else:
            groups.append([single])
            cost = single.cost
    return [_joined(group) for group in groups]


def _joined(parts: Sequence[_Part]) -> _Part:
    """Return several parts as one."""
    disks = dict.fromkeys(disk for part in parts for disk in part.disks)
    return _Part(tuple(disks), frozenset().union(*(part.wanted for part in parts)), sum(part.size for part in parts))


class _Answer(NamedTuple):
    """What a process has made of a part."""

    folder: Path
    written: list[tuple[str, Path]]
    """Tables, and files with rows of them."""
    ledger: Ledger
    files: Mapping[str, FileRead]
    findings: int
    refusal: str
    made_from: str | None
    labels: list[Label]

    def loaded(self, written: list[tuple[str, Path]], size: int) -> PartLoaded:
        """Return it with some of the rows, which are read from their files one batch after the other."""
        batches = (Batch(table, pl.read_ipc(path)) for table, path in written)
        batch_size = size // max(len(written), 1)
        return PartLoaded(self.files, batches, batch_size, self.findings, self.refusal, self.made_from, self.labels)


@dataclass(frozen=True)
class _PartTask:
    """Read a part behind parts that have told this; in another process."""

    reader: PartsReader
    part: _Part
    folder: Path
    seed: Ledger
    compression: Literal["lz4", "uncompressed"]
    machine: str = field(default_factory=gethostname)
    """The one that listed the files."""

    def __str__(self) -> str:
        first, *others = self.part.disks
        return f"{first.location}{f' and {len(others)} more' if others else ''}"

    def __call__(self, advance: Advance) -> _Answer:
        """Read it."""
        # A name of its own: what a process has written that was killed is not taken for this one's.
        sink = _FrameFiles(Path(mkdtemp(dir=self.folder)), self.compression)
        load = Load(self.reader.corpus(), [sink], advance)
        memory = Memory(self.seed)
        disks = self.part.disks
        if gethostname() != self.machine:
            disks = tuple(disk.here() for disk in disks)
        with opened(disks) as (files, _), load.batches, at_full_speed():
            wanted = [file for file in files if file.id in self.part.wanted]
            with load.faults_of_the_reader():
                load.take(self.reader.read(wanted, memory))
                load.batches.flush()
                load.batches.finish()
            load.counts.tally(memory.tallies)
            counts = load.counts.by_id
            read = {
                file.id: FileRead(counts[file.id], file.sha256, file.has_bom) for file in wanted if file.id in counts
            }
        state = (load.findings, load.refusal, load.made_from, load.vocabulary.labels)
        return _Answer(sink.folder, sink.written, memory.ledger(), read, *state)


class _FrameFiles:
    """Where a process's rows go: into files of Arrow's, which another maps into its memory as they are."""

    def __init__(self, folder: Path, compression: Literal["lz4", "uncompressed"]) -> None:
        self.folder, self._compression = folder, compression
        self.written: list[tuple[str, Path]] = []

    def write(self, batch: Batch) -> None:
        """Write a batch."""
        path = self.folder / f"{len(self.written)}.arrow"
        # By Python, whose errors say that a disk is full.
        path.write_bytes(batch.frame.write_ipc(None, compression=self._compression).getbuffer())
        self.written.append((batch.table, path))

    def finish(self) -> None:
        """Do nothing: only what the task returns counts."""

    def close(self) -> None:
        """Do nothing."""
