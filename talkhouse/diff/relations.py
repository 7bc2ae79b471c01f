"""Compared relations: tables and the views of tasks, the keys of their rows, and the roles of their columns.

A key that is a place moves when a record is inserted before others. So dialogues, records and speakers of the state
before are matched with those of the state after by content first, whatever their ids.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb
from sqlalchemy import JSON, Column, Double, Table, Text

from talkhouse.diff.states import Side, Sides
from talkhouse.schema.sql import insert, literal, quoted
from talkhouse.schema.sql_files import sql_of
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


BEFORE = " (before)"
"""The suffix of an id of the state before that is unmatched, and that the state after gives to something else."""

_GROUP = ("release", "subset", "split")


class Renumbered(NamedTuple):
    """The number of dialogues or records of a corpus with another id."""

    kind: str
    corpus: str
    rows: int


def identify(sides: Sides, corpora: Collection[str]) -> list[Renumbered]:
    """Make the tables ``"?dialogue"``, ``"?record"`` and ``"?speaker"``: ids before and after, if they differ."""
    con = sides.con
    for kind in ("dialogue", "record", "speaker"):
        con.execute(f'create temp table "?{kind}" (corpus varchar, before varchar, after varchar)')
    if not corpora:
        return []
    for side, name in zip(sides, ("before", "after"), strict=True):
        con.execute(f'create temp table "?dialogues {name}" as {_dialogues(side, corpora)}')
    found = _match(con, "dialogue", has_similar=True, sides=sides)
    # Anonymous speakers follow their dialogue: their ids begin with its id.
    con.execute(f'insert into "?speaker" {sql_of(__file__, "identity_speakers", side=sides.before.sql)}')
    for side, name in zip(sides, ("before", "after"), strict=True):
        con.execute(f'create temp table "?records {name}" as {_records(side, corpora, is_before=name == "before")}')
    return found + _match(con, "record", has_similar=False, sides=sides)


def _in(corpora: Iterable[str]) -> str:
    return f"corpus_id in ({', '.join(map(literal, corpora))})"


def _scope(side: Side, table: str, corpora: Collection[str]) -> str:
    """Write the condition of the rows of the corpora that a side is about; of one if it is about a release."""
    return of_release(side, table, next(iter(corpora)))


def _dialogues(side: Side, corpora: Collection[str]) -> str:
    """Write the query of dialogues: a hash of their words, and the place and order of their first publication."""
    return sql_of(
        __file__,
        "identity_dialogues",
        side=side.sql,
        release=_release(side),
        corpora=", ".join(map(literal, corpora)),
        of_corpora=_in(corpora),
        **{f"of_{table}": _scope(side, table, corpora) for table in ("records", "turns", "dialogues")},
    )


def _release(side: Side) -> str:
    """Write the publisher's release of a record; if two are compared, both have one name."""
    return "release" if side.of_release is None else "null::varchar"


_STATED = {
    "annotations": "turn_index, persona_set, persona_position, scheme, annotator_index, item_index, persona_id, label, "
    "value::varchar, extra::varchar",
    "candidates": "turn_index, candidate_set, position, item_index, text_id, persona_id, source, is_gold, "
    "extra::varchar",
    "persona_uses": "turn_index, persona_set, position, persona_id, extra::varchar",
}
"""The contents of a record without a dialogue."""


def _records(side: Side, corpora: Collection[str], *, is_before: bool) -> str:
    """Write the query of records: a hash of the publication of their dialogue, or of their contents without one."""
    dialogue = 'coalesce("?dialogue".after, records.dialogue_id)' if is_before else "records.dialogue_id"
    mapped = 'left join "?dialogue" on "?dialogue".before = records.dialogue_id' if is_before else ""
    release = _release(side).replace("release", "records.release")
    stated = " union all ".join(
        f"select record_id, hash({literal(table)}, {columns}) as stated from {side.sql}.main.{table} "
        "where dialogue_id is null"
        for table, columns in _STATED.items()
    )
    return sql_of(
        __file__,
        "identity_records",
        side=side.sql,
        stated=stated,
        release=release,
        dialogue=dialogue,
        mapped=mapped,
        of_corpora=_in(corpora),
        of_records=_scope(side, "records", corpora),
    )


def _match(con: duckdb.DuckDBPyConnection, kind: str, *, has_similar: bool, sides: Sides) -> list[Renumbered]:
    """Find pairs of one kind, the surest first, and write the ids that differ."""
    left = {name: f'"?{kind}s {name}"' for name in ("before", "after")}
    for side in left.values():
        con.execute(f"alter table {side} add column pair bigint")
    _pair(con, left, ("id", "content"))
    _pair(con, left, ("content", *_GROUP), numbered=True)
    _pair(con, left, ("content",), numbered=True)
    if has_similar:
        _pair_similar(con, left, sides)
    _pair(con, left, ("id",))
    before, after = left.values()
    con.execute(sql_of(__file__, "renumbered_ids", kind=kind, ending=literal(BEFORE), before=before, after=after))
    counted = con.execute(sql_of(__file__, "renumbered_counts", before=before, after=after))
    return [Renumbered(kind, corpus, rows) for corpus, rows in counted.fetchall()]


def _pair(
    con: duckdb.DuckDBPyConnection, left: dict[str, str], equal: tuple[str, ...], *, numbered: bool = False
) -> None:
    """Pair remaining rows of both sides that are equal in these columns; ``numbered``: in their order.

    What has nothing in it, as a dialogue without turns, is not found by its content. The number of a pair is that of
    its row after.
    """
    names = ", ".join(("corpus", *equal))
    number = f"row_number() over (partition by {names} order by number)" if numbered else "1"
    has_content = "size > 0" if numbered else "true"
    for name, side in left.items():
        con.execute(
            f'create or replace temp table "?left {name}" as '
            f"select {names}, id as row_id, number as place, {number} as nth from {side} "
            f"where pair is null and {has_content}"
        )
    same = " and ".join(f"before.{name} is not distinct from after.{name}" for name in ("corpus", *equal, "nth"))
    con.execute(
        'create or replace temp table "?met" as select before.row_id as before, after.row_id as after, '
        'after.place as pair from "?left before" as before '
        f'inner join "?left after" as after on {same}'
    )
    _write_pairs(con, left)


def _write_pairs(con: duckdb.DuckDBPyConnection, left: dict[str, str]) -> None:
    for name, side in left.items():
        con.execute(f'update {side} as side set pair = met.pair from "?met" as met where met.{name} = side.id')


def _pair_similar(con: duckdb.DuckDBPyConnection, left: dict[str, str], sides: Sides) -> None:
    """Pair dialogues that share at least half of the turns of the longer one, the most alike first.

    A dialogue that shares half of another's turns shares one of any half of them plus one; so only those are compared
    that share one of the rarest such turns of both.
    """
    for side, (name, table) in zip(sides, left.items(), strict=True):
        con.execute(sql_of(__file__, "similar_turns", name=name, table=table, warehouse=side.sql))
    con.execute(sql_of(__file__, "similar_frequent"))
    for name in left:
        con.execute(sql_of(__file__, "similar_rare", name=name))
    rows = con.execute(sql_of(__file__, "similar_dialogues"))
    taken: tuple[set[str], set[str]] = (set(), set())
    pairs = []
    while batch := rows.fetchmany(10_000):
        for before, after, number in batch:
            if before not in taken[0] and after not in taken[1]:
                taken[0].add(before)
                taken[1].add(after)
                pairs.append((before, after, number))
    con.execute('create or replace temp table "?met" (before varchar, after varchar, pair bigint)')
    for start in range(0, len(pairs), 1_000):
        insert(con, '"?met"', pairs[start : start + 1_000])
    _write_pairs(con, left)
