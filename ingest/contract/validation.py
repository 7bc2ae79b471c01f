"""What every reader must keep to: checked for each record before its rows reach a table."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from datetime import datetime
from typing import Any, get_args, get_origin, get_type_hints

import polars as pl
from sqlalchemy import JSON, TIMESTAMP, BigInteger, Boolean, Column, Double, Integer, LargeBinary

from talkhouse.ingest import rows as row_types
from talkhouse.ingest.contract.definition import fits
from talkhouse.ingest.contract.faults import ContractBroken
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.outcomes import Loaded, LoadedBatch, SourceLocation
from talkhouse.schema.errors import closest
from talkhouse.schema.tables import metadata

KINDS = ("human", "bot", "system")
"""What a speaker can be."""

PART_KINDS = ("text", "reasoning", "tool_call", "tool_call_response", "uri", "blob", "file", "refusal")
"""What a part of a turn can be: OpenTelemetry's names, and a refusal."""

_OF_LOADING = (row_types.Finding, row_types.Quarantined, row_types.FileRow)
"""The row classes that no reader makes."""

_SAME: dict[type[row_types.Row], tuple[str, ...]] = {
    kind: tuple(name for name in ("corpus_id", "record_id", "dialogue_id") if name in kind.__struct_fields__)
    for kind in row_types.ROWS
    if kind not in _OF_LOADING
}
"""The row classes that a reader makes, and which of their fields say what the record's own row says."""

_LABELLING: dict[type[row_types.Row], str] = {row_types.Annotation: "an Annotation", row_types.Label: "a Label"}
"""Those that name a scheme."""


class Validator:
    """Checks the records of one corpus; holds its vocabulary, and where dialogues end that may go on."""

    def __init__(self, corpus: Corpus, rules: Collection[str]) -> None:
        self._corpus = corpus
        self._rules = rules
        self._ends: dict[str, int] | None = {} if corpus.has_dialogues_of_files else None
        self._schemes = {scheme.name for scheme in corpus.schemes}

    def rule(self, rule: str) -> None:
        """A finding must name a declared rule."""
        if rule not in self._rules:
            self._undeclared("a finding with a rule", rule, self._rules)

    def location(self, location: SourceLocation) -> None:
        """A record's split must be declared."""
        self._split(location.split)

    def record(self, loaded: Loaded) -> None:
        """One record row; keys that begin with the corpus id; whole dialogues; declared schemes and splits."""
        if not isinstance(loaded.rows, list):
            check_fields(loaded)
        records = [row for row in loaded.rows if type(row) is row_types.Record]
        if len(records) != 1:
            raise _broken("yields a record without its row", "one Record row in Loaded.rows", f"{len(records)}")
        record, location = records[0], loaded.location
        self._keys(record.record_id, record.dialogue_id)
        if (record.source_file_id, record.source_pointer) != (location.file.id, location.pointer):
            raise _broken(
                "yields a record whose row names another place",
                f"Record.source_file_id and source_pointer {(location.file.id, location.pointer)}",
                f"{(record.source_file_id, record.source_pointer)}",
            )
        self._record_split(record.split, record.standard_split)
        self._rows(loaded.rows, record)
        self._column_batches(loaded.column_batches, record)

    def many(self, loaded: LoadedBatch) -> None:
        """Check the same for many records at once; turns are in column batches, each dialogue's in one."""
        count = 0
        for row in loaded.rows:
            if type(row) is row_types.Record:
                self._keys(row.record_id, row.dialogue_id)
                self._record_split(row.split, row.standard_split)
                self._file(row.source_file_id, loaded)
                count += 1
        for batch in loaded.column_batches:
            if batch.kind is row_types.Record:
                self._many_records(batch, loaded)
                count += len(batch)
        if count != loaded.records:
            raise _broken("yields records without their rows", f"{loaded.records} Record rows", f"{count}")
        if any(type(row) is row_types.Turn for row in loaded.rows):
            raise _broken("yields turns of many records as single rows", "a ColumnBatch of Turn", "Turn in rows")
        self._rows(loaded.rows, None)
        self._column_batches(loaded.column_batches, None)

    def _many_records(self, batch: row_types.ColumnBatch, loaded: LoadedBatch) -> None:
        dialogue_id = pl.col("dialogue_id")
        is_ours = dialogue_id.is_null() | dialogue_id.str.starts_with(f"{self._corpus.id}:")
        belongs = pl.col("record_id").str.starts_with(f"{self._corpus.id}/") & is_ours
        keys = pl.DataFrame({name: batch.columns[name] for name in ("record_id", "dialogue_id")})
        for wrong in keys.filter(~belongs).rows()[:1]:
            self._keys(*wrong)
        self._file(batch.shared["source_file_id"], loaded)
        splits = [batch.columns.get(name, [batch.shared.get(name)]) for name in ("split", "standard_split")]
        longest = max(map(len, splits))
        for pair in set(zip(*(list(values) * (longest // len(values)) for values in splits), strict=True)):
            self._record_split(*pair)

    def _file(self, source_file_id: str, loaded: LoadedBatch) -> None:
        if source_file_id != loaded.file.id:
            raise _broken("yields a batch with records of another file", loaded.file.id, repr(source_file_id))

    def _rows(self, rows: list[row_types.Row], record: row_types.Record | None) -> None:
        """Known classes of rows, which belong to the corpus, the record and its dialogue; whole dialogues."""
        expected = {"corpus_id": self._corpus.id}
        if record is not None:
            expected |= {"record_id": record.record_id, "dialogue_id": record.dialogue_id}  # type: ignore[dict-item]
        turn_index = 0
        for row in rows:
            kind = type(row)
            if kind not in _SAME:
                raise _broken("yields what is no row", f"one of {_names(_SAME)}", f"{row!r:.100} in rows")
            for name in _SAME[kind]:
                if name in expected and getattr(row, name) != expected[name]:
                    self._other(row, name, expected[name])
            if kind is row_types.Turn:
                if row.turn_index != turn_index:  # type: ignore[attr-defined]
                    raise _broken("leaves out a turn", f"Turn.turn_index {turn_index}", repr(row.turn_index))  # type: ignore[attr-defined]
                turn_index += 1
            elif kind in _LABELLING and row.scheme not in self._schemes:  # type: ignore[attr-defined]
                self._undeclared(f"{_LABELLING[kind]} with a scheme", row.scheme, self._schemes)  # type: ignore[attr-defined]
            elif kind is row_types.Part and row.kind not in PART_KINDS:  # type: ignore[attr-defined]
                self._undeclared("a Part with a kind", row.kind, PART_KINDS)  # type: ignore[attr-defined]
            elif kind is row_types.Speaker and row.kind not in KINDS:  # type: ignore[attr-defined]
                self._undeclared("a Speaker with a kind", row.kind, KINDS)  # type: ignore[attr-defined]

    def _other(self, row: row_types.Row, name: str, expected: str | None) -> None:
        raise _broken(
            "yields a row of another record or corpus",
            f"{type(row).__name__}.{name} {expected!r}, as in the Record row",
            repr(getattr(row, name)),
        )

    def _column_batches(self, column_batches: list[row_types.ColumnBatch], record: row_types.Record | None) -> None:
        for batch in column_batches:
            if batch.kind not in row_types.ROWS or batch.kind is row_types.Label:
                raise _broken("yields a ColumnBatch of no row class", f"one of {_names(_SAME)}", repr(batch.kind))
            for name in (*batch.columns, *batch.shared):
                if name not in batch.kind.__struct_fields__:
                    what = f"a ColumnBatch of {batch.kind.__name__} with a column"
                    self._undeclared(what, name, batch.kind.__struct_fields__)
            lengths = {name: len(column) for name, column in batch.columns.items()}
            if len(set(lengths.values())) != 1:
                raise _broken(f"yields a ColumnBatch of {batch.kind.__name__}", "columns of one length", f"{lengths}")
            if record is not None and batch.shared.get("record_id", record.record_id) != record.record_id:
                raise _broken("yields a ColumnBatch of another record", record.record_id, batch.shared["record_id"])
            if batch.kind is row_types.Turn:
                _check_turns(batch, self._ends)

    def _keys(self, record_id: Any, dialogue_id: Any) -> None:
        for name, key, start in (("record_id", record_id, "/"), ("dialogue_id", dialogue_id, ":")):
            is_none = key is None and name == "dialogue_id"
            if not is_none and not (isinstance(key, str) and key.startswith(self._corpus.id + start)):
                expected = f"Record.{name} that begins with '{self._corpus.id}{start}'"
                raise _broken("yields a key that is not the corpus's", expected, repr(key))

    def _split(self, split: Any) -> None:
        if split is not None and split not in self._corpus.splits:
            self._undeclared("a record of a split", split, self._corpus.splits)

    def _record_split(self, split: Any, standard: Any) -> None:
        self._split(split)
        if split is not None and standard != self._corpus.splits[split]:
            expected = f"Record.standard_split {self._corpus.splits[split]!r} for the split {split!r}, as declared"
            raise _broken("yields a record of another standard split", expected, repr(standard))

    def _undeclared(self, what: str, name: Any, known: Collection[str]) -> None:
        near = ", ".join(closest(str(name), known)) or "none is declared"
        raise _broken(f"yields {what} that is not declared", f"one of: {near}", repr(name))


def _broken(what: str, expected: str, found: str) -> ContractBroken:
    return ContractBroken(what, expected=expected, found=found)


def _check_turns(batch: row_types.ColumnBatch, ends: dict[str, int] | None) -> None:
    """Turns in columns: numbered from 0 in each dialogue, whose turns follow one another in one batch.

    ``ends``: how many turns dialogues have that may go on, or None if none does.
    """
    turns = pl.DataFrame({name: batch.columns[name] for name in ("dialogue_id", "turn_index")})
    expected = pl.int_range(pl.len()).over(pl.col("dialogue_id").rle_id())
    if ends is not None:
        expected += pl.col("dialogue_id").replace_strict(dict(ends), default=0, return_dtype=pl.Int64)
        for dialogue_id, count in turns.group_by("dialogue_id").len().iter_rows():
            ends[dialogue_id] = ends.get(dialogue_id, 0) + count
    for dialogue_id, turn_index in turns.filter(pl.col("turn_index") != expected).rows()[:1]:
        raise _broken("leaves out a turn", "Turn.turn_index 0, 1, 2 ...", f"{turn_index!r} in {dialogue_id!r}")


def _names(kinds: Collection[type[row_types.Row]]) -> str:
    return ", ".join(kind.__name__ for kind in kinds)


def check_fields(outcome: Any) -> None:
    """Raise ContractBroken for the first field of an outcome, or of what is in it, with a value of another type."""
    kind = type(outcome).__name__
    for name, hint in get_type_hints(type(outcome)).items():
        value = getattr(outcome, name)
        items = value if isinstance(value, list) else [value]
        if not fits(value, hint):
            of_list = get_args(hint)[0] if get_origin(hint) is list and items is value else object
            item = next((item for item in items if not fits(item, of_list)), value)
            raise ContractBroken(
                f"yields {kind} with a wrong {name}",
                expected=f"{kind}.{name}: {_name(hint)}",
                found=f"{item!r:.100} ({type(item).__name__})",
            )
        for item in items:
            if is_dataclass(item) and type(item).__module__ == type(outcome).__module__:
                check_fields(item)


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


def check_rows(table: str, rows: Iterable[row_types.Row]) -> None:
    """Raise ContractBroken for the first row with a value that its table does not take."""
    for row in rows:
        _check(table, {name: getattr(row, name) for name in row.__struct_fields__})


def check_column_batch(batch: row_types.ColumnBatch) -> None:
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
            kind = next(kind.__name__ for kind in row_types.ROWS if table == kind.TABLE)
            raise ContractBroken(
                f"yields a row of class {kind} with a wrong {column.name}",
                expected=f"{kind}.{column.name}: {expected}",
                found=f"{value!r:.200} ({type(value).__name__}) in the row with {_key(table, values)}",
                where=_owner(table, values),
            )


def _problem(column: Column[Any], value: Any) -> Iterator[str]:
    """Yield the values that a column takes, if it does not take this one."""
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
