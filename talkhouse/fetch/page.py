"""Pages in the place of a file: the question whether a large file is really wanted, or what else they say."""

from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin

from requests import Response

from talkhouse.fetch.addresses import parts_of

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
