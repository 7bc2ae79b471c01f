"""The rows of a corpus that are exported, and its labels in the metadata of what they are about."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, NamedTuple

from talkhouse.export.pseudonyms import Pseudonyms
from talkhouse.export.selection import Selection
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.tables import metadata, owned_by
from talkhouse.schema.toml_files import toml_of
from talkhouse.warehouse.opened import Warehouse

_PART_ROWS = 400_000
"""Turns and labels that are taken together at once, so that memory does not grow with the corpus."""


class DialogueRange(NamedTuple):
    """Dialogues that are written together, from the first to the last; never half of one."""

    first: str
    last: str
    turns: int

    @property
    def condition(self) -> str:
        """The SQL condition of their rows."""
        return f"dialogue_id between {literal(self.first)} and {literal(self.last)}"


@dataclass(frozen=True)
class CorpusTables:
    """The tables of one corpus."""

    warehouse: Warehouse
    corpus_id: str
    pseudonyms: Pseudonyms | None = None
    records: Selection | None = None
    """Those of ``main.records`` that are wanted: their dialogues, and what came with these records. None: all."""

    def rows(self, name: str, condition: str = "true") -> str:
        """Return a table's rows as a relation in SQL; the condition, as all of them, is one of the published ids."""
        return f"(select *{self._replaced(name)} from main.{quoted(name)} where {self._wanted(name)} and {condition})"

    def ordered_rows(self, name: str, condition: str = "true") -> str:
        """Return the same with the published dialogue id added, ``dialogue_key``, by which files are in order."""
        return (
            f"(select dialogue_id as dialogue_key, *{self._replaced(name)} from main.{quoted(name)} "
            f"where {self._wanted(name)} and {condition})"
        )

    def _replaced(self, name: str) -> str:
        if self.pseudonyms is None:
            return ""
        types = {column.name: str(column.type) for column in metadata.tables[name].columns}
        replaced = self.pseudonyms.columns(f"main.{name}", types)
        columns = ", ".join(f"{expression} as {quoted(column)}" for column, expression in replaced.items())
        return f" replace ({columns})" if columns else ""

    def _wanted(self, name: str) -> str:
        table = metadata.tables[name]
        owned = owned_by(table, self.corpus_id)
        if self.records is None:
            return owned
        for key in ("record_id", "dialogue_id"):
            if key in table.columns:
                wanted = self.records.rows([key])
                return f"{owned} and {key} in (select {key} from ({wanted}) where {key} is not null)"
        return owned

    def count(self, name: str, condition: str = "true") -> int:
        """Return the number of exported rows of a table."""
        ((rows,),) = self.warehouse.con.execute(f"select count(*) from {self.rows(name, condition)}").fetchall()
        return int(rows)

    @cached_property
    def parts(self) -> list[DialogueRange]:
        """All dialogues that have turns, in the order of their ids."""
        query = sql_of(
            __file__,
            "dialogue_ranges",
            turns=self.ordered_rows("turns"),
            annotations=self.ordered_rows("annotations", "dialogue_id is not null"),
            part_rows=_PART_ROWS,
        )
        return [DialogueRange(*row) for row in self.warehouse.con.execute(query).fetchall()]

    @cached_property
    def has(self) -> Mapping[str, bool]:
        """Whether what few corpora have is in this one: the name of a table, or of a table and a column."""
        facts = {
            "turn_speakers": self.rows("turn_speakers"),
            "parts": self.rows("parts"),
            "turns.reply_to": self.rows("turns", "reply_to is not null"),
            "turns.start_ms": self.rows("turns", "(start_ms is not null or end_ms is not null)"),
            "dialogues.derived_from": self.rows("dialogues", "derived_from is not null"),
            "participants.extra": self.rows("participants", "extra is not null"),
        }
        queries = ", ".join(f"exists(from {relation})" for relation in facts.values())
        (values,) = self.warehouse.con.execute(f"select {queries}").fetchall()
        return dict(zip(facts, values, strict=True))

    @property
    def is_tree(self) -> str:
        """The column ``is_tree`` of ordered turns, after a comma; nothing where no turn names what it replies to."""
        return f", {sql_of(__file__, 'is_tree')}" if self.has["turns.reply_to"] else ""


PythonType = Literal["int", "float", "str", "bool", "list", "dict"]
"""A type of Python, as ``index.json`` names it."""


class JsonMember(NamedTuple):
    """A key, its value in SQL, and the value's type where it is not null."""

    name: str
    expression: str
    kind: PythonType


def members_of(kind: str, has: Mapping[str, bool] | None = None) -> list[JsonMember]:
    """Return the metadata that all objects of a kind have, but for those of which a corpus has none."""
    return [
        JsonMember(name, declared.get("value", name), declared["type"])
        for name, declared in toml_of(__file__, "metadata")[kind].items()
        if has is None or has.get(declared.get("needs"), True)
    ]


def struct(members: Iterable[JsonMember | tuple[str, str]]) -> str:
    """Return an SQL struct of members, or of names and expressions."""
    return f"struct_pack({', '.join(f'{quoted(member[0])} := {member[1]}' for member in members)})"


def index(members: Iterable[JsonMember]) -> dict[str, list[str]]:
    """Return the types of metadata as ConvoKit writes them; what is not in its index is dropped by its ``dump``."""
    return {member.name: [f"<class '{member.kind}'>"] for member in members}


def with_meta(members: Sequence[JsonMember]) -> str:
    """Return a speaker or conversation as in its file, as columns: the metadata, and no vectors."""
    return f"{struct(members)} as meta, []::varchar[] as vectors"


@dataclass(frozen=True)
class MissingSpeakers:
    """Who says the turns whose speaker is not known, and those that several say together: one of each per dialogue."""

    tables: CorpusTables

    def id_of(self, is_together: str) -> str:
        """Return the id of the speaker of a turn that has none; ``is_together``: the condition that several say it."""
        unknown, together = self._names
        return f"dialogue_id || case when {is_together} then {literal(together)} else {literal(unknown)} end"

    @cached_property
    def _names(self) -> tuple[str, str]:
        """``/unknown`` and ``/together``, unless speakers have such ids: ConvoKit merges what has one id."""
        return self._free("/unknown"), self._free("/together")

    def _free(self, name: str) -> str:
        taken = self.tables.count("speakers", f"ends_with(speaker_id, {literal(name)})")
        return self._free(f"{name}~") if taken else name

    @property
    def rows(self) -> str:
        """These speakers as a relation in SQL, with the columns that they have."""
        together = "(dialogue_id, turn_index) in (select (dialogue_id, turn_index) from main.turn_speakers)"
        return f"""(
        select distinct
            {self.id_of("is_together")} as speaker_id, not is_together as is_missing, true as is_anonymous
        from (
            select dialogue_id, {together if self.tables.has["turn_speakers"] else "false"} as is_together
            from {self.tables.rows("turns", "speaker_id is null")}
        )
        )"""


_PLACE = ("record_id", "persona_set", "persona_position")
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
        entries = f"list_sort(list(struct_pack({', '.join(_PLACE)}, entry := {self._entry()})) {own})"
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
        value = [("value", "value")] if self.has_labels else []
        members = [("record_id", "record_id"), ("annotator", "annotator_id"), *value, ("persona_id", "persona_id")]
        return struct([*members, ("span", _span()), ("extra", "extra")])


def _span(prefix: str = "") -> str:
    """Return the begin and end of a label's span, as a list; null for the whole turn."""
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
        facts = sql_of(
            __file__, "scheme_facts", annotations=self.tables.rows("annotations", f"not ({LabelLevel.NONE})")
        )
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
        query = sql_of(
            __file__,
            "repeated_labels",
            annotations=self.tables.rows("annotations", f"{level} and scheme = {literal(name)}"),
            key=key,
        )
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
        entries = sql_of(
            __file__,
            "label_entries",
            columns=", ".join([key, *several]),
            key=key,
            place=", ".join(_PLACE),
            annotations=rows,
            names=names,
        )
        return [*relations, entries]
