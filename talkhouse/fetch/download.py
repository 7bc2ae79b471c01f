"""One file on its way: asked for, continued where it was cut, and checked; two versions of it are never joined."""

import os
import re
import time
from pathlib import Path
from secrets import SystemRandom
from shutil import disk_usage
from typing import BinaryIO

import msgspec
from requests import Response

from talkhouse.fetch import checks
from talkhouse.fetch.checks import Expected, check, check_size
from talkhouse.fetch.client import Client, NotFetched, Patience, TryAgain, host_of, pieces
from talkhouse.ingest.corpus import Source
from talkhouse.ingest.progress import Progress

MOST = 64 * 10**9
"""Bytes of a file of unknown size."""

_TRIES = 5
"""Without a new byte."""

_RESTARTS = 3
"""Times that a file may change while it is fetched."""

_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class PartialVersion(msgspec.Struct, frozen=True):
    """What is known of the version of a partly fetched file."""

    url: str
    validator: str | None
    """A strong ETag, or else the time of its last change: by which a server distinguishes two versions."""
    total: int | None
    """Bytes that it has as a whole."""


class Download:
    """One file on its way to ``part``."""

    def __init__(
        self, source: Source, expected: Expected, part: Path, client: Client, patience: Patience, progress: Progress
    ) -> None:
        self.moved: str | None = None
        """The address to which the file has moved for good."""
        self._source, self._expected = source, expected
        self._client, self._patience, self._progress = client, patience, progress
        self.part = PartialFile(part)
        self._best = self._restarts = 0
        self._is_certain = self._is_second = False
        self._was_packed = False

    def run(self) -> str:
        """Fetch the file, and return its SHA-256. Raises NotFetched; OSError, such as for a full disk.

        What is here of it stays for another run, but for a whole file that turns out to be wrong.
        """
        self.part.load(self._source.url)
        while True:
            self._complete()
            self._progress.begin(f"checking {self._source.path}", unit="")
            try:
                return check(self.part.path, self._source.path, self._expected)
            except NotFetched:
                self.part.clear()
                if self._is_certain or self._is_second:
                    raise
                # It was put together, or its length was not known: it may have been cut without a word.
                self._is_second, self._best = True, 0

    def _complete(self) -> None:
        """Try until all bytes are here."""
        failures = 0
        while not self._is_whole():
            try:
                self._try()
                return
            except TryAgain as error:
                reached = self.part.size
                failures = 0 if reached > self._best else failures + 1
                self._best = max(self._best, reached)
                if failures >= _TRIES:
                    raise error.for_good(_TRIES) from error
                self._wait(error, failures)

    def _is_whole(self) -> bool:
        """Whether an earlier run had all bytes, and was ended before it could check them."""
        known = self.part.known
        return known is not None and known.total is not None and self.part.size == known.total > 0

    def _wait(self, error: TryAgain, failures: int) -> None:
        pause = self._patience.pause * 2 ** max(failures - 1, 0)
        seconds = pause * SystemRandom().uniform(1, 1.25) if error.wait is None else error.wait
        self._progress.begin(f"{error.problem}; again in {seconds:,.0f} s", unit="")
        time.sleep(seconds)

    def _try(self) -> None:
        headers = self._conditions()
        with self._client.asked(self._source.url, headers) as (response, moved):
            self.moved = moved
            if response.status_code == 416 or not checks.is_page(response, self._source.path):
                self._take(response)
                return
            question = _page(response)
        answer = question.confirmed()
        if answer is None:
            raise NotFetched("a web page came instead of the file", question.says)
        with self._client.asked(answer, headers) as (response, _):
            if checks.is_page(response, self._source.path):
                raise NotFetched("a web page came instead of the file", _page(response).says)
            self._take(response)

    def _conditions(self) -> dict[str, str]:
        """Return the headers that ask for the rest, if that is safe; otherwise the part is of no use."""
        known, size = self.part.known, self.part.size
        if known is None or not size or not (known.validator or self._expected.sha256):
            return {}
        return {"Range": f"bytes={size}-", **({"If-Range": known.validator} if known.validator else {})}

    def _take(self, response: Response) -> None:
        """Write the body of an answer behind what it goes on from, or as a file from its begin."""
        known, offset = self.part.known, self.part.size
        if response.status_code == 416:
            if known is None or response.headers.get("Content-Range") != f"bytes */{offset}":
                raise self._restart("the server has no rest of the file")
            self._is_certain = False
            return
        if response.status_code == 206:
            self._check_rest(response, known, offset)
        else:
            self._begin(response, resumed=offset > 0)
        self._receive(response)

    def _check_rest(self, response: Response, known: PartialVersion | None, offset: int) -> None:
        """Raise TryAgain, from the begin, where an answer is not the rest of what is here."""
        match = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        total = int(match[2]) if match and match[2] != "*" else None
        same = (
            known is not None
            and match is not None
            and int(match[1]) == offset > 0
            and (known.total is None or total in (None, known.total))
            and _validator(response) in (None, known.validator)
            and "Content-Encoding" not in response.headers
        )
        if not same:
            raise self._restart("the file has changed on the server, or the rest of it is not what was asked for")
        self._is_certain = False

    def _begin(self, response: Response, *, resumed: bool) -> None:
        """Begin a version of the file. Raises NotFetched where it can't be the file, or there is no room."""
        if resumed and self.part.known and _validator(response) != self.part.known.validator:
            self._count_restart("the file has changed on the server")
        self._was_packed = "Content-Encoding" in response.headers
        total = None if self._was_packed else _length(response)
        if total is not None:
            check_size(total, self._expected)
            self._check_most(total)
        known = PartialVersion(self._source.url, None if self._was_packed else _validator(response), total)
        self.part.begin(known)
        if total is not None and total > disk_usage(self.part.path.parent).free:
            raise NotFetched("there is no room for the file", f"it has {total:,} bytes", advice="make room")
        self._is_certain = total is not None

    def _receive(self, response: Response) -> None:
        known, size = self.part.known, self.part.size
        total = known.total if known else None
        verb = "continuing" if size else "fetching"
        self._progress.begin(
            f"{verb} {self._source.path} from {host_of(response.url)}", size=(total or 0) - size, unit=""
        )
        # A .tar.gz that a server calls packed for the way is perhaps only named so: the second try leaves it as it is.
        raw = self._was_packed and self._is_second and self._source.path.endswith((".gz", ".tgz"))
        with self.part.open() as stream:
            for piece in pieces(response, raw=raw):
                size += len(piece)
                self._check_most(size)
                stream.write(piece)
                self._progress.advance(0, len(piece))
        if total is not None and size != total:
            raise TryAgain("the connection broke off", f"{size:,} of {total:,} bytes came")

    def _check_most(self, size: int) -> None:
        most = MOST if self._expected.size is None else self._expected.size
        if size > most:
            self.part.clear()
            raise NotFetched("the file exceeds the size limit", f"{size:,} bytes or more", expected=f"{most:,} at most")

    def _restart(self, reason: str) -> TryAgain:
        self._count_restart(reason)
        self.part.clear()
        return TryAgain(reason, "it is fetched from the beginning", wait=0)

    def _count_restart(self, reason: str) -> None:
        self._restarts, self._best = self._restarts + 1, 0
        if self._restarts > _RESTARTS:
            self.part.clear()
            raise NotFetched(f"{reason}, each time again", f"{self._restarts} times", advice="run it again later")


def _page(response: Response) -> checks.Page:
    """Read a page, but no more of it than a page has."""
    text = b""
    for piece in pieces(response, raw=False):
        text += piece
        if len(text) > checks.MOST:
            break
    return checks.Page(text[: checks.MOST].decode(response.encoding or "utf-8", errors="replace"), response.url)


def _validator(response: Response) -> str | None:
    """Return the identifier of this version: a strong ETag, or else when it was last changed."""
    etag = response.headers.get("ETag")
    return etag if etag and etag.startswith('"') else response.headers.get("Last-Modified")


def _length(response: Response) -> int | None:
    text = response.headers.get("Content-Length", "")
    return int(text) if text.isascii() and text.isdigit() else None


class PartialFile:
    """The bytes at the begin of one version of a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._facts = path.with_name(f"{path.name}.json")
        self.known: PartialVersion | None = None

    def load(self, url: str) -> None:
        """Load what an earlier run left from the same address; anything else is removed."""
        try:
            known = msgspec.json.decode(self._facts.read_bytes(), type=PartialVersion)
        except (OSError, msgspec.DecodeError):
            known = None
        if known is None or known.url != url or self.path.is_symlink() or not self.path.is_file():
            self.clear()
        else:
            self.known = known

    @property
    def size(self) -> int:
        """Bytes that are here."""
        return self.path.stat().st_size if self.known else 0

    def begin(self, known: PartialVersion) -> None:
        """Start from nothing with a version of the file. Raises OSError."""
        self.clear()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._facts.write_bytes(msgspec.json.encode(known))
        with self.open():
            self.known = known

    def open(self) -> BinaryIO:
        """Open it to write at its end; no link is followed. Raises OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        return os.fdopen(os.open(self.path, flags, 0o666), "ab")

    def clear(self) -> None:
        """Remove it."""
        self.known = None
        self.path.unlink(missing_ok=True)
        self._facts.unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove what is known of it, once it has been moved to where it belongs."""
        self.known = None
        self._facts.unlink(missing_ok=True)
