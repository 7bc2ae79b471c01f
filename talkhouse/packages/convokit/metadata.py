"""Conversations and the metadata of what is in them: how a dialogue was published, what is known of it, its labels."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from talkhouse.packages.convokit.utterances import (
    HAS_TIME,
    CorpusTables,
    DialogueRange,
    JsonMember,
    PythonType,
    is_tree,
    struct,
    with_meta,
)
from talkhouse.schema.sql import literal, quoted

_PLACE_OF_LABEL = ("record_id", "persona_set", "persona_position")
"""What, with a turn and a scheme, tells one entry from another."""

_OF_TURNS = ("turn", "persona")
"""The targets of schemes whose labels come with turns."""


class LabelLevel(StrEnum):
    """What labels are about, as the SQL condition of their rows; those of records without a dialogue have no place."""

    TURN = "dialogue_id is not null and turn_index is not null"
    DIALOGUE = "dialogue_id is not null and turn_index is null"
    NONE = "dialogue_id is null"

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that name what is labelled."""
        return ("dialogue_id", "turn_index") if self is LabelLevel.TURN else ("dialogue_id",)


@dataclass(frozen=True)
class LabelMetadata:
    """A scheme with labels at a level, or declared for it."""

    name: str
    level: LabelLevel
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

    def members(self) -> list[JsonMember]:
        """Return its metadata; the expressions name columns of ``labels``."""
        if not self.is_single:
            return [JsonMember(self.key, quoted(self.key), "list")]
        kind: PythonType = "str" if self.has_labels else "float"
        about = f"about_{self._short}"
        more = [JsonMember(about, quoted(about), "dict")] if self.has_more else []
        return [JsonMember(self.key, quoted(self.key), kind), *more]

    def columns(self) -> list[str]:
        """Return the aggregates that its metadata are: over its labels, or where there may be several, over entries."""
        own = f"filter (where scheme = {literal(self.name)})"
        if self.is_single:
            value = f"any_value({'label' if self.has_labels else 'value'}) {own} as {quoted(self.key)}"
            more = f"any_value({self._about()}) {own} as {quoted(f'about_{self._short}')}"
            return [value, *([more] if self.has_more else [])]
        # Not list(... order by ...), which takes twice the time.
        entries = f"list_sort(list(struct_pack({', '.join(_PLACE_OF_LABEL)}, entry := {self._entry()})) {own})"
        return [f"[placed.entry for placed in {entries}] as {quoted(self.key)}"]

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
            members.append(("spans", f"[{_span('item.')} for item in items]"))
        if self.has_extra:
            members.append(("extra", "[item.extra for item in items]"))
        return struct(members)

    def _about(self) -> str:
        """Return what the one label has beside it."""
        value = [("value", "value")] if self.has_labels else []
        members = [("record_id", "record_id"), ("annotator", "annotator_id"), *value, ("persona_id", "persona_id")]
        return struct([*members, ("span", _span()), ("extra", "extra")])


def _span(prefix: str = "") -> str:
    """Return where a label's span begins and ends, as a list; null for the whole turn."""
    start, end = f"{prefix}start_index", f"{prefix}end_index"
    return f"case when {start} is not null then [{start}, {end}] end"


@dataclass(frozen=True)
class ConvoKitLabels:
    """The labels of a corpus."""

    tables: CorpusTables

    def schemes(self, level: LabelLevel) -> list[LabelMetadata]:
        """Return the schemes of a level by name: those with labels there, and those meant for it that have none."""
        return [scheme for scheme in self._schemes if scheme.level is level]

    @cached_property
    def _schemes(self) -> list[LabelMetadata]:
        facts = f"""
        select
            scheme,
            turn_index is null as is_of_dialogue,
            max(annotator_index) = 0 and max(item_index) = 0 and count(label) in (0, count(*))
                and (count(label) > 0 or count(value) = count(*)) as may_be_single,
            count(label) > 0 as has_labels,
            count(annotator_id) + count(persona_id) + count(start_index) + count(extra) > 0
                or (count(label) > 0 and count(value) > 0) as has_more,
            count(start_index) > 0 as has_spans,
            count(extra) > 0 as has_extra
        from {self.tables.rows("annotations", f"not ({LabelLevel.NONE})")}
        group by all
        """
        known = []
        for name, is_of_dialogue, may_be_single, has_labels, has_more, *rest in self._fetch(facts):
            level = LabelLevel.DIALOGUE if is_of_dialogue else LabelLevel.TURN
            is_repeated = self._repeated(name, level) if may_be_single else None
            is_single = may_be_single and not is_repeated
            known.append(LabelMetadata(name, level, is_single, has_labels, has_more or is_repeated is not None, *rest))
        unused = self._unused({scheme.name for scheme in known})
        return sorted([*known, *unused], key=lambda scheme: scheme.name)

    def _repeated(self, name: str, level: LabelLevel) -> bool | None:
        """Whether several records give a turn or dialogue a label; None: no dialogue has labels of several."""
        key = ", ".join(level.key)
        query = f"""
        with
        labels as (from {self.tables.rows("annotations", f"{level} and scheme = {literal(name)}")}),
        published as (
            select dialogue_id from labels
            group by dialogue_id
            having min(record_id) <> max(record_id) or count(persona_set) > 0
        )
        select max(label_count) > 1
        from (select count(*) as label_count from labels semi join published using (dialogue_id) group by {key})
        """
        ((is_repeated,),) = self._fetch(query)
        return is_repeated if is_repeated is None else bool(is_repeated)

    def _unused(self, used: Collection[str]) -> Iterator[LabelMetadata]:
        """Return the schemes without any label, at the level they are meant for: their metadata are there, as null."""
        for name, target in self._fetch(f"select scheme, target from {self.tables.rows('schemes')}"):
            if name not in used:
                yield LabelMetadata(name, LabelLevel.TURN if target in _OF_TURNS else LabelLevel.DIALOGUE)

    def _fetch(self, query: str) -> list[tuple[Any, ...]]:
        return self.tables.warehouse.con.execute(query).fetchall()

    def relations(self, part: DialogueRange, level: LabelLevel) -> list[str]:
        """Return relations in SQL with what is labelled of some dialogues: its key, and a column for each metadata."""
        schemes, key = self.schemes(level), ", ".join(level.key)
        rows = self.tables.rows("annotations", f"{level} and {part.condition}")
        single = [column for scheme in schemes if scheme.is_single for column in scheme.columns()]
        several = [column for scheme in schemes if not scheme.is_single for column in scheme.columns()]
        relations = [f"(select {', '.join([key, *single])} from {rows} group by {key})"] if single else []
        if not several:
            return relations
        names = ", ".join(literal(scheme.name) for scheme in schemes if not scheme.is_single)
        entries = f"""(
        select {", ".join([key, *several])}
        from (
            select
                {key}, scheme, {", ".join(_PLACE_OF_LABEL)},
                any_value(persona_id) as persona_id,
                list_sort(list(struct_pack(
                    annotator_index, item_index, label, value, annotator_id, start_index, end_index, extra
                ))) as items,
                count(annotator_id) > 0 as has_annotators,
                count(value) > 0 as has_values,
                max(item_index) > 0 as has_items
            from {rows}
            where scheme in ({names})
            group by all
        )
        group by {key}
        )"""
        return [*relations, entries]


_RECORD = ("record_id", "release", "subset", "split", "standard_split", "record_index", "main_speaker_id")
_SOURCE = ("record_id", "native_id", "source_file_id", "source_pointer")
_PERSONA_LIST = ("record_id", "turn_index", "persona_set", "speaker_id")


@dataclass(frozen=True)
class Conversations:
    """The conversations of a corpus."""

    tables: CorpusTables
    labels: ConvoKitLabels

    @cached_property
    def members(self) -> Sequence[JsonMember]:
        """The metadata of a conversation; each has all of them."""
        has = self.tables.has
        members = [
            JsonMember("native_id", "native_id", "str"),
            JsonMember("domain", "domain", "str"),
            JsonMember("title", "title", "str"),
            JsonMember("language", "language", "str"),
            JsonMember("started_at", "started_at::varchar", "str"),
            JsonMember("split", "case when len(splits) = 1 then splits[1] end", "str"),
            JsonMember("splits", "coalesce(splits, [])", "list"),
            JsonMember("standard_splits", "coalesce(standard_splits, [])", "list"),
            JsonMember("releases", "coalesce(releases, [])", "list"),
            JsonMember("records", "coalesce(records, [])", "list"),
            JsonMember("sources", "coalesce(sources, [])", "list"),
            JsonMember("timestamps", "timestamps", "str"),
            JsonMember("participants", "coalesce(participants, [])", "list"),
            JsonMember("persona_lists", "persona_lists", "list"),
            JsonMember("extra", "extra", "dict"),
        ]
        if has["turns.reply_to"]:
            members.append(JsonMember("replies", "replies", "str"))
        if has["dialogues.derived_from"]:
            members.append(JsonMember("derived_from", "derived_from", "str"))
        return [
            *members,
            *(member for scheme in self.labels.schemes(LabelLevel.DIALOGUE) for member in scheme.members()),
        ]

    def query(self, part: DialogueRange) -> str:
        """Return the conversations of some dialogues; the first column is the id."""
        joined = [self._records(part), self._participants(part), self._persona_lists(part)]
        joined += self.labels.relations(part, LabelLevel.DIALOGUE)
        return f"""
        select dialogue_id, {with_meta(self.members)}
        from {self.tables.ordered_rows("dialogues", part.condition)}
        inner join {self._turns(part)} using (dialogue_id)
        {" ".join(f"left join {relation} using (dialogue_id)" for relation in joined)}
        order by dialogue_key
        """

    def _turns(self, part: DialogueRange) -> str:
        replies = "case when any_value(is_tree) then 'published' else 'order' end as replies"
        has_replies = self.tables.has["turns.reply_to"]
        turns = self.tables.rows("turns", part.condition)
        return f"""(
        select
            dialogue_id,
            case when bool_and({HAS_TIME}) then 'published' else 'position' end as timestamps
            {", " + replies if has_replies else ""}
        from (select * {", " + is_tree(self.tables, part) if has_replies else ""} from {turns})
        group by dialogue_id
        )"""

    def _records(self, part: DialogueRange) -> str:
        return f"""(
        select
            dialogue_id,
            {_distinct("split")} as splits,
            {_distinct("standard_split")} as standard_splits,
            {_distinct("release")} as releases,
            list({struct((name, name) for name in _RECORD)} order by record_id) as records,
            list({struct((name, name) for name in _SOURCE)} order by record_id) as sources
        from {self.tables.rows("records", part.condition)}
        group by dialogue_id
        )"""

    def _participants(self, part: DialogueRange) -> str:
        members = [("speaker_id", "speaker_id"), ("role", "role"), ("speaks", "speaks")]
        if self.tables.has["participants.extra"]:
            members.append(("extra", "extra"))
        together = f"""
        union all
        select (dialogue_id, speaker_id) from {self.tables.rows("turn_speakers", part.condition)}
        """
        return f"""(
        select dialogue_id, list({struct(members)} order by speaker_id) as participants
        from (
            select *, (dialogue_id, speaker_id) in (
                select (dialogue_id, speaker_id) from {self.tables.rows("turns", part.condition)}
                where speaker_id is not null
                {together if self.tables.has["turn_speakers"] else ""}
            ) as speaks
            from {self.tables.rows("participants", part.condition)}
        )
        group by dialogue_id
        )"""

    def _persona_lists(self, part: DialogueRange) -> str:
        place = ", ".join(_PERSONA_LIST)
        members = struct((name, name) for name in (*_PERSONA_LIST, "persona_ids", "texts"))
        return f"""(
        select dialogue_id, list({members} order by record_id, turn_index, persona_set, speaker_id) as persona_lists
        from (
            select
                dialogue_id, {place},
                list(persona_id order by position) as persona_ids,
                list(text order by position) as texts
            from {self.tables.rows("persona_uses", part.condition)} as uses
            left join (select persona_id, text from {self.tables.rows("personas")}) using (persona_id)
            group by dialogue_id, {place}
        )
        group by dialogue_id
        )"""


def _distinct(column: str) -> str:
    """Return the values of a column that are not null, each once, by name."""
    return f"list(distinct {column} order by {column}) filter (where {column} is not null)"
