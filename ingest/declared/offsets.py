"""Offsets from UTC: the times of a file that has several are stored in UTC, so that answers are behind questions."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeAlias

import msgspec

from talkhouse.ingest.declared.declaration.model import ISO, Declaration, JsonPath
from talkhouse.ingest.declared.record_files.content import RecordFile
from talkhouse.ingest.declared.times import offset_of
from talkhouse.ingest.outcomes import ReaderFinding

SAID_AT, STARTED_AT = "said_at", "started_at"

Offset: TypeAlias = timedelta | None
"""The offset of a time; None where it has none."""


class Offsets:
    """The offsets of the times of a file, by their keys."""

    def __init__(self) -> None:
        self._of_keys: defaultdict[str, set[Offset]] = defaultdict(set)
        self.has_others = False
        """Whether a text is no time, of which nobody knows the offset."""

    def add(self, key: str, offset: Offset) -> None:
        """Note that a time has an offset, or has none."""
        self._of_keys[key].add(offset)

    @property
    def are_several(self) -> bool:
        """Whether there are two or more."""
        return len(set[Offset]().union(*self._of_keys.values()) - {None}) > 1

    @property
    def mixed(self) -> str | None:
        """A key of which some times have an offset and some have none: nobody knows the order of these."""
        return next((key for key, offsets in self._of_keys.items() if None in offsets and len(offsets) > 1), None)

    @property
    def is_utc(self) -> bool:
        """Whether the times are stored in UTC; a key of which none has an offset does not count."""
        return self.are_several and self.mixed is None and not self.has_others

    def findings(self) -> Iterator[ReaderFinding]:
        """Yield what there is to say of a file of which some times have an offset and some have none."""
        if self.mixed is not None:
            detail = f"some times of {self.mixed} have an offset from UTC and some have none: all are stored as written"
            yield ReaderFinding("GF-25", detail)


def paths_of_times(declaration: Declaration) -> list[JsonPath]:
    """Return where documents have times that may have an offset."""
    tables: dict[str, Any] = {SAID_AT: declaration.turn, STARTED_AT: declaration.dialogue}
    paths = [
        path
        for key, table in tables.items()
        if declaration.times.get(key, ISO) == ISO
        for path in (getattr(table, key), *table.fallbacks.get(key, ()))
    ]
    return [path for path in paths if path]


def with_form(declaration: Declaration, form: str) -> Declaration:
    """Return a declaration whose times in ISO 8601 have another form: ISO_UTC, or ISO_OFFSET."""
    forms = dict.fromkeys((SAID_AT, STARTED_AT), form) | dict(declaration.times)
    return declaration if form == ISO else replace(declaration, times=forms)


def offsets_of_names(records: RecordFile, paths: Collection[JsonPath]) -> set[Offset]:
    """Return the offsets of all times in a file that are members of the last names of these paths, wherever they are.

    Where a path ends with an item of a list, those of all texts count.

    Takes two to three hundredths of the time that loading them takes.
    """
    names = frozenset(next((name for name in reversed(path) if isinstance(name, str)), "") for path in paths)
    keys = {key for name in names for key in (msgspec.json.encode(name), json.dumps(name).encode())}
    is_member = all(isinstance(path[-1], str) for path in paths)
    time = rb"(?:%s)[ \t\r\n]*:[ \t\r\n]*" % b"|".join(map(re.escape, sorted(keys))) if is_member else b""
    time += rb'"\d[^"\\]{9}[^"\\]?+[ :.,\d]*+'
    pattern = another = re.compile(time + rb'((?:[^"\\]|\\.){0,40})"')  # no offset is longer, be it all escapes
    endings = set[bytes]()
    for piece in records.glance(names):
        # Mostly all times end in the same way, so that a search for another ending makes no text of each.
        if another.search(piece):
            endings.update(pattern.findall(piece))
            another = re.compile(time + rb'(?!(?:%s)")' % b"|".join(map(re.escape, endings)))
    return {offset for ending in endings for offset in _offsets(ending)}


def _offsets(ending: bytes) -> Iterator[Offset]:
    """Yield the offset that a time ends with, where it is a time; some programs write ``+`` as an escape."""
    try:
        yield offset_of("2026-01-02T03:04:05" + msgspec.json.decode(b'"' + ending + b'"', type=str))
    except (ValueError, msgspec.DecodeError):
        return
