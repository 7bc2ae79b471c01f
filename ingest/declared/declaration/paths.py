"""Paths in ``corpus.toml``: the part of JSONPath (RFC 9535) that leads to one place, or to every item of lists."""

import re
from typing import NamedTuple

from talkhouse.ingest.declared.declaration.model import NO_PATH, JsonPath

_SEGMENT = re.compile(
    r"""\[\*\] | \[ '((?:[^'\\]|\\.)*+)' \] | \[ "((?:[^"\\]|\\.)*+)" \] | \. ([^.\[\]*'"]+)""", re.VERBOSE | re.DOTALL
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

FORM = "names with '.' between them, ['a name'] for any other, [*] for every item of a list"


class BadPath(ValueError):
    """A text that is no path; its message says why."""


class Path(NamedTuple):
    """A path, and whether it begins at the record (``$.``) rather than at the place that it is for."""

    names: JsonPath
    from_record: bool


def read_path(text: str) -> Path:
    """Read a path, ``labels.quality.value``; raises BadPath."""
    from_record = text == "$" or text.startswith(("$.", "$["))
    rest = text[1:] if from_record else text if text.startswith("[") else f".{text}"
    names: list[str | None] = []
    at = 0
    while at < len(rest):
        segment = _SEGMENT.match(rest, at)
        if segment is None:
            raise BadPath(_problem(text, rest[at:]))
        names.append(_name(segment))
        at = segment.end()
    return Path(tuple(names) or NO_PATH, from_record)


def path_text(path: JsonPath) -> str:
    """Write a path as a declaration has it."""
    if path == NO_PATH:
        return "$"
    parts = [_segment(name) for name in path]
    return parts[0].removeprefix(".") + "".join(parts[1:])


def _name(segment: re.Match[str]) -> str | None:
    """Return the name of a segment, None for [*]."""
    single, double, plain = segment.groups()
    if plain is not None:
        return plain
    quoted = single if single is not None else double
    return None if quoted is None else _ESCAPED.sub(r"\1", quoted)


def _segment(name: str | None) -> str:
    if name is None:
        return "[*]"
    if name and name != "$" and not set(name) & set(".[]*'\"\\$#"):
        return f".{name}"
    return "['" + name.replace("\\", "\\\\").replace("'", "\\'") + "']"


def _problem(text: str, rest: str) -> str:
    """Return what is wrong where a path can't be read on."""
    if not text:
        return "an empty path leads nowhere"
    if rest.startswith("[") and "]" not in rest:
        return f"{text!r:.80}: a '[' without its ']'"
    if re.match(r"\[-?\d+\]", rest):
        return f"{text!r:.80} asks for one item of a list; a path leads to every item: [*]"
    if rest.startswith(".*"):
        return f"{text!r:.80}: every item of a list is [*], without '.'"
    if rest.startswith("."):
        return f"{text!r:.80}: no name behind a '.'"
    return f"{text!r:.80} can't be read from {rest!r:.80} on"
