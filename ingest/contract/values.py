"""Which value of which row no table takes: looked for where a table has refused rows, for whole batches are fast."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, TIMESTAMP, BigInteger, Boolean, Column, Double, Integer, LargeBinary

from talkhouse.ingest.contract.faults import ContractBroken
from talkhouse.ingest.rows import ROWS, ColumnBatch, Row
from talkhouse.schema.tables import metadata

LENIENT: dict[type, set[type]] = {Integer: {int, type(None)}, BigInteger: {int, type(None)}}
LENIENT |= {TIMESTAMP: {datetime, type(None)}}
"""Column types to which other values would be converted in silence, and what they take."""

_NAMES = {Integer: "a whole number", BigInteger: "a whole number", Double: "a number", Boolean: "True or False"}
_NAMES |= {TIMESTAMP: "a datetime without a time zone", LargeBinary: "bytes"}
_JSON = "a text that is JSON, as decode.dump_extra writes it"
_BITS = {Integer: 31, BigInteger: 63}


def check_rows(table: str, rows: Iterable[Row]) -> None:
    """Raise ContractBroken for the first row with a value that its table does not take."""
    for row in rows:
        _check(table, {name: getattr(row, name) for name in row.__struct_fields__})


def check_column_batch(batch: ColumnBatch) -> None:
    """Raise ContractBroken for the first row of a column batch with a value that its table does not take."""
    check_columns(batch.kind.TABLE, batch.columns, batch.shared)


def check_columns(table: str, columns: Mapping[str, Any], shared: Mapping[str, Any]) -> None:
    """Raise ContractBroken for the first row of columns, lists or series, with a value that its table does not take."""
    for values in zip(*columns.values(), strict=True):
        _check(table, {**shared, **dict(zip(columns, values, strict=True))})


def _check(table: str, values: Mapping[str, Any]) -> None:
    for column in metadata.tables[table].columns:
        value = values.get(column.name)
        for expected in _problem(column, value):
            kind = next(kind.__name__ for kind in ROWS if table == kind.TABLE)
            raise ContractBroken(
                f"yields a row of class {kind} with a wrong {column.name}",
                expected=f"{kind}.{column.name}: {expected}",
                found=f"{value!r:.200} ({type(value).__name__}) in the row with {_key(table, values)}",
                where=_owner(table, values),
            )


def _problem(column: Column[Any], value: Any) -> Iterator[str]:
    """Say what a column takes, if it does not take this value."""
    kind = type(column.type)
    if value is None:
        if not column.nullable:
            yield f"{_NAMES.get(kind, 'a text')}, never None"
    elif kind in _NAMES:
        if not _fits(kind, value):
            yield _NAMES[kind]
    elif not isinstance(value, str):
        yield _JSON if kind is JSON else "a text"
    elif not _is_unicode(value):
        yield "a text without halves of surrogate pairs"
    elif kind is JSON and not _is_json(value):
        yield _JSON


def _fits(kind: type, value: Any) -> bool:
    if kind is TIMESTAMP:
        return type(value) is datetime and value.tzinfo is None
    if kind in _BITS:
        return type(value) is int and -(1 << _BITS[kind]) <= value < 1 << _BITS[kind]
    types: dict[type, tuple[type, ...]] = {Double: (int, float), Boolean: (bool,), LargeBinary: (bytes,)}
    return isinstance(value, types[kind]) and (kind is Boolean or type(value) is not bool)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _key(table: str, values: Mapping[str, Any]) -> str:
    """Name a row by its grain."""
    return ", ".join(f"{name} {values.get(name)!r}" for name in metadata.tables[table].info["grain"])


def _owner(table: str, values: Mapping[str, Any]) -> str | None:
    """Name the record, or else the dialogue, file or whatever else a row belongs to."""
    names = ("record_id", "dialogue_id", "source_file_id", *metadata.tables[table].info["grain"])
    return next((value for name in names if isinstance(value := values.get(name), str)), None)
