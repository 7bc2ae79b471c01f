"""Texts in columns and what the file has: a JSON string, or a literal that the column holds as a text."""

from decimal import Decimal

import msgspec
from msgspec import Raw

from talkhouse.ingest.decode import BadRecord, decoder

LITERAL = "#"
"""Behind a hole's name in a shape: the file has the column's text as a literal, a number say, not as a string."""

EMPTY = '=""'
"""Behind a hole's name in a shape: the file has an empty text there, which no column has."""

_STRING = decoder(str)


def rounded(text: str, value: float) -> str | None:
    """Return a message if a double can't hold a large number of a file exactly; else None."""
    if abs(value) < 2**53 or Decimal(text) in (Decimal(value), Decimal(repr(value))):
        return None
    return f"{text:.100} is rounded to {value!r}"


def is_null(raw: Raw) -> bool:
    """Whether a JSON text is null."""
    return bytes(raw) == b"null"


def text_of(raw: Raw, pointer: str, what: str) -> tuple[str, str]:
    """Return a JSON string, or the literal of a number or boolean, as a text; and what the hole's name ends with.

    Raises BadRecord GF-01 for null, a list or an object; ``what`` is called there, at ``pointer``.
    """
    text = bytes(raw)
    match text[:1]:
        case b'"':
            return _STRING.decode(text), ""
        case b"{" | b"[" | b"n":
            raise BadRecord("GF-01", f"{what} is {_KINDS[text[:1]]}, not a text", pointer)
    return text.decode(), LITERAL


def string_of(raw: Raw, pointer: str, what: str) -> str:
    """Return a JSON string; raises BadRecord GF-01 for any other value."""
    text = bytes(raw)
    if text[:1] != b'"':
        raise BadRecord("GF-01", f"{what} is {kind_of(raw)}, not a text", pointer)
    value: str = _STRING.decode(text)
    return value


def kind_of(raw: Raw) -> str:
    """Say in words what a JSON text is."""
    return _KINDS.get(bytes(raw)[:1], "a number")


def write_text(hole: str, text: str) -> bytes:
    """Return the JSON text of a column's text, by the hole's name in the shape."""
    return text.encode() if hole.endswith(LITERAL) else msgspec.json.encode(text)


_KINDS = {
    b"{": "an object",
    b"[": "a list",
    b"n": "null",
    b'"': "a text",
    b"t": "a boolean",
    b"f": "a boolean",
}
