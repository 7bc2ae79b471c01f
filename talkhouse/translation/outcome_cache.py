"""What came of each view, kept by all that it depends on: most views are those of the run before."""

from collections.abc import Callable
from hashlib import sha256
from importlib.metadata import version as installed

import duckdb
import msgspec

from talkhouse import migrations, queries, schema, translation
from talkhouse.system.cache import Cache, code_of, key_of

_KEPT = Cache("views", ".msgpack", most=2)
_MOST = 2_000
"""Views that are kept; with more, only those of the last run are."""

_DIGEST = 32


class Translated(msgspec.Struct, frozen=True, tag=True):
    """A query in Spark SQL."""

    sql: str
    rules: list[str]
    """The rules that changed something."""
    reads: list[str]
    """The tables and views that it reads."""


class NotTranslated(msgspec.Struct, frozen=True, tag=True):
    """Why a view can't be translated, and which construct of it."""

    reason: str


Outcome = Translated | NotTranslated


class Outcomes:
    """What came of views: kept from earlier runs, or made now."""

    def __init__(self) -> None:
        self._before = _read()
        self._now: dict[str, Outcome] = {}

    def get_or_make(self, key: str, make: Callable[[], Outcome]) -> Outcome:
        """Return what is kept under the hash of what a view depends on, or else make it."""
        outcome = self._now.get(key) or self._before.get(key) or make()
        self._now[key] = outcome
        return outcome

    def keep(self) -> None:
        """Keep what was made, beside what was kept before."""
        if not self._now.keys() <= self._before.keys():
            both = {**self._before, **self._now}
            content = msgspec.msgpack.encode(both if len(both) <= _MOST else self._now)
            _KEPT.keep(sha256(content).digest() + content, key_of(made_by()))


def made_by() -> bytes:
    """Hash what decides how any view is translated: versions, and Talkhouse's own code."""
    versions = f"DuckDB {duckdb.__version__}, sqlglot {installed('sqlglot')} "
    return versions.encode() + code_of(schema, migrations, queries) + code_of(translation)


def _read() -> dict[str, Outcome]:
    """Return what is kept; nothing where it is damaged."""
    content = _KEPT.read(key_of(made_by())) or b""
    if sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
        return {}
    try:
        return msgspec.msgpack.decode(content[_DIGEST:], type=dict[str, Outcome])
    except (ValueError, RecursionError):
        return {}
