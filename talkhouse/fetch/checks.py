"""Whether a file is the one that was wanted, or a page in its place, and what that page says or asks."""

from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode, urljoin

from requests import Response

from talkhouse.fetch.client import NotFetched
from talkhouse.fetch.places import parts_of
from talkhouse.ingest.files.archives import START, is_archive
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.seven_zip import ReaderMissing
from talkhouse.ingest.sources import opened
from talkhouse.schema.errors import SourceError
from talkhouse.system.files import sha256_of


@dataclass(frozen=True)
class Expected:
    """What is known of a file before it is fetched; None: not known."""

    sha256: str | None
    size: int | None
    since: str | None = None
    """Where ``sha256`` is that of an earlier download, since none is published: when that was, and the record of it."""


def check(path: Path, name: str, expected: Expected) -> str:
    """Return a file's SHA-256; ``name``: its path in the corpus's folder, which says what it has to be.

    An archive without a known checksum is read to its end, as a build does. Raises NotFetched.
    """
    size = path.stat().st_size
    if not size:
        raise NotFetched("the file is empty")
    with path.open("rb") as stream:
        start = stream.read(START)
    found = sha256_of(path)
    if begins_as_page(start, name) and found != expected.sha256:
        raise NotFetched("a web page came instead of the file", f"{size:,} bytes that begin {start[:60]!r}")
    check_size(size, expected)
    _check_sum(found, expected)
    if expected.sha256 is None and is_archive(start, name):
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
        "the file differs from its first download",
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
    except ReaderMissing:
        return  # its checksum is that of this download; a build says what is missing
    except SourceError as error:
        raise NotFetched(
            "the file can't be opened as an archive",
            f"{error.what}{f' ({error.found})' if error.found else ''}; it begins with {start[:8]!r}",
            advice="if its publisher has another kind of file there, name its path so with --sources FILE",
        ) from error


_FORM = "download-form"

_DRIVE = {"drive.google.com", "drive.usercontent.google.com"}
"""The page of the one has a form that asks the other."""

MOST = 1_000_000
"""Bytes of a page that are read."""

_LONGEST = 200
_BEGINNINGS = (b"<!doctype html", b"<html", b"<head")


def is_page(response: Response, path: str) -> bool:
    """Whether an answer is a page, where the file at that path is none."""
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return kind in ("text/html", "application/xhtml+xml") and not _is_html(path)


def begins_as_page(start: bytes, path: str) -> bool:
    """Whether what came for the file at that path begins as a page does."""
    return start.removeprefix(b"\xef\xbb\xbf").lstrip()[:20].lower().startswith(_BEGINNINGS) and not _is_html(path)


def _is_html(path: str) -> bool:
    return path.lower().endswith((".html", ".htm"))


class Page(HTMLParser):
    """What a page says, and the form with which it asks whether to download."""

    def __init__(self, text: str, url: str) -> None:
        super().__init__()
        self._url, self._inside, self._is_form = url, "", False
        self._action, self._fields, self._title, self._text = "", dict[str, str](), "", ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where the page is, and the fields of the form."""
        self._inside = tag if tag not in ("input", "br", "meta", "link", "img") else self._inside
        named = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._is_form = named.get("id") == _FORM and named.get("method", "get").lower() == "get"
            self._action = named.get("action", "") if self._is_form else self._action
        elif tag == "input" and self._is_form and "name" in named:
            self._fields[named["name"]] = named.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        """Note the end of the form."""
        self._is_form = self._is_form and tag != "form"
        self._inside = ""

    def handle_data(self, data: str) -> None:
        """Keep the title and the words."""
        if self._inside == "title":
            self._title += data
        elif self._inside not in ("script", "style"):
            self._text += f" {data}"

    @property
    def says(self) -> str:
        """The page's title and its first words."""
        title, text = " ".join(self._title.split()), " ".join(self._text.split())
        shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
        return f"a page, {title!r}: {shown}" if title else f"a page: {shown}"

    def confirmed(self) -> str | None:
        """Return the address behind 'download anyway'; None for a page without such a form to its own server."""
        if "confirm" not in self._fields:
            return None
        target = urljoin(self._url, self._action)
        here, there = parts_of(self._url), parts_of(target)
        if here is None or there is None or there.username or there.password:
            return None
        is_same = (here.scheme, here.netloc) == (there.scheme, there.netloc)
        is_drive = there.scheme == "https" and here.scheme == "https" and {here.netloc, there.netloc} <= _DRIVE
        return there._replace(query=urlencode(self._fields), fragment="").geturl() if is_same or is_drive else None
