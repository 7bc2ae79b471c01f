"""Errors of files and archives that can't be read, each with what to do next."""

import gzip
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EMFILE
from pathlib import Path

from talkhouse.ingest.files.archives import is_archive
from talkhouse.schema.errors import SourceError
from talkhouse.schema.refusals import chmod

_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,
    NotImplementedError,
    ValueError,
    OverflowError,
    IndexError,
)
"""What the standard library raises for a damaged archive, depending on the bytes."""
_DISK = "copy the file from where it came from, and check the disk"


@contextmanager
def readable(path: Path, size: int) -> Iterator[None]:
    """Turn every way in which reading a file of ``size`` bytes can fail into one clear error."""
    try:
        yield
    except PermissionError as error:
        raise forbidden(path) from error
    except _DAMAGED as error:
        if not is_archive(path.name):
            raise SourceError(
                "the file changed while it was read",
                where=path,
                found=str(error),
                next_step="build again when nothing writes to it",
            ) from error
        raise SourceError(
            "the archive can't be read",
            where=path,
            expected="a whole .zip or .tar.gz archive without a password",
            found=f"{size:,} bytes; {error}",
            next_step="download it again, or unpack it by hand to see what is wrong",
        ) from error
    except OSError as error:
        next_step = "allow more open files (ulimit -n 4096), or unpack archives" if error.errno == EMFILE else _DISK
        raise SourceError("the file can't be read", where=path, found=str(error), next_step=next_step) from error


def forbidden(path: Path) -> SourceError:
    """Return the error for a file or folder that may not be read."""
    return SourceError(
        "permission denied",
        where=path,
        expected="a file or folder that you may read, in folders that you may enter",
        next_step=f"allow it, for instance with: {chmod(path, 'rX')}",
    )


def check_spelling(path: str, disk: Path) -> None:
    """Raise SourceError for a name that is not UTF-8, or has a NUL: it could not be stored, or not be written back."""
    if "\0" in path:
        raise SourceError(
            "a file's name in the archive has a NUL character",
            where=disk,
            found=ascii(path),
            next_step="rename the file",
        )
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise SourceError(
            "a file's name is not UTF-8",
            where=str(disk).encode(errors="backslashreplace").decode(),
            found=path.encode(errors="backslashreplace").decode(),
            next_step="rename the file",
        ) from error
