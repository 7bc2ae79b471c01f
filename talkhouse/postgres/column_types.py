"""What columns and rows of DuckDB become in PostgreSQL: types, lines that COPY reads, and hashes that both compute."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from talkhouse.schema.sql import literal, quoted

_Expression = Callable[[str], str]
"""Writes an SQL expression of a column, or of an item of a list."""

_ITEMS = {
    "BIGINT": "bigint",
    "BOOLEAN": "boolean",
    "INTEGER": "integer",
    "SMALLINT": "smallint",
    "TINYINT": "smallint",
    "UINTEGER": "bigint",
    "USMALLINT": "integer",
    "UTINYINT": "smallint",
}
"""Types whose values JSON has too, and both write alike."""

_SCALARS = _ITEMS | {
    "DATE": "date",
    "HUGEINT": "numeric(39)",
    "TIMESTAMP": "timestamp",
    "UBIGINT": "numeric(20)",
    "UUID": "uuid",
}
"""Types whose values both write alike."""

_FLOATS = {"DOUBLE": "double precision", "FLOAT": "real"}
_DECIMAL = re.compile(r"DECIMAL(\(\d+,\d+\))")

_SHORT = {8: r"\b", 9: r"\t", 10: r"\n", 12: r"\f", 13: r"\r"}


def _controls_escaped(text: str) -> str:
    """Write control characters as PostgreSQL's JSON does; DuckDB's has capitals in some."""
    for code in range(1, 32):
        escaped = _SHORT.get(code, f"\\u{code:04x}")
        text = f"replace({text}, chr({code}), '{escaped}')"
    return text


SETUP = (
    r"""create or replace temp macro escaped(x) as replace(replace(x, '\', '\\'), '"', '\"')""",
    f"create or replace temp macro controls_escaped(x) as {_controls_escaped('x')}",
    r"""create or replace temp macro json_text(x) as '"' || """
    r"""if(regexp_matches(x, '[\x01-\x1f]'), controls_escaped(escaped(x)), escaped(x)) || '"'""",
)
"""Statements for a connection to DuckDB that is to run the expressions below."""


@dataclass(frozen=True)
class ColumnType:
    """A column's type in PostgreSQL, and expressions of its values. All of them are null where the value is."""

    name: str
    copied: _Expression
    """In DuckDB: the text that PostgreSQL reads, before what COPY needs is escaped."""
    here: _Expression
    """In DuckDB: a text that tells values apart."""
    there: _Expression
    """In PostgreSQL: the same text for the same value."""
    is_long: bool
    """Whether any character may be in that text, so that only its length tells where it ends."""
    may_have_nul: bool = False
    """Whether it has texts, in which a NUL may be; PostgreSQL can't store it."""
    is_float: bool = False


def column_type(duckdb_type: str, replacement: str | None = None) -> ColumnType | None:
    """Return the type for a type of DuckDB, or None if none fits. ``replacement`` is for NUL in texts."""
    if duckdb_type == "VARCHAR":
        text = _replaced(replacement)
        return ColumnType("text", text, text, lambda x: x, True, True)
    if duckdb_type == "JSON":
        return ColumnType("json", _varchar, _varchar, _text, True)
    if duckdb_type == "BLOB":
        return ColumnType(
            "bytea", lambda x: rf"'\x' || hex({x})", lambda x: f"lower(hex({x}))", lambda x: f"encode({x}, 'hex')", True
        )
    if duckdb_type in _FLOATS:
        return ColumnType(_FLOATS[duckdb_type], _varchar, _bits, _bits_there, False, is_float=True)
    if duckdb_type.endswith("[]"):
        return _list(duckdb_type.removesuffix("[]"), replacement)
    decimal = _DECIMAL.fullmatch(duckdb_type)
    name = f"numeric{decimal[1]}" if decimal else _SCALARS.get(duckdb_type)
    return ColumnType(name, _varchar, _varchar, _text, False) if name else None


def _list(item_type: str, replacement: str | None) -> ColumnType | None:
    """Return an array; a list of lists may be ragged, which no array is, and becomes JSON."""
    if item_type in _FLOATS:
        name, copied = f"{_FLOATS[item_type]}[]", _joined(_varchar, "{", "}", "NULL")
        return ColumnType(name, copied, _joined(_bits, "[", "]"), _bits_of_items_there, True, is_float=True)
    is_nested = item_type.endswith("[]")
    json, item = _json(f"{item_type}[]", replacement, ", " if is_nested else ","), column_type(item_type, replacement)
    if json is None or item is None:
        return None
    if is_nested:
        return ColumnType("jsonb", json, json, _text, True, item.may_have_nul)
    copied = _joined(lambda x: f"'\"' || escaped({item.copied(x)}) || '\"'", "{", "}", "NULL")
    return ColumnType(f"{item.name}[]", copied, json, lambda x: f"array_to_json({x})::text", True, item.may_have_nul)


def _json(duckdb_type: str, replacement: str | None, separator: str = ",") -> _Expression | None:
    """Return the JSON of a text, a number or a list of these, as PostgreSQL writes it."""
    if duckdb_type == "VARCHAR":
        return lambda x: f"json_text({_replaced(replacement)(x)})"
    if duckdb_type in _ITEMS:
        return _varchar
    if not duckdb_type.endswith("[]"):
        return None
    item = _json(duckdb_type.removesuffix("[]"), replacement, separator)
    return item and _joined(item, "[", "]", separator=separator)


def _joined(item: _Expression, begin: str, end: str, null: str = "null", separator: str = ",") -> _Expression:
    items = f"lambda e: coalesce({item('e')}, '{null}')"
    return lambda x: f"'{begin}' || array_to_string(list_transform({x}, {items}), '{separator}') || '{end}'"


def _replaced(replacement: str | None) -> _Expression:
    return lambda x: x if replacement is None else f"replace({x}, chr(0), {literal(replacement)})"


def _varchar(x: str) -> str:
    return f"{x}::varchar"


def _text(x: str) -> str:
    return f"{x}::text"


def _bits(x: str) -> str:
    """Write a number as its bits: the two write 1e15 and 1.0 in other ways."""
    return f"if(isnan({x}), 'nan', {x}::double::bit::bigint::varchar)"


def _bits_there(x: str) -> str:
    bits = f"('x' || encode(float8send({x}), 'hex'))::bit(64)::bigint::text"
    return f"case when {x} = 'nan' then 'nan' else {bits} end"


def _bits_of_items_there(x: str) -> str:
    items = f"select coalesce({_bits_there('e')}, 'null') from unnest({x}) with ordinality u(e, n) order by n"
    return f"case when {x} is not null then '[' || array_to_string(array({items}), ',') || ']' end"


_FIELDS = 30
"""Columns of one ``concat``: PostgreSQL takes 100 arguments, and a text has three."""

_MODULUS = 2**64


class Proof(NamedTuple):
    """What is equal where the rows are: their number, and the sum of their hashes."""

    rows: int
    hash: str
    """16 hex digits."""

    def with_rows(self, before: "Proof", now: "Proof") -> "Proof":
        """Return the proof where some of the rows are replaced by others."""
        rows = self.rows - before.rows + now.rows
        return proof(rows, int(self.hash, 16) - int(before.hash, 16) + int(now.hash, 16))


class CopiedColumn(NamedTuple):
    """A column of a relation that is published."""

    name: str
    type: ColumnType
    meaning: str | None


def line(columns: Iterable[CopiedColumn]) -> str:
    """Write the expression of DuckDB that makes of a row a line for COPY."""
    # One ``concat``: a chain of || would write the line anew for each column, and takes four times as long.
    return f"concat({', chr(9), '.join(map(_field, columns))}, chr(10))"


def _field(column: CopiedColumn) -> str:
    text = column.type.copied(quoted(column.name))
    for character, escaped in ((92, r"\\"), (10, r"\n"), (13, r"\r"), (9, r"\t")) if column.type.is_long else ():
        text = f"replace({text}, chr({character}), '{escaped}')"
    return rf"coalesce({text}, '\N')"


def hash_here(columns: Sequence[CopiedColumn]) -> str:
    """Write DuckDB's expression of a row's hash."""
    fields = [_hashed(column.type.here(quoted(column.name)), column.type, "strlen") for column in columns]
    return f"('0x' || left(md5({_concat(fields)}), 16))::ubigint"


def select_proof_here(columns: Sequence[CopiedColumn], relation: str) -> str:
    """Write DuckDB's query of the number of rows and the sum of their hashes."""
    return f"select count(*), sum({hash_here(columns)}) from {relation}"


def select_proof_there(columns: Sequence[CopiedColumn], relation: str) -> str:
    """Write PostgreSQL's query of the number of rows and the sum of their hashes, each a signed number."""
    return f"select count(*), sum({hash_there(columns)}) from {relation}"


def hash_there(columns: Sequence[CopiedColumn]) -> str:
    """Write PostgreSQL's expression of a row's hash, a signed number of 64 bits."""
    fields = [_hashed(column.type.there(quoted(column.name)), column.type, "octet_length") for column in columns]
    return f"('x' || left(md5({_concat(fields)}), 16))::bit(64)::bigint"


def proof(rows: int, total: Any) -> Proof:
    """Return the compared values; ``total`` is the sum of hashes, or None if there are no rows."""
    return Proof(rows, f"{int(total or 0) % _MODULUS:016x}")


def _hashed(text: str, kind: ColumnType, length: str) -> str:
    return f"{length}({text}), ':', {text}" if kind.is_long else f"{text}, ','"


def _concat(fields: Sequence[str]) -> str:
    parts = [fields[start : start + _FIELDS] for start in range(0, len(fields), _FIELDS)]
    return " || ".join(f"concat({', '.join(part)})" for part in parts)
