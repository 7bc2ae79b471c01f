"""Reads the rows of an object, which may be a stranger's, within limits."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, cast

from pyarrow import lib as pa
from pyarrow.parquet import ParquetFile

from talkhouse.ingest.declared.record_files.parquet_pages import ParquetPages
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.limits import DEFAULT, Limits
from talkhouse.releases.manifest import ReleasedTable
from talkhouse.releases.store import Stored
from talkhouse.schema.errors import ReleaseDamaged, SourceError

_LIMITS = replace(DEFAULT, ratio=1_000_000)
"""As of every file of others; rows that are alike take far less than usual."""
_ROWS = 20_000
"""Rows that are read at a time."""


class _File(NamedTuple):
    """What the limits of a file need of it."""

    id: str
    size: int
    limits: Limits


@contextmanager
def rows_of(stored: Stored, table: ReleasedTable) -> Iterator[Any]:
    """Open an object and yield its rows as a stream of Arrow; ReleaseDamaged where that can't be.

    What its pages unpack to is checked before they are, and nothing of it is code.
    """
    try:
        with stored.objects.reading(table.file) as stream:
            yield _reader(stream, table)
    except (pa.ArrowException, BadRecord, SourceError, OSError, UnicodeDecodeError, OverflowError) as error:
        raise ReleaseDamaged(
            f"an object of the release '{stored.release.name}' can't be read",
            where=stored.store / stored.objects.path / table.file,
            expected="Parquet that Talkhouse wrote",
            found=str(error),
            next_step=f"see all of it with: talkhouse release verify {stored.release.name}",
        ) from error


def _reader(stream: io.BufferedReader, table: ReleasedTable) -> Any:
    pages = ParquetPages(stream, cast(Any, _File(table.file, os.fstat(stream.fileno()).st_size, _LIMITS)))
    for group in range(len(pages.footer.rows)):
        pages.of_group(group)
    stream.seek(0)
    file = ParquetFile(stream, pre_buffer=False, arrow_extensions_enabled=False)  # type: ignore[no-untyped-call]
    batches = file.iter_batches(_ROWS, use_threads=False)  # type: ignore[no-untyped-call]
    return pa.RecordBatchReader.from_batches(file.schema_arrow, batches)
