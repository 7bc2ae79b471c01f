"""Loads one corpus into a private warehouse: in this process, or in parts that others read."""

from collections.abc import Callable, Collection
from typing import TypeAlias

import duckdb

from talkhouse.ingest.contract.validation import check_columns
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.disk_files import DiskFile
from talkhouse.ingest.loading.batches import Batch
from talkhouse.ingest.loading.load import Load, at_full_speed
from talkhouse.ingest.loading.parts import Keep, read_apart
from talkhouse.ingest.loading.vocabulary import declare
from talkhouse.ingest.loading.workers import Advance, Workers
from talkhouse.ingest.registry.origins import BUILT_IN
from talkhouse.ingest.sources import SourceFile, opened
from talkhouse.schema.errors import NothingLoaded
from talkhouse.schema.sql import ArrowStream
from talkhouse.schema.tables import metadata, qualified

Connect: TypeAlias = Callable[[], duckdb.DuckDBPyConnection]
"""Opens another connection to the warehouse that is being loaded."""

_TRANSACTIONS = 2
"""Transactions that are filled side by side: the rows of one are compressed in no more than one thread's time."""


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
