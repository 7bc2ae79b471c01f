"""A row as text: the line that COPY reads, and a hash that DuckDB and PostgreSQL compute alike.

The hash is the first half of the MD5 of the row's values, one after the other. Before a text stands its length in
bytes, behind anything else a comma; ``concat``, which both have, leaves nulls out. So ``3:abc`` is a text, ``0:`` an
empty one and ``:`` a null, and no two rows are written alike. Hashes are added up: the order of rows does not matter.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from talkhouse.postgres.column_types import ColumnType
from talkhouse.schema.sql import quoted

_FIELDS = 30
"""Columns of one ``concat``: PostgreSQL takes 100 arguments, and a text has three."""

_MODULUS = 2**64


class Proof(NamedTuple):
    """What is equal where the rows are: their number, and the sum of their hashes."""

    rows: int
    hash: str
    """16 hex digits."""


class Column(NamedTuple):
    """A column of a relation that is published."""

    name: str
    type: ColumnType
    meaning: str | None


def line(columns: Iterable[Column]) -> str:
    """Write the expression of DuckDB that makes of a row a line for COPY."""
    # One ``concat``: a chain of || would write the line anew for each column, and takes four times as long.
    return f"concat({', chr(9), '.join(map(_field, columns))}, chr(10))"


def _field(column: Column) -> str:
    text = column.type.copied(quoted(column.name))
    for character, escaped in ((92, r"\\"), (10, r"\n"), (13, r"\r"), (9, r"\t")) if column.type.is_long else ():
        text = f"replace({text}, chr({character}), '{escaped}')"
    return rf"coalesce({text}, '\N')"


def hash_here(columns: Sequence[Column]) -> str:
    """Write DuckDB's expression of a row's hash."""
    fields = [_hashed(column.type.here(quoted(column.name)), column.type, "strlen") for column in columns]
    return f"('0x' || left(md5({_concat(fields)}), 16))::ubigint"


def select_proof_here(columns: Sequence[Column], relation: str) -> str:
    """Write DuckDB's query of the number of rows and the sum of their hashes."""
    return f"select count(*), sum({hash_here(columns)}) from {relation}"


def select_proof_there(columns: Sequence[Column], relation: str) -> str:
    """Write PostgreSQL's query of the number of rows and the sum of their hashes, each a signed number."""
    fields = [_hashed(column.type.there(quoted(column.name)), column.type, "octet_length") for column in columns]
    return f"select count(*), sum(('x' || left(md5({_concat(fields)}), 16))::bit(64)::bigint) from {relation}"


def proof(rows: int, total: Any) -> Proof:
    """Return what is compared; ``total`` is the sum of hashes, or None where there are no rows."""
    return Proof(rows, f"{int(total or 0) % _MODULUS:016x}")


def _hashed(text: str, kind: ColumnType, length: str) -> str:
    return f"{length}({text}), ':', {text}" if kind.is_long else f"{text}, ','"


def _concat(fields: Sequence[str]) -> str:
    parts = [fields[start : start + _FIELDS] for start in range(0, len(fields), _FIELDS)]
    return " || ".join(f"concat({', '.join(part)})" for part in parts)
