"""Compared relations: tables and the views of tasks, the keys of their rows, and the roles of their columns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import JSON, Column, Double, Table, Text

from talkhouse.diff.states import Side, Sides
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.warehouse.rows_hash import PLACES, UNHASHED, VOLATILE

IDS = {
    "dialogue_id": "dialogue",
    "derived_from": "dialogue",
    "record_id": "record",
    "speaker_id": "speaker",
    "main_speaker_id": "speaker",
    "release": "release",
}
"""Columns with ids that may differ in the state before, each with the kind of thing that they identify."""

SPLITS = ("split", "standard_split")
"""Columns with the split of an example: if one differs, the row was moved."""

_NO_PLACES = ("start_index", "end_index", "label_index", "release_index")
"""Columns that end in ``_index`` and say something of the text, or of an order that has a meaning."""

_KEYS: Mapping[str, Mapping[str, str]] = {
    "main.examples": dict.fromkeys(("task", "release", "record_id", "turn_index", "item_index"), ""),
    "meta.findings": dict.fromkeys(("rule", "record_id", "task", "turn_index", "detail"), ""),
    "meta.quarantine": {"rule": "", "native_id": "", "sha256": "sha256(raw)"},
}
"""The keys of rows whose grain is a place: columns, or expressions of one."""

_TASK_KEY = ("release", "record_id", "turn_index", "item_index")


@dataclass(frozen=True)
class Field:
    """A column of a relation; ``types`` are those of either side, None if it has no such column."""

    name: str
    types: tuple[str | None, str | None]

    @property
    def is_place(self) -> bool:
        """Whether it is the place of a row, and not its contents."""
        of_sources = self.name in ("pointer", "source_pointer", "source_file_id", "annotator_id", "is_default")
        is_index = self.name.endswith("_index") and self.name not in _NO_PLACES
        return of_sources or is_index or (self.name in PLACES and self.name not in (*IDS, *SPLITS))

    def identical(self, value: str) -> str:
        """Write an expression that is equal only for identical values: -0.0 is not 0.0, [] is not null."""
        kinds = {kind for kind in self.types if kind is not None}
        if len(kinds) > 1 or kinds & {"DOUBLE", "FLOAT", "JSON"}:
            return f"{value}::varchar"
        return f"to_json({value})::varchar" if any("[" in kind or "(" in kind for kind in kinds) else value


@dataclass(frozen=True)
class Relation:
    """The rows of one corpus in a table, or in the view of a task."""

    name: str
    corpus: str
    fields: tuple[Field, ...]
    key: Mapping[str, str]
    """The names of the parts of a key, each with its SQL over the columns."""
    sources: tuple[str, str]
    """The SQL of the relation on either side."""
    conditions: tuple[str, str]
    """The conditions on its rows, as SQL."""
    is_task: bool = False
    label: str | None = None
    """The column whose changes are counted by value."""
    needs_number: bool = False
    """Whether rows of one key are told apart by a running number."""
    order: tuple[str, ...] = ()
    """The columns by which they are numbered."""

    @property
    def by(self) -> tuple[str, ...]:
        """The columns by which rows are counted."""
        names = {field.name for field in self.fields}
        return tuple(name for name in ("release", "split") if name in names) if self.is_task else ()

    @property
    def compared(self) -> tuple[Field, ...]:
        """The columns that say something: no places, and nothing of the key."""
        return tuple(field for field in self.fields if not field.is_place and field.name not in self.key)


def compared_tables(*, of_a_release: bool = False) -> list[Table]:
    """List the tables that are compared; ``of_a_release``: those whose rows belong to one of a publisher's releases."""
    every = [table for table in metadata.tables.values() if qualified(table) not in UNHASHED]
    return [table for table in sorted(every, key=qualified) if not of_a_release or table.name in _OF_RELEASE]


def table_fields(table: Table) -> tuple[Field, ...]:
    """Return the columns of a table, but for those that differ from build to build."""
    volatile = VOLATILE.get(qualified(table), frozenset())
    kinds = ((column.name, _kind(column)) for column in table.columns if column.name not in volatile)
    return tuple(Field(name, (kind, kind)) for name, kind in kinds)


def _kind(column: Column[Any]) -> str:
    """Return DuckDB's name of a column's type, as far as it matters for comparing values."""
    sorts = {JSON: "JSON", Double: "DOUBLE", Text: "VARCHAR"}
    return next((name for sort, name in sorts.items() if isinstance(column.type, sort)), "other")


def table_relation(table: Table, corpus: str, sides: Sides, conditions: Iterable[str]) -> Relation:
    """Return the rows of a corpus in a table."""
    name = qualified(table)
    key = _KEYS.get(name) or dict.fromkeys(table.info["grain"], "")
    columns = {field.name for field in table_fields(table)}
    return Relation(
        name,
        corpus,
        table_fields(table),
        {part: sql or quoted(part) for part, sql in key.items()},
        (f"{sides.before.sql}.{name}", f"{sides.after.sql}.{name}"),
        tuple(conditions),  # type: ignore[arg-type]  # one for each side
        label="label" if "label" in columns and "label" not in key else None,
        needs_number=name in _KEYS,
        order=tuple(column for column in ("split", "example_index", "source_file_id", "pointer") if column in columns),
    )


def task_relation(task: str, fields: tuple[Field, ...], sources: tuple[str, str], label: str | None) -> Relation:
    """Return the rows of the view of a task, which lie in two tables."""
    names = [field.name for field in fields]
    indexes = sorted(name for name in names if name.endswith("_index") and name not in _TASK_KEY)
    order = [name for name in ("example_index", *indexes) if name in names]
    key = {name: quoted(name) for name in _TASK_KEY if name in names}
    corpus = task.partition(".")[0]
    return Relation(task, corpus, fields, key, sources, ("true", "true"), True, label, True, tuple(order))


_OF_RELEASE = {
    "records": "release = {release}",
    "examples": "release = {release}",
    **dict.fromkeys(("annotations", "candidates", "persona_uses"), "record_id in {records}"),
    **dict.fromkeys(("dialogues", "participants", "turns", "turn_speakers", "parts"), "dialogue_id in {dialogues}"),
    "speakers": "speaker_id in (select speaker_id from {database}.main.participants where dialogue_id in {dialogues})",
    "texts": "text_id in (select text_id from {database}.main.candidates where record_id in {records})",
    "personas": "persona_id in (select persona_id from {database}.main.persona_uses where record_id in {records} "
    "union all select persona_id from {database}.main.candidates where record_id in {records} "
    "union all select persona_id from {database}.main.annotations where record_id in {records})",
}
"""The conditions on the rows of a table for one of a publisher's releases."""


def of_release(side: Side, table: str, corpus: str) -> str:
    """Write the condition of the rows of the publisher's release that a side is about; true if it is about all."""
    if side.of_release is None:
        return "true"
    release = literal(side.of_release)
    of_records = f"from {side.sql}.main.records where corpus_id = {literal(corpus)} and release = {release}"
    return _OF_RELEASE[table].format(
        database=side.sql,
        release=release,
        records=f"(select record_id {of_records})",
        dialogues=f"(select dialogue_id {of_records})",
    )
