"""The files that a user names: each is copied once, and read by a connection that sees nothing else."""

import csv
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, NamedTuple

import duckdb
from pyarrow import lib as pa
from pyarrow.ipc import get_record_batch_size  # type: ignore[attr-defined]

from talkhouse.export.row_stream import row_groups
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.limits import Limits
from talkhouse.schema.errors import SourceError, TalkhouseError, UsageError
from talkhouse.schema.guard import configure, guard
from talkhouse.system.files import copy_hashed, open_named
from talkhouse.system.memory import capped, lowered, out_of_memory

LABEL_FILES = ".labels.json"
"""How the names of files end that are read of a folder or an archive."""

_QUOTED = 300
"""Characters of what a reader says of a file; it may quote a line of any length."""


class Copy(NamedTuple):
    """A private copy of one file."""

    name: str
    """Its own name; of a file of a folder, the path in it."""
    path: Path


@dataclass(frozen=True)
class UserFile:
    """A file or folder that the user has named."""

    path: Path
    is_folder: bool
    copies: tuple[Copy, ...]
    """Of a folder, those of its label files."""
    sha256: str
    """Of a folder, that over the names and hashes of its label files."""

    @property
    def only(self) -> Path:
        """The copy, where it is a file."""
        return self.copies[0].path

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.only.stat().st_size


def copy_files(paths: Sequence[Path], folder: Path, limits: Limits) -> list[UserFile]:
    """Copy files to a private folder, and hash them on the way.

    Raises UsageError for what is missing or neither a file nor a folder, SourceError for what is beyond the limits.
    """
    files = []
    for index, path in enumerate(paths):
        if path.is_dir():
            files.append(_folder(path, folder / f"{index}", limits))
        else:
            copy = folder / f"{index}"
            with open_named(path, "name another file") as stream:
                digest, _ = _copy(stream, path, copy, limits)
            files.append(UserFile(path, False, (Copy(path.name, copy),), digest))
    return files


@contextmanager
def readable(files: Sequence[UserFile]) -> Iterator[None]:
    """Turn what a reader raises into UsageError or SourceError with the paths that the user knows."""
    where = ", ".join(str(file.path) for file in files) or None
    try:
        yield
    except (MemoryError, duckdb.OutOfMemoryException):
        raise
    except SourceError as error:
        raise _at(error, files, where) from error
    except (
        *(OSError, zipfile.BadZipFile, duckdb.Error, pa.ArrowException, csv.Error),
        *(BadRecord, ValueError, TypeError, OverflowError, RecursionError),
    ) as error:
        # What DuckDB says below a blank line, or as possible fixes, is about options that users do not have here.
        detail = error.detail if isinstance(error, BadRecord) else str(error).strip()
        detail = re.split(r"\n\n|\nPossible fixes|\. Detail:", detail)[0].replace("\n", "; ")
        for file in files:
            for copy in file.copies:
                detail = detail.replace(str(copy.path), copy.name)
        raise UsageError(
            "the file can't be read",
            where=where,
            found=(detail[:_QUOTED] + (" ..." if len(detail) > _QUOTED else "")) or type(error).__name__,
            next_step="name another file, or, to score it, its layout with --format",
        ) from error


def _at(error: SourceError, files: Sequence[UserFile], paths: str | None) -> TalkhouseError:
    """Return an error about a private copy as one about the file that the user has named."""
    named = {str(copy.path): file.path for file in files for copy in file.copies}
    where = named.get(str(error.where), error.where or paths)
    return SourceError(error.what, where=where, expected=error.expected, found=error.found, next_step=error.next_step)


def _folder(path: Path, folder: Path, limits: Limits) -> UserFile:
    folder.mkdir()
    copies, hashes, total = [], [], 0
    files = disk_files(path, path.name, limits) if any(os.scandir(path)) else []
    labels = [file for file in files if file.location.name.endswith(LABEL_FILES)]
    for index, file in enumerate(sorted(labels, key=lambda file: file.location)):
        copy = Copy(file.location.relative_to(path).as_posix(), folder / f"{index}")
        with file.open() as stream:
            digest, size = _copy(stream, file.location, copy.path, limits)
        total += size
        limits.check("file", total, path, f"{total:,} or more, in its files {LABEL_FILES}")
        copies.append(copy)
        hashes.append(f"{copy.name} {digest}\n")
    return UserFile(path, True, tuple(copies), sha256("".join(hashes).encode()).hexdigest())


def _copy(stream: BinaryIO | RawIOBase, path: Path, copy: Path, limits: Limits) -> tuple[str, int]:
    """Copy a file that is open; return its SHA-256 and size."""
    limits.check("file", os.fstat(stream.fileno()).st_size, path)
    return copy_hashed(stream, copy, lambda size: limits.check("file", size, path, f"{size:,} or more"))


MEMORY = 600_000_000
"""Bytes that DuckDB may hold of millions of rows; what is above goes to the disk."""

_OWN_MEMORY = 300_000_000
"""Of these, what the reading itself may hold."""

_BESIDE = 1_500_000_000
"""Bytes of addresses for all that DuckDB does not count, as files may say that they need any number."""

_THREADS = 4
"""More read no faster, for one thread hands over the rows, and each holds memory."""

_BATCH_ROWS = 2_048
"""Rows that are read at once: as many as DuckDB itself has in its hands."""


class Rows(NamedTuple):
    """Rows on their way from a file into memory."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


class Reader(NamedTuple):
    """The connection that reads, and the limits of what it reads."""

    con: duckdb.DuckDBPyConnection
    limits: Limits

    def rows(self, select: str) -> Rows:
        """Return the rows of a query."""
        rows = self.con.sql(select).to_arrow_reader(_BATCH_ROWS)
        return Rows(rows.schema, row_groups(rows))


def bounded(
    batches: Iterable[pa.RecordBatch], limits: Limits, check_rows: Callable[[int], None]
) -> Iterator[pa.RecordBatch]:
    """Yield Arrow batches; ``check_rows`` raises where there are too many rows.

    Raises SourceError for more bytes than a file may have.
    """
    rows = size = 0
    for batch in batches:
        rows, size = rows + batch.num_rows, size + get_record_batch_size(batch)
        check_rows(rows)
        limits.check("file", size, None, f"{size:,} or more, as they are read")
        yield batch


@contextmanager
def reading(
    warehouse: duckdb.DuckDBPyConnection, folder: Path, limits: Limits, what: str, next_step: str
) -> Iterator[Reader]:
    """Yield a reader of the files in a private folder; SourceError where ``what`` they have takes too much memory."""
    with duckdb.connect() as con:
        spilled = str(folder / "spilled")
        guard(
            con, {"allowed_directories": (str(folder),), "temp_directory": spilled, "memory_limit": f"{_OWN_MEMORY}B"}
        )
        configure(con, {"enable_progress_bar": False, "threads": str(min(_THREADS, os.cpu_count() or 1))})
        try:
            with lowered(warehouse, MEMORY), capped(con, _BESIDE):
                yield Reader(con, limits)
        except (MemoryError, duckdb.OutOfMemoryException) as error:
            raise out_of_memory(
                SourceError,
                f"reading the {what}",
                error,
                expected=f"{what} that can be read in about a gigabyte",
                next_step=next_step,
            ) from error
