"""Why a file can't be had: for good, or only at this try."""

import os
import re
from dataclasses import dataclass

_TIMEOUT, _PAUSE = "TALKHOUSE_FETCH_TIMEOUT", "TALKHOUSE_FETCH_PAUSE"

_USERINFO = re.compile(r"//[^/@]*@")
_QUERY = re.compile(r"\?.*")


class NotFetched(Exception):
    """A file can't be had, and another try would not change that."""

    def __init__(self, problem: str, found: str = "", *, expected: str = "", advice: str = "") -> None:
        super().__init__(problem)
        self.problem, self.found, self.expected, self.advice = problem, found, expected, advice


class ServerDown(NotFetched):
    """The server can't be reached at all, so that its other files can't be had either."""


class TryAgain(Exception):
    """A try has failed; the next one may not. ``wait``: seconds that the server asks for."""

    def __init__(self, problem: str, found: str = "", *, wait: float | None = None, is_down: bool = False) -> None:
        super().__init__(problem)
        self.problem, self.found, self.wait, self.is_down = problem, found, wait, is_down

    def for_good(self, tries: int) -> NotFetched:
        """Return what it comes to after so many tries without a new byte."""
        kind = ServerDown if self.is_down else NotFetched
        later = "once it can be reached" if self.is_down else "later: what is here of it is kept"
        advice = f"run the same command again {later}"
        return kind(self.problem, f"{self.found}, {tries} times in a row", advice=advice)


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


def _seconds(variable: str, default: float) -> float:
    try:
        seconds = float(os.environ.get(variable, ""))
    except ValueError:
        return default
    return seconds if 0 < seconds < float("inf") else default


def shown(url: str) -> str:
    """Return an address for a message, without what may be a password or a token in it."""
    return _QUERY.sub("?...", _USERINFO.sub("//...@", url))
