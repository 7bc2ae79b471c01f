"""Labels in the metadata of what they are about: of a turn, or of a conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from talkhouse.packages.convokit.members import Kind, Member, struct
from talkhouse.packages.convokit.tables import Part, Tables
from talkhouse.schema.sql import literal, quoted

_PLACE = ("record_id", "persona_set", "persona_position")
"""What, with a turn and a scheme, tells one entry from another."""


class Level(StrEnum):
    """What labels are about, as the SQL condition of their rows; those of records without a dialogue have no place."""

    TURN = "dialogue_id is not null and turn_index is not null"
    DIALOGUE = "dialogue_id is not null and turn_index is null"
    NONE = "dialogue_id is null"

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that name what is labelled."""
        return ("dialogue_id", "turn_index") if self is Level.TURN else ("dialogue_id",)


@dataclass(frozen=True)
class Scheme:
    """A scheme with labels at a level, or declared for it."""

    name: str
    level: Level
    is_single: bool = False
    """There is never more than one label: the metadata is the bare value."""
    has_labels: bool = True
    """Its labels are names; else they are numbers."""
    has_more: bool = False
    """Some of its labels have more to them than a single value says: the record, an annotator, a span, ``extra``."""
    has_spans: bool = False
    has_extra: bool = False

    @property
    def key(self) -> str:
        """The name of its metadata, without dots, which neither MongoDB nor data frames like."""
        return f"label_{self._short}"

    @property
    def _short(self) -> str:
        return self.name.partition(".")[2]

    def members(self) -> list[Member]:
        """Return its metadata; the expressions name columns of ``labels``."""
        if not self.is_single:
            return [Member(self.key, quoted(self.key), "list")]
        kind: Kind = "str" if self.has_labels else "float"
        about = f"about_{self._short}"
        more = [Member(about, quoted(about), "dict")] if self.has_more else []
        return [Member(self.key, quoted(self.key), kind), *more]

    def columns(self) -> list[str]:
        """Return the aggregates over its entries that its metadata are."""
        own = f"filter (where scheme = {literal(self.name)})"
        if not self.is_single:
            entry = f"list({self._entry()} order by {', '.join(_PLACE)}) {own}"
            return [f"{entry} as {quoted(self.key)}"]
        value = "any_value(items[1].label)" if self.has_labels else "any_value(items[1].value)"
        more = f"any_value({self._about()}) {own} as {quoted(f'about_{self._short}')}"
        return [f"{value} {own} as {quoted(self.key)}", *([more] if self.has_more else [])]

    def _entry(self) -> str:
        """Return the labels of one record as an object of lists, which are null where they would say nothing."""
        members = [
            ("record_id", "record_id"),
            ("labels", "[item.label for item in items]"),
            ("annotators", "case when has_annotators then [item.annotator_id for item in items] end"),
            ("values", "case when has_values then [item.value for item in items] end"),
            ("items", "case when has_items then [item.item_index for item in items] end"),
            ("persona_id", "persona_id"),
        ]
        if self.has_spans:
            members.append(("spans", "[[item.start_index, item.end_index] for item in items]"))
        if self.has_extra:
            members.append(("extra", "[item.extra for item in items]"))
        return struct(members)

    def _about(self) -> str:
        value = [("value", "items[1].value")] if self.has_labels else []
        members = [
            ("record_id", "record_id"),
            ("annotator", "items[1].annotator_id"),
            *value,
            ("persona_id", "persona_id"),
            ("span", "case when items[1].start_index is not null then [items[1].start_index, items[1].end_index] end"),
            ("extra", "items[1].extra"),
        ]
        return struct(members)


def schemes(tables: Tables, level: Level) -> list[Scheme]:
    """Return the schemes of a level by name: those with labels there, and those that are meant for it and have none."""
    facts = f"""
    select
        scheme,
        max(annotator_index) = 0 and max(item_index) = 0 and count(label) in (0, count(*))
            and (count(label) > 0 or count(value) = count(*)) as may_be_single,
        count(label) > 0 as has_labels,
        count(annotator_id) + count(persona_id) + count(start_index) + count(extra) > 0
            or (count(label) > 0 and count(value) > 0) as has_more,
        count(start_index) > 0 as has_spans,
        count(extra) > 0 as has_extra
    from {tables.rows("annotations", level)}
    group by scheme
    order by scheme
    """
    con = tables.warehouse.con
    used = con.execute(facts).fetchall()
    repeated = _repeated(tables, level, [name for name, may_be_single, *_ in used if may_be_single])
    known = [
        Scheme(
            name, level, may_be_single and repeated.get(name) != "turn", has_labels, has_more or name in repeated, *rest
        )
        for name, may_be_single, has_labels, has_more, *rest in used
    ]
    return sorted([*known, *_unused(tables, level)], key=lambda scheme: scheme.name)


def _repeated(tables: Tables, level: Level, names: Sequence[str]) -> dict[str, str]:
    """Return the schemes of which several records label the same dialogue, and whether even the same turn of it."""
    if not names:
        return {}
    rows = tables.rows("annotations", f"{level} and scheme in ({', '.join(map(literal, names))})")
    query = f"""
    with
    labels as (from {rows}),
    published as (
        select scheme, dialogue_id from labels
        group by all
        having count(distinct record_id) > 1 or count(distinct persona_set) > 1 or count(distinct persona_position) > 1
    )
    select scheme, max(label_count) > 1
    from (
        select scheme, count(*) as label_count from labels semi join published using (scheme, dialogue_id)
        group by scheme, {", ".join(level.key)}
    )
    group by scheme
    """
    return {name: "turn" if is_same else "dialogue" for name, is_same in tables.warehouse.con.execute(query).fetchall()}


def _unused(tables: Tables, level: Level) -> list[Scheme]:
    """Return the schemes without any label that are meant for a level, so that their metadata are there, as null."""
    targets = {Level.TURN: ("turn", "persona"), Level.DIALOGUE: ("dialogue", "record")}[level]
    used = tables.rows("annotations", f"not ({Level.NONE})")
    query = f"""
    select scheme from {tables.rows("schemes")} where target in {targets} and scheme not in (select scheme from {used})
    """
    names = tables.warehouse.con.execute(query).fetchall()
    return [Scheme(name, level) for (name,) in names]


def label_columns(tables: Tables, part: Part, level: Level, known: Sequence[Scheme]) -> str:
    """Return as a relation in SQL what is labelled of some dialogues: its key, and a column for each metadata."""
    key = ", ".join(level.key)
    columns = [column for scheme in known for column in scheme.columns()]
    return f"""(
    select {", ".join([key, *columns])}
    from (
        select
            {key}, scheme, {", ".join(_PLACE)},
            any_value(persona_id) as persona_id,
            list(
                struct_pack(label, value, annotator_id, item_index, start_index, end_index, extra)
                order by annotator_index, item_index
            ) as items,
            count(annotator_id) > 0 as has_annotators,
            count(value) > 0 as has_values,
            max(item_index) > 0 as has_items
        from {tables.rows("annotations", f"{level} and {part.condition}")}
        group by all
    )
    group by {key}
    )"""
