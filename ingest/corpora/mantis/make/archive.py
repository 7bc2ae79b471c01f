"""A site's .7z archive, unpacked while it is read: its files are handed on piece by piece and never lie on the disk."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path
from typing import TYPE_CHECKING, Any

from talkhouse.ingest.making import NotMade, WrongInput, points_outside

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX = ".7z"
_SHOWN = 8
"""Names that a message has."""


def check(path: Path, parts: Sequence[str]) -> None:
    """Raise NotMade where an archive is damaged or lacks a part; reads its directory only."""
    with _opened(path) as opened:
        names = opened.getnames()
    if any(name.lower().endswith(SUFFIX) for name in names):
        raise WrongInput("the archive holds archives", where=path, next_step="unpack it, and name what was in it")
    for part in parts:
        there = [name for name in names if _base(name) == part]
        if len(there) > 1 or any(map(points_outside, there)):
            raise NotMade(
                f"the archive has {len(there)} files that are called {part}" if there[1:] else "a name leads outside",
                where=path,
                expected=f"one {part}, in a folder of the archive or in none",
                found=", ".join(map(ascii, there[:_SHOWN])),
                next_step="download the site's whole archive again; or unpack it, and name the folder with its files",
            )
        if not there:
            raise NotMade(
                f"the archive has no {part}",
                where=path,
                expected=", ".join(parts),
                found=", ".join(map(ascii, names[:_SHOWN])),
                next_step="download the site's whole archive again",
            )


def size(path: Path, parts: Sequence[str]) -> int:
    """Count the bytes of the parts, unpacked."""
    with _opened(path) as opened:
        return sum(int(member.uncompressed) for member in opened.list() if _base(member.filename) in parts)


def read(
    path: Path, parts: Sequence[str], start: Callable[[str], tuple[Callable[[bytes], None], Callable[[], None]]]
) -> None:
    """Hand on the parts in their order; raises NotMade for a damaged archive.

    Members are unpacked in the order in which they lie there. Where that is another, this is done again from the
    beginning for the parts that come too late.
    """
    with _opened(path) as opened:
        names = [name for name in opened.getnames() if _base(name) in parts]
    waiting = sorted(names, key=lambda name: parts.index(_base(name)))
    while waiting:
        run = _in_order(waiting, names)
        with _opened(path) as opened:
            opened.extract(targets=run, factory=_factory(start))
        waiting = waiting[len(run) :]


def _in_order(waiting: Sequence[str], names: Sequence[str]) -> list[str]:
    """Take as many of the waiting ones from the first as lie in the archive one behind the other."""
    places = [names.index(name) for name in waiting]
    count = next((i for i in range(1, len(places)) if places[i] < places[i - 1]), len(places))
    return list(waiting[:count])


def _base(name: str) -> str:
    return name.rpartition("/")[2]


@contextmanager
def _opened(path: Path) -> "Iterator[Any]":
    """Open an archive; raises WrongInput without the library, NotMade for what is damaged."""
    try:
        import py7zr
    except ImportError:
        raise WrongInput(
            "reading .7z archives needs py7zr",
            where=path,
            next_step="type: pip install 'talkhouse[make]'; or unpack the archive and name the folder",
        ) from None
    own = (py7zr.exceptions.ArchiveError, py7zr.exceptions.PasswordRequired)
    try:
        # Given a path, py7zr may unpack several members at the same time; given a file, one after the other.
        with path.open("rb") as stream, py7zr.SevenZipFile(stream) as opened:
            yield opened
    except (*own, EOFError, LZMAError, OSError, ValueError) as error:
        raise NotMade(
            "the archive is damaged or cut off; nothing was written",
            where=path,
            expected="a site's archive, whole",
            found=f"{type(error).__name__}: {error}".strip(": "),
            next_step="download it again, and compare its size and checksum with those where it is from",
        ) from error


def _factory(start: Callable[[str], tuple[Callable[[bytes], None], Callable[[], None]]]) -> Any:
    """Make what py7zr asks for a place to write a member to."""
    from py7zr.io import Py7zIO, WriterFactory

    class Member(Py7zIO):
        def __init__(self, name: str) -> None:
            self._feed, self._close = start(_base(name))
            self._size = 0

        def write(self, s: bytes | bytearray) -> int:
            self._feed(bytes(s))
            self._size += len(s)
            return len(s)

        def close(self) -> None:
            self._close()

        def read(self, size: int | None = None) -> bytes:
            del size
            return b""

        def seek(self, offset: int, whence: int = 0) -> int:
            del whence
            return offset

        def flush(self) -> None:
            pass

        def size(self) -> int:
            return self._size

    class Factory(WriterFactory):
        def create(self, filename: str) -> Member:
            return Member(filename)

    return Factory()
