"""The rows of a corpus that are exported, all or those of the records wanted, and speakers for turns without one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from talkhouse.query.pseudonyms import Pseudonyms
from talkhouse.query.selection import Selection
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.tables import metadata, owned_by
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
        """Return the same with the published dialogue id beside it, ``dialogue_key``, by which files are in order."""
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
        """Return how many rows of a table are exported."""
        ((rows,),) = self.warehouse.con.execute(f"select count(*) from {self.rows(name, condition)}").fetchall()
        return int(rows)

    @cached_property
    def parts(self) -> list[DialogueRange]:
        """All dialogues that have turns, in the order of their ids."""
        sizes = f"""
        select dialogue_key, count(*) as row_count, count_if(is_turn) as turn_count
        from (
            select dialogue_key, true as is_turn from {self.ordered_rows("turns")}
            union all
            select dialogue_key, false from {self.ordered_rows("annotations", "dialogue_id is not null")}
        )
        group by dialogue_key
        having turn_count > 0
        """
        query = f"""
        select min(dialogue_key), max(dialogue_key), sum(turn_count)::bigint
        from (select *, sum(row_count) over (order by dialogue_key) // {_PART_ROWS} as part from ({sizes}))
        group by part
        order by part
        """
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


PythonType = Literal["int", "float", "str", "bool", "list", "dict"]
"""A type of Python, as ``index.json`` names it."""


class JsonMember(NamedTuple):
    """A key, its value in SQL, and the value's type where it is not null."""

    name: str
    expression: str
    kind: PythonType


def struct(members: Iterable[JsonMember | tuple[str, str]]) -> str:
    """Return an SQL struct of members, or of names and expressions."""
    return f"struct_pack({', '.join(f'{quoted(member[0])} := {member[1]}' for member in members)})"


def index(members: Iterable[JsonMember]) -> dict[str, list[str]]:
    """Return the types of metadata as ConvoKit writes them; what is not in its index is dropped by its ``dump``."""
    return {member.name: [f"<class '{member.kind}'>"] for member in members}


def with_meta(members: Sequence[JsonMember]) -> str:
    """Return what a speaker or conversation is in its file, as columns: the metadata, and no vectors."""
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
