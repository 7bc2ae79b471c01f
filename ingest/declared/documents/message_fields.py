"""A message on its way in, and the fields that are read alike: names, times, milliseconds."""

from dataclasses import dataclass

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.ingest.declared.documents.talk import Said
from talkhouse.ingest.declared.shapes import LITERAL, Split, is_null, kind_of, text_of
from talkhouse.ingest.declared.times import read_time
from talkhouse.ingest.decode import BadRecord, decoder, pointer
from talkhouse.ingest.outcomes import ReaderFinding

_LARGEST = 2**63 - 1


@dataclass
class Reply:
    """What a message says that it replies to: the id, and what its hole's name ends with."""

    to: str
    suffix: str


class Message:
    """A message on its way in: what was read of it, and what columns take."""

    def __init__(self, split: Split, said: Said) -> None:
        self.split = split
        self.said = said
        self.taken: dict[str, str | None] = {}
        self.reply: Reply | None = None

    def close(self) -> Said:
        """Set shape and extra, now that it is known what columns take."""
        extra: dict[str, Raw] = {}
        self.said.shape = self.split.shape(self.taken, extra)
        self.said.extra = extra or None
        return self.said


def read_name(message: Message, hole: str, path: JsonPath | None) -> str | None:
    """Read a text that names something; None where there is none, which an empty one is too."""
    raw = message.split.find(path)
    if raw is None:
        return None
    if is_null(raw):
        message.taken[hole] = None
        return None
    text, suffix = text_of(raw, message.said.pointer + pointer(*path or ()), f"'{(path or ('',))[-1]}'")
    if not text:
        return None
    message.taken[hole] = hole + suffix
    return text


def read_said_at(message: Message, path: JsonPath, form: str, findings: list[ReaderFinding]) -> None:
    """Read when a message was said; GF-09 where that has another form."""
    text = read_name(message, "said_at", path)
    if text is None:
        return
    hole = message.taken.pop("said_at") or ""
    message.said.said_at, how = read_time(text, form, is_number=hole.endswith(LITERAL))
    if how is not None:
        message.taken["said_at"] = f"said_at@{how}"
    elif message.said.said_at is None:
        detail = f"{text!r:.100} is no time of the form {form}"
        findings.append(ReaderFinding("GF-09", detail, pointer=message.said.pointer + pointer(*path)))


def read_ms(message: Message, hole: str, path: JsonPath) -> int | None:
    """Read milliseconds: an integer that the column holds; what is none stays in extra."""
    raw = message.split.find(path)
    if raw is None or is_null(raw):
        if raw is not None:
            message.taken[hole] = None
        return None
    literal = bytes(raw)
    value = int(literal) if len(literal) < 20 and literal.removeprefix(b"-").isdigit() else None
    if value is None or abs(value) > _LARGEST or str(value).encode() != literal:
        return None
    message.taken[hole] = hole + LITERAL
    return value


def missing(split: Split, path: JsonPath, at: str = "") -> BadRecord:
    """Return the error for a missing member, at the object that does not have it; ``at`` is where ``split`` is."""
    depth = next((depth for depth in range(len(path)) if split.find(path[: depth + 1]) is None), 0)
    return BadRecord("GF-01", f"'{path[depth]}' is missing", at + pointer(*path[:depth]))


def list_path(path: JsonPath | None) -> JsonPath:
    """Return the path of a list, which may be named with its items (``turns[*]``) or without."""
    return path[:-1] if path and path[-1] is None else path or ()


_ITEMS = decoder(list[Raw])


def required(record: Split, path: JsonPath, at: str = "") -> Raw:
    """Return the JSON text at a path inside an object, which is at ``at`` itself; BadRecord GF-01 without it."""
    raw = record.find(path)
    if raw is None:
        raise missing(record, path, at)
    return raw


def items_of(raw: Raw, at: str, what: str) -> list[Raw]:
    """Return the items of a list; BadRecord GF-01 where it is none; ``what`` is called so there."""
    if bytes(raw)[:1] != b"[":
        raise BadRecord("GF-01", f"{what} is {kind_of(raw)}, not a list", at)
    items: list[Raw] = _ITEMS.decode(raw)
    return items
