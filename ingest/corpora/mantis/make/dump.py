"""Where the dump of each site is: a folder with its XML files, or a .7z archive that is unpacked while it is read."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from talkhouse.ingest.corpus import NotMade, ReaderMissing, SevenZip, WrongInput, points_outside

PARTS = ("Comments.xml", "Posts.xml", "Users.xml", "Votes.xml")
"""The files that are read, in the order in which they are needed, which is that of an archive's members too."""

_PIECE = 1_000_000
"""Bytes that are read at a time."""

_OWN_HOSTS = (
    "askubuntu.com",
    "mathoverflow.net",
    "serverfault.com",
    "stackapps.com",
    "stackoverflow.com",
    "superuser.com",
)
_ENDINGS = (".stackexchange.com", ".com", ".net")

Feed = Callable[[bytes], None]
Open = Callable[[str], tuple[Feed, Callable[[], None]]]
"""Takes the name of a part; returns what takes its bytes, and what is called at its end."""


@dataclass(frozen=True)
class Site:
    """One site's dump."""

    name: str
    """What dialogues have as their category: the host's name without its ending, such as travel."""
    path: Path
    checksums: dict[str, dict[str, object]] = field(default_factory=dict, compare=False)
    """Bytes and SHA-256 of each file that has been read, in full, by name."""

    @property
    def host(self) -> str:
        """The address at which the site's posts are."""
        own = next((host for host in _OWN_HOSTS if _name_of(host) == self.name), None)
        return own or f"{self.name}.stackexchange.com"

    @property
    def size(self) -> int:
        """Bytes that are read."""
        if self.path.is_dir():
            return sum((self.path / part).stat().st_size for part in PARTS)
        with _opened(self.path) as opened:
            return sum(info.size for info in opened.infolist() if _base(info.name) in PARTS)

    def read(self, start: Open) -> None:
        """Read the parts one after the other; raises NotMade for one that is damaged."""
        if self.path.is_dir():
            for part in PARTS:
                self._read_file(part, *start(part))
        else:
            with _unchanged(self.path):
                read_archive(self.path, PARTS, start)
                with self.path.open("rb") as stream:
                    for _ in _pieces(stream.read, self._sum(self.path.name)):
                        pass

    def _read_file(self, part: str, feed: Feed, close: Callable[[], None]) -> None:
        with _unchanged(self.path / part), (self.path / part).open("rb") as stream:
            for piece in _pieces(stream.read, self._sum(part)):
                feed(piece)
        close()

    def _sum(self, name: str) -> Callable[[int, str], None]:
        def keep(size: int, digest: str) -> None:
            self.checksums[name] = {"bytes": size, "sha256": digest}

        return keep


@contextmanager
def _unchanged(path: Path) -> Iterator[None]:
    """Raise NotMade for a file that is another, or has changed, when it was read: its checksum would be a lie."""

    def state() -> tuple[int, ...]:
        info = path.stat()
        return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns

    before = state()
    yield
    if state() != before:
        raise NotMade(
            "the dump changed while it was read; nothing was written",
            where=path,
            next_step="wait until nothing writes to it any more, and start again",
        )


def _pieces(read: Callable[[int], bytes], done: Callable[[int, str], None]) -> Iterator[bytes]:
    """Yield what is read; then tell its size and SHA-256."""
    checksum, size = sha256(), 0
    for piece in iter(partial(read, _PIECE), b""):
        checksum.update(piece)
        size += len(piece)
        yield piece
    done(size, checksum.hexdigest())


def find(inputs: Sequence[Path], names: Sequence[str]) -> list[Site]:
    """Find the sites of folders and archives; ``names``: only these, in this order.

    Where there is one site and one name, it is the name of this site. Raises WrongInput for what is no dump.
    """
    sites = [Site(_name_of(_host(path)), path) for entry in inputs for path in _dumps(entry)]
    if len(sites) == len(names) == 1:
        return [Site(names[0], sites[0].path)]
    known: dict[str, Site] = {}
    for site in sites:
        if site.name in known:
            raise WrongInput(
                f"the site {site.name} is given twice",
                where=site.path,
                found=f"also {known[site.name].path}",
                next_step="name each site's dump once",
            )
        known[site.name] = site
    return [_picked(name, known, names) for name in names] if names else sites


def _picked(name: str, known: Mapping[str, Site], names: Sequence[str]) -> Site:
    if name not in known or names.count(name) > 1:
        raise WrongInput(
            f"--site {name} is given twice" if name in known else f"there is no dump of the site {name}",
            expected="one of: " + ", ".join(known),
            next_step="name each site once, as its folder or archive is named: travel, travel.stackexchange.com.7z",
        )
    return known[name]


def _dumps(source: Path) -> list[Path]:
    """List the dumps that a path stands for: itself, or those that a folder holds."""
    if source.is_file():
        if source.suffix.lower() != ARCHIVE_SUFFIX:
            _not_a_dump(source, f"a file that is no {ARCHIVE_SUFFIX}")
        check_archive(source, PARTS)
        return [source]
    if not source.is_dir():
        raise WrongInput("there is no such file or folder", where=source, next_step="name a site's folder or .7z")
    if any((source / part).exists() for part in PARTS):
        for part in PARTS:
            if not (source / part).is_file():
                missing(source, part)
        return [source]
    inside = sorted(path for path in source.iterdir() if _is_dump(path))
    if not inside:
        _not_a_dump(source, ", ".join(sorted(path.name for path in source.iterdir())[:5]) or "an empty folder")
    return [dump for path in inside for dump in _dumps(path)]


def _is_dump(path: Path) -> bool:
    return path.suffix.lower() == ARCHIVE_SUFFIX if path.is_file() else any((path / part).is_file() for part in PARTS)


def missing(where: Path, part: str) -> None:
    """Raise NotMade for a dump without one of its files."""
    raise NotMade(
        f"{part} is missing",
        where=where,
        expected=", ".join(PARTS),
        next_step="unpack the site's whole archive; without votes, put an empty <votes></votes> there",
    )


def _not_a_dump(path: Path, found: str) -> None:
    raise WrongInput(
        "this is not the dump of a site",
        where=path,
        expected=f"a folder with {', '.join(PARTS)}, a site's .7z, or a folder of these",
        found=found,
        next_step="see docs/mantis-from-source.md for where dumps are",
    )


def _host(path: Path) -> str:
    name = path.resolve().name
    return name if path.is_dir() else name[: -len(ARCHIVE_SUFFIX)]


def _name_of(host: str) -> str:
    """Return a host's name without its ending: travel, askubuntu, travel.meta."""
    host = host.lower()
    return next((host.removesuffix(ending) for ending in _ENDINGS if host.endswith(ending)), host)


ARCHIVE_SUFFIX = ".7z"
_SHOWN = 8
"""Names that a message has."""


def check_archive(path: Path, parts: Sequence[str]) -> None:
    """Raise NotMade where an archive is damaged or lacks a part; reads its directory only."""
    with _opened(path) as opened:
        names = [info.name for info in opened.infolist()]
    if any(name.lower().endswith(ARCHIVE_SUFFIX) for name in names):
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


def read_archive(path: Path, parts: Sequence[str], start: Open) -> None:
    """Hand on the parts in their order; raises NotMade for a damaged archive.

    Members are unpacked in the order in which they lie there. Where that is another, this is done again from the
    beginning for the parts that come too late.
    """
    with _opened(path) as opened:
        names = [info.name for info in opened.infolist() if _base(info.name) in parts]
        waiting = sorted(names, key=lambda name: parts.index(_base(name)))
        while waiting:
            run = _in_order(waiting, names)
            waiting = waiting[len(run) :]
            pieces = (item for item in opened.pieces() if item[0] in run)
            for name, some in groupby(pieces, key=itemgetter(0)):
                feed, close = start(_base(name))
                for _, piece in some:
                    feed(bytes(piece))
                close()
                run.remove(name)
            for name in run:  # which have no bytes
                start(_base(name))[1]()


def _in_order(waiting: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return as many of the waiting ones, from the first, as lie one after another in the archive."""
    places = [names.index(name) for name in waiting]
    count = next((i for i in range(1, len(places)) if places[i] < places[i - 1]), len(places))
    return list(waiting[:count])


def _base(name: str) -> str:
    return name.rpartition("/")[2]


@contextmanager
def _opened(path: Path) -> Iterator[SevenZip]:
    """Open an archive; raises WrongInput without the library, NotMade for what is damaged."""
    try:
        with closing(SevenZip(io.FileIO(path), path)) as opened:
            yield opened
    except ReaderMissing as error:
        raise WrongInput(error.what, where=path, next_step=error.next_step) from None
    except (ValueError, OSError) as error:
        raise NotMade(
            "the archive is damaged or cut off; nothing was written",
            where=path,
            expected="a site's archive, whole",
            found=str(error),
            next_step="download it again, and compare its size and checksum with those where it is from",
        ) from error
