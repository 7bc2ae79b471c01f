"""Which field of an outcome, and which value of which row, has another type: looked for where one is refused."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from datetime import datetime
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sqlalchemy import JSON, TIMESTAMP, BigInteger, Boolean, Column, Double, Integer, LargeBinary

from talkhouse.ingest.contract.faults import ContractBroken
from talkhouse.ingest.rows import ROWS, ColumnBatch, Row
from talkhouse.schema.tables import metadata


def check_fields(outcome: Any) -> None:
    """Raise ContractBroken for the first field of an outcome, or of what is in it, with a value of another type."""
    kind = type(outcome).__name__
    for name, hint in get_type_hints(type(outcome)).items():
        value = getattr(outcome, name)
        (inner,) = get_args(hint) if get_origin(hint) is list else (object,)
        wrong = [value] if not isinstance(value, _classes(hint)) else []
        if isinstance(value, list):
            wrong += [item for item in value if not isinstance(item, _classes(inner))]
        for item in wrong[:1]:
            raise ContractBroken(
                f"yields {kind} with a wrong {name}",
                expected=f"{kind}.{name}: {_name(hint)}",
                found=f"{item!r:.100} ({type(item).__name__})",
            )
        for item in value if isinstance(value, list) else [value]:
            if is_dataclass(item) and type(item).__module__ == type(outcome).__module__:
                check_fields(item)


def _classes(hint: Any) -> tuple[type, ...]:
    """Return the classes that a type hint allows."""
    return tuple(_each(hint))


def _each(hint: Any) -> Iterator[type]:
    if get_origin(hint) in (Union, UnionType):
        for option in get_args(hint):
            yield from _each(option)
    elif get_origin(hint) is Literal:
        yield str
    else:
        yield get_origin(hint) or hint


def _name(hint: Any) -> str:
    is_class = isinstance(hint, type) and not get_args(hint)
    return str(hint.__name__) if is_class else re.sub(r"\b(\w+\.)+", "", str(hint))


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
    """Return what a column takes, if it does not take this value."""
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
