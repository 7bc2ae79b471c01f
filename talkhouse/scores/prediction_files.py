"""The files of predictions that a user names: each is copied once, and read by a connection that sees nothing else."""

import csv
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, NamedTuple

import duckdb
from pyarrow import lib as pa
from pyarrow.ipc import get_record_batch_size  # type: ignore[attr-defined]

from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.limits import Limits
from talkhouse.query.row_stream import row_groups
from talkhouse.schema.errors import SourceError, TalkhouseError, UsageError
from talkhouse.schema.guard import guard
from talkhouse.scores.workspace import BadPredictions, ScoringTable, ScoringWorkspace
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
class PredictionFile:
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


def copy_files(paths: Sequence[Path], folder: Path, limits: Limits) -> list[PredictionFile]:
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
            files.append(PredictionFile(path, False, (Copy(path.name, copy),), digest))
    return files


@contextmanager
def readable(files: Sequence[PredictionFile]) -> Iterator[None]:
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
        # What DuckDB says below a blank line, or as possible fixes, is about options that nobody has here.
        said = error.detail if isinstance(error, BadRecord) else str(error).strip()
        said = re.split(r"\n\n|\nPossible fixes|\. Detail:", said)[0].replace("\n", "; ")
        for file in files:
            for copy in file.copies:
                said = said.replace(str(copy.path), copy.name)
        raise UsageError(
            "the file can't be read",
            where=where,
            found=(said[:_QUOTED] + (" ..." if len(said) > _QUOTED else "")) or type(error).__name__,
            next_step="name another file, or, to score it, its layout with --format",
        ) from error


def _at(error: SourceError, files: Sequence[PredictionFile], paths: str | None) -> TalkhouseError:
    """Return an error about a private copy as one about the file that the user has named."""
    named = {str(copy.path): file.path for file in files for copy in file.copies}
    where = named.get(str(error.where), error.where or paths)
    return SourceError(error.what, where=where, expected=error.expected, found=error.found, next_step=error.next_step)


def _folder(path: Path, folder: Path, limits: Limits) -> PredictionFile:
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
    return PredictionFile(path, True, tuple(copies), sha256("".join(hashes).encode()).hexdigest())


def _copy(stream: BinaryIO | RawIOBase, path: Path, copy: Path, limits: Limits) -> tuple[str, int]:
    """Copy a file that is open; return its SHA-256 and size."""
    limits.check("file", os.fstat(stream.fileno()).st_size, path)
    return copy_hashed(stream, copy, lambda size: limits.check("file", size, path, f"{size:,} or more"))


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

    def __init__(self, con: duckdb.DuckDBPyConnection, into: ScoringWorkspace, limits: Limits) -> None:
        self.con, self.into, self.limits = con, into, limits

    def load(self, select: str, name: str, most: int) -> ScoringTable:
        """Create a table of the rows of a query."""
        rows = self.con.sql(select).to_arrow_reader(_BATCH_ROWS)
        return self.load_batches(rows.schema, row_groups(rows), "*", name, most)

    def load_batches(
        self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], columns: str, name: str, most: int
    ) -> ScoringTable:
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
def reading(into: ScoringWorkspace, folder: Path, limits: Limits) -> Iterator[Reader]:
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
