"""JSON in ASCII alone: ConvoKit opens its files in whatever encoding the locale has."""

import codecs
from collections.abc import Sequence
from json.encoder import encode_basestring_ascii
from typing import BinaryIO

import duckdb

from talkhouse.query.expressions import Column, json_object
from talkhouse.query.row_stream import OnRows, Rows

_ESCAPED = "talkhouse.json"


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Return a run of other characters as JSON escapes them, those beyond 16 bits as a pair of surrogates."""
    assert isinstance(error, UnicodeEncodeError)  # noqa: S101 - it is for encoding only
    return encode_basestring_ascii(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_ESCAPED, _escaped)


class Lines:
    """A file of rows as JSON objects, one a line."""

    def __init__(self, con: duckdb.DuckDBPyConnection, stream: BinaryIO) -> None:
        self._con, self._stream, self.rows = con, stream, 0

    def write(self, query: str, on_rows: OnRows) -> None:
        """Write the rows of a query; it may be called again and again."""
        rows = Rows(self._con, self._con.sql(query), on_rows=on_rows)
        for lines in rows.lines(json_object):
            self._stream.write(in_ascii(lines))
        self.rows += rows.count


class Mapping:
    """A file of one JSON object, a line for each member: the first column of a row is the key, the others the value."""

    def __init__(self, con: duckdb.DuckDBPyConnection, stream: BinaryIO) -> None:
        self._con, self._stream, self.rows = con, stream, 0

    def write(self, query: str) -> None:
        """Write the rows of a query; it may be called again and again."""
        rows = Rows(self._con, self._con.sql(query))
        for lines in rows.lines(_member):
            # Each member begins with a comma, the first one with the brace instead.
            text = in_ascii(lines)
            self._stream.write(text if self._stream.tell() else b"{" + text[1:])
        self.rows += rows.count

    def end(self) -> None:
        """Close the object."""
        self._stream.write(b"}\n" if self._stream.tell() else b"{}\n")


def in_ascii(text: bytes) -> bytes:
    """Return JSON in UTF-8 as the same JSON in ASCII."""
    return text if text.isascii() else text.decode().encode("ascii", _ESCAPED)


def _member(columns: Sequence[Column]) -> str:
    key, *value = columns
    return f"concat(',', {key.as_json()}, ':', {json_object(value)})"
