"""Whether a file is the one that was wanted."""

from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

from talkhouse.fetch.page import begins_as_page
from talkhouse.fetch.problems import NotFetched
from talkhouse.ingest.files.archives import is_archive
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.sources import opened
from talkhouse.schema.errors import SourceError

_START = 512


@dataclass(frozen=True)
class Expected:
    """What is known of a file before it is fetched; None: not known."""

    sha256: str | None
    size: int | None
    since: str | None = None
    """Where ``sha256`` is that of an earlier download, since none is published: when that was, and the record of it."""


def sha256_of(path: Path) -> str:
    """Hash a file. Raises OSError."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def check(path: Path, name: str, expected: Expected) -> str:
    """Return a file's SHA-256; ``name``: its path in the corpus's folder, which says what it has to be.

    An archive of which no checksum is known is read to its end, as a build does. Raises NotFetched.
    """
    size = path.stat().st_size
    if not size:
        raise NotFetched("the file is empty")
    with path.open("rb") as stream:
        start = stream.read(_START)
    found = sha256_of(path)
    if begins_as_page(start, name) and found != expected.sha256:
        raise NotFetched("a page came in the place of the file", f"{size:,} bytes that begin {start[:60]!r}")
    check_size(size, expected)
    _check_sum(found, expected)
    if expected.sha256 is None and is_archive(name):
        _check_archive(path, name, start)
    return found


def check_size(size: int, expected: Expected) -> None:
    """Raise NotFetched where a file has another size than its publisher says."""
    if expected.size is not None and size != expected.size:
        raise NotFetched("the file has another size", f"{size:,} bytes", expected=f"{expected.size:,} bytes")


def _check_sum(found: str, expected: Expected) -> None:
    if expected.sha256 in (found, None):
        return
    if expected.since is None:
        raise NotFetched("the file has another checksum", f"SHA-256 {found}", expected=f"SHA-256 {expected.sha256}")
    raise NotFetched(
        "the file is not what it was at its first download",
        f"SHA-256 {found}",
        expected=f"SHA-256 {expected.sha256}, recorded {expected.since}, for none is published",
        advice="if its publisher has replaced it, remove that record and run the same command again",
    )


def _check_archive(path: Path, name: str, start: bytes) -> None:
    """Read every file of an archive, within the limits of a build, which compares their checksums."""
    try:
        with opened(disk_files(path, name)) as (files, _):
            for file in files:
                file.hash()
    except SourceError as error:
        raise NotFetched(
            "the file can't be opened as the archive that its name says",
            f"{error.what}{f' ({error.found})' if error.found else ''}; it begins with {start[:8]!r}",
            advice="if its publisher has another kind of file there, name its path so with --sources FILE",
        ) from error
