"""Requests of files: http and https only, no credentials, no redirect unseen; and why a file can't be had."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin

import requests
import urllib3
from requests import PreparedRequest, Response
from urllib3.exceptions import NewConnectionError
from urllib3.util import Retry

from talkhouse.fetch.places import parts_of
from talkhouse.settings import version

_MOST_REDIRECTS = 10

_PERMANENT = (301, 308)

_AGAIN = (408, 425, 429, 500, 502, 503, 504)

_LONGEST_WAIT = 60
"""Seconds that a server may ask for."""

_LONGEST_TOLD = 10**7
"""Seconds that a server is said to ask for."""

_PIECE = 256 * 1024

_MOVED = (404, 410)
"""Answers of a server that may have the file elsewhere by now."""

_REASONS = {
    401: "the server lets nobody have the file without an account",
    403: "the server refuses the file",
    404: "the server has no such file",
    410: "the server has no such file any more",
    429: "the server has had too many requests",
}


def _no_credentials(request: PreparedRequest) -> PreparedRequest:
    """Stand in the place of the user's .netrc, which is for other programs."""
    return request


@dataclass(frozen=True)
class Patience:
    """How long is waited for servers, in seconds."""

    timeout: float = 30
    """Of silence."""
    pause: float = 0.5
    """Before the second try; doubled before each further one."""

    @classmethod
    def of_environment(cls) -> "Patience":
        """Read ``TALKHOUSE_FETCH_TIMEOUT`` and ``TALKHOUSE_FETCH_PAUSE``; what is no number above 0 is ignored."""
        return cls(_seconds(_TIMEOUT, cls.timeout), _seconds(_PAUSE, cls.pause))


class Client:
    """Asks servers; proxies and certificates are those of the environment, as ``requests`` reads them."""

    def __init__(self, patience: Patience) -> None:
        self._timeout = patience.timeout
        self._session = requests.Session()
        self._session.auth = _no_credentials
        self._session.headers.update({"User-Agent": f"talkhouse/{version()}", "Accept-Encoding": "identity"})

    @contextmanager
    def asked(self, url: str, headers: Mapping[str, str]) -> Iterator[tuple[Response, str | None]]:
        """Ask for a file: the answer that has it, its body unread, and the address to which it has moved for good.

        Raises TryAgain or NotFetched for every other answer.
        """
        response, moved = self._followed(url, headers)
        with closing(response):
            if response.status_code not in (200, 206, 416):
                raise _refusal(response)
            yield response, moved

    def _followed(self, url: str, headers: Mapping[str, str]) -> tuple[Response, str | None]:
        moved = None
        for _ in range(_MOST_REDIRECTS + 1):
            response = self._get(url, headers)
            if not response.is_redirect:
                return response, moved
            response.close()
            target = urljoin(url, self._session.get_redirect_target(response) or "")
            check_redirect(url, target)
            url = urldefrag(target).url
            if response.status_code in _PERMANENT:
                moved = _shown(url)
        raise NotFetched("the server redirects in a circle", f"{_MOST_REDIRECTS} redirects, last to {_shown(url)}")

    def _get(self, url: str, headers: Mapping[str, str]) -> Response:
        try:
            return self._session.get(
                url, headers=dict(headers), stream=True, allow_redirects=False, timeout=self._timeout
            )
        except requests.exceptions.SSLError as error:
            raise NotFetched("the server's certificate can't be verified", _root(error)) from error
        except requests.exceptions.ProxyError as error:
            raise TryAgain("the proxy of your environment can't be reached", _root(error), is_down=True) from error
        except requests.exceptions.ConnectionError as error:
            raise _unreached(error, url) from error
        except requests.Timeout as error:
            raise TryAgain("the server does not answer", _root(error)) from error
        except (requests.RequestException, ValueError) as error:
            raise TryAgain("the server's answer can't be read", _root(error)) from error


def pieces(response: Response, *, raw: bool) -> Iterator[bytes]:
    """Yield a body as it comes; ``raw``: without unpacking what was packed for the way. TryAgain where it is cut."""
    decode = "Content-Encoding" in response.headers and not raw
    try:
        # Not read(), which loses what it had of a piece when the connection breaks off.
        while piece := response.raw.read1(_PIECE, decode_content=decode):
            yield piece
    except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        raise TryAgain("the connection broke off", _root(error)) from error


def host_of(url: str) -> str:
    """Return the name of a server, for messages."""
    parts = parts_of(url)
    return parts.netloc.rpartition("@")[2] if parts else url


def check_redirect(url: str, target: str) -> None:
    """Raise NotFetched where a redirect leaves http and https, or encryption, or has a password in it."""
    parts = parts_of(target)
    if parts is None or parts.username or parts.password:
        raise NotFetched("the server redirects to an invalid address", _shown(target))
    if url.startswith("https:") and parts.scheme != "https":
        raise NotFetched("the server redirects to an unencrypted address", _shown(target))


class NotFetched(Exception):
    """A file can't be had, and another try would not change that."""

    def __init__(self, problem: str, found: str = "", *, expected: str = "", advice: str = "") -> None:
        super().__init__(problem)
        self.problem, self.found, self.expected, self.advice = problem, found, expected, advice


class TryAgain(Exception):
    """A try has failed; the next one may not. ``wait``: seconds that the server asks for."""

    def __init__(self, problem: str, found: str = "", *, wait: float | None = None, is_down: bool = False) -> None:
        super().__init__(problem)
        self.problem, self.found, self.wait, self.is_down = problem, found, wait, is_down

    def for_good(self, tries: int) -> NotFetched:
        """Return the error after so many tries without a new byte."""
        kind = ServerDown if self.is_down else NotFetched
        later = "once it can be reached" if self.is_down else "later: the part already fetched is kept"
        advice = f"run the same command again {later}"
        return kind(self.problem, f"{self.found}, {tries} times in a row", advice=advice)


def _refusal(response: Response) -> TryAgain | NotFetched:
    """Return the error for an answer without the file."""
    status = response.status_code
    found = f"{status} {response.reason or ''}".strip() + f" from {_shown(response.url)}"
    problem = _REASONS.get(status, "the server fails" if status >= 500 else "the server answers with something else")
    if status not in _AGAIN:
        advice = "if it has moved, name the new address with --sources FILE" if status in _MOVED else ""
        return NotFetched(problem, found, advice=advice)
    wait = _asked_wait(response)
    if wait is not None and wait > _LONGEST_WAIT:
        return NotFetched(problem, found, advice=f"run the same command again in {_duration(wait)}, as it asks")
    return TryAgain(problem, found, wait=wait)


def _asked_wait(response: Response) -> float | None:
    try:
        asked = response.headers.get("Retry-After")
        return None if asked is None else Retry(retry_after_max=_LONGEST_TOLD).parse_retry_after(asked)
    except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
        return None


def _duration(seconds: float) -> str:
    return f"{seconds / 60:,.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.0f} hours"


def _unreached(error: requests.exceptions.ConnectionError, url: str) -> TryAgain:
    """Return the error of a server that can't be reached, or that closed the connection."""
    reason = getattr(error.args[0] if error.args else None, "reason", None)
    if isinstance(reason, NewConnectionError) or isinstance(error, requests.exceptions.ConnectTimeout):
        problem = f"{host_of(url)} can't be reached: no network, no such server, or nothing answers there"
        return TryAgain(problem, _root(error), is_down=True)
    return TryAgain("the server closed the connection", _root(error))


def _root(error: BaseException) -> str:
    """Return the message of the innermost exception, on one line."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    return " ".join(f"{type(error).__name__}: {error}".split())


_TIMEOUT, _PAUSE = "TALKHOUSE_FETCH_TIMEOUT", "TALKHOUSE_FETCH_PAUSE"

_USERINFO = re.compile(r"//[^/@]*@")
_QUERY = re.compile(r"\?.*")


class ServerDown(NotFetched):
    """The server can't be reached at all, so that its other files can't be had either."""


def _seconds(variable: str, default: float) -> float:
    try:
        seconds = float(os.environ.get(variable, ""))
    except ValueError:
        return default
    return seconds if 0 < seconds < float("inf") else default


def _shown(url: str) -> str:
    """Return an address for a message, without what may be a password or a token in it."""
    return _QUERY.sub("?...", _USERINFO.sub("//...@", url))
