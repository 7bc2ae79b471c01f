"""Reads copies of predictions on a connection of its own, which sees nothing else, and hands over their rows.

The connection to the warehouse may not read files, and files that somebody else made see nothing of it.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from pyarrow import lib as pa
from pyarrow.ipc import get_record_batch_size  # type: ignore[attr-defined]

from talkhouse.ingest.files.limits import Limits
from talkhouse.query.row_stream import row_groups
from talkhouse.schema.errors import SourceError
from talkhouse.schema.guard import guard
from talkhouse.scores.tasks.refusals import BadPredictions
from talkhouse.scores.tasks.workspace import Table, Workspace
from talkhouse.system.memory import capped, lowered, out_of_memory

MEMORY = 600_000_000
"""Bytes that DuckDB may hold of millions of predictions; what is above goes to the disk."""

_OWN_MEMORY = 300_000_000
"""Of these, what the reading itself may hold."""

_BESIDE = 1_500_000_000
"""Bytes of addresses for all that DuckDB does not count, as files may say that they need any number."""

_THREADS = 4
"""More read no faster, for one thread hands over the rows, and each holds memory."""

_BATCH_ROWS = 2_048
"""Rows that are read at once: as many as DuckDB itself has in its hands."""


class Reader:
    """The connection that reads; ``into`` has the tables that get the rows, of which there may be ``most``."""

    def __init__(self, con: duckdb.DuckDBPyConnection, into: Workspace, limits: Limits) -> None:
        self.con, self.into, self.limits = con, into, limits

    def pour(self, select: str, name: str, most: int) -> Table:
        """Create a table of the rows of a query."""
        rows = self.con.sql(select).to_arrow_reader(_BATCH_ROWS)
        return self.pour_batches(rows.schema, row_groups(rows), "*", name, most)

    def pour_batches(
        self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], columns: str, name: str, most: int
    ) -> Table:
        """Create a table of Arrow batches; ``columns`` is what is selected from them.

        Raises BadPredictions for more rows than ``most``, SourceError for more bytes than a file may have.
        """
        rows = size = 0
        table = self.into.create_arrow(name, pa.Table.from_batches([], schema), columns)
        for batch in batches:
            rows, size = rows + batch.num_rows, size + get_record_batch_size(batch)
            check_rows(rows, most)
            self.limits.check("file", size, None, f"{size:,} or more, as they are read")
            self.into.insert_arrow(table, pa.Table.from_batches([batch]), columns)
        return table


def check_rows(rows: int, most: int) -> None:
    """Raise BadPredictions where there are far more rows than there can be predictions."""
    if rows > most:
        raise BadPredictions(
            "there are far more rows than the task has predictions",
            expected=f"at most {most:,}: two for each, and a million",
            found=f"{rows:,} or more",
            next_step="give each example one row",
        )


@contextmanager
def reading(into: Workspace, folder: Path, limits: Limits) -> Iterator[Reader]:
    """Yield a reader of the files in a private folder; SourceError where they take too much memory."""
    with duckdb.connect() as con:
        spilled = str(folder / "spilled")
        guard(
            con, {"allowed_directories": (str(folder),), "temp_directory": spilled, "memory_limit": f"{_OWN_MEMORY}B"}
        )
        con.execute("set enable_progress_bar = false")
        con.execute(f"set threads = {min(_THREADS, os.cpu_count() or 1)}")
        try:
            with lowered(into.con, MEMORY), capped(con, _BESIDE):
                yield Reader(con, into, limits)
        except (MemoryError, duckdb.OutOfMemoryException) as error:
            raise out_of_memory(
                SourceError,
                "reading the predictions",
                error,
                expected="predictions that can be read in about a gigabyte",
                next_step="leave out columns that the task does not need, and score a split at a time",
            ) from error
