"""Turns as utterances, in the order of dialogues and turns, and those who speak as speakers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from talkhouse.packages.convokit.metadata import ConvoKitLabels, LabelLevel
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


_LEAST_DIGITS = 4
"""Of the turn's number in ids: ConvoKit sorts utterances of one time by their ids, as texts."""

_PARTS = (
    *("part_index", "field", "kind", "start_index", "end_index", "name", "call_id", "arguments"),
    *("uri", "mime_type", "text", "extra"),
)


@dataclass(frozen=True)
class Utterances:
    """The utterances of a corpus."""

    tables: CorpusTables
    missing: MissingSpeakers
    labels: ConvoKitLabels

    @cached_property
    def _digits(self) -> int:
        query = f"select coalesce(max(turn_index), 0) from {self.tables.rows('turns')}"
        ((highest,),) = self.tables.warehouse.con.execute(query).fetchall()
        return max(_LEAST_DIGITS, len(str(highest)))

    @cached_property
    def members(self) -> Sequence[JsonMember]:
        """The metadata of an utterance; each has all of them."""
        has = self.tables.has
        members = [
            JsonMember("turn_index", "turn_index", "int"),
            JsonMember("role", "role", "str"),
            JsonMember("kind", "kind", "str"),
            JsonMember("native_id", "native_id", "str"),
            JsonMember("said_at", "said_at::varchar", "str"),
            JsonMember("extra", "extra", "dict"),
        ]
        if has["turns.reply_to"]:
            members.append(JsonMember("reply_to", "reply_to", "int"))
        if has["turns.start_ms"]:
            members += [JsonMember("start_ms", "start_ms", "int"), JsonMember("end_ms", "end_ms", "int")]
        if has["turn_speakers"]:
            members.append(JsonMember("speakers", "speakers", "list"))
        if has["parts"]:
            members.append(JsonMember("parts", "parts", "list"))
        return [*members, *(member for scheme in self.labels.schemes(LabelLevel.TURN) for member in scheme.members())]

    def query(self, part: DialogueRange) -> str:
        """Return the utterances of some dialogues; the columns are the keys of their objects."""
        joined = [*self._speakers_together(part), *self._parts(part)]
        joined += self.labels.relations(part, LabelLevel.TURN)
        return f"""
        select
            {self._id("turn_index")} as id,
            dialogue_id as conversation_id,
            text,
            {self._speaker} as speaker,
            {struct(self.members)} as meta,
            {self._id(self._replied)} as "reply-to",
            {_TIMESTAMP}::json as timestamp,
            []::varchar[] as vectors
        from ({self._turns(part)})
        {" ".join(f"left join {relation} using (dialogue_id, turn_index)" for relation in joined)}
        order by dialogue_key, turn_index
        """

    def _id(self, turn_index: str) -> str:
        """Return the id of a turn; null where there is no such turn."""
        return f"dialogue_id || '#' || lpad(({turn_index})::varchar, {self._digits}, '0')"

    def _turns(self, part: DialogueRange) -> str:
        return f"""
        select
            *,
            lag(turn_index) over (partition by dialogue_id order by turn_index) as previous_turn,
            bool_and({HAS_TIME}) over (partition by dialogue_id) as has_times
            {", " + is_tree(self.tables, part) if self.tables.has["turns.reply_to"] else ""}
        from {self.tables.ordered_rows("turns", part.condition)}
        """

    @property
    def _replied(self) -> str:
        """The turn before; or the one that is published, where the dialogue is one tree by that."""
        if self.tables.has["turns.reply_to"]:
            return "case when is_tree then reply_to else previous_turn end"
        return "previous_turn"

    @property
    def _speaker(self) -> str:
        if self.tables.has["turn_speakers"]:
            return f"coalesce(speaker_id, {self.missing.id_of('speakers is not null')})"
        return f"coalesce(speaker_id, {self.missing.id_of('false')})"

    def _speakers_together(self, part: DialogueRange) -> Iterator[str]:
        if self.tables.has["turn_speakers"]:
            yield f"""(
            select dialogue_id, turn_index, list(speaker_id order by position) as speakers
            from {self.tables.rows("turn_speakers", part.condition)}
            group by all
            )"""

    def _parts(self, part: DialogueRange) -> Iterator[str]:
        if self.tables.has["parts"]:
            fields = struct((column, column) for column in _PARTS)
            yield f"""(
            select dialogue_id, turn_index, list({fields} order by part_index) as parts
            from {self.tables.rows("parts", part.condition)}
            group by all
            )"""


HAS_TIME = "(said_at is not null and isfinite(said_at))"
"""Whether a turn has a time; ConvoKit sorts by times only where all turns of a conversation have one."""

_TIMESTAMP = """case
    when not has_times then turn_index::varchar
    when epoch_us(said_at) % 1000000 = 0 then (epoch_us(said_at) // 1000000)::varchar
    else (epoch_us(said_at) / 1000000)::varchar
end"""
"""Seconds since 1970, or the turn's position; ConvoKit compares them, and leaves open what they are."""


def is_tree(tables: CorpusTables, part: DialogueRange) -> str:
    """Return the column of whether the published replies of a dialogue make one tree: of others ``traverse`` raises.

    There is one root, and all others answer a turn before them, which is there where none is missing; or some answer a
    later one, and from the root all are reached.
    """
    return f"""
    count_if(reply_to is null) over (partition by dialogue_id) = 1
    and max(turn_index) over (partition by dialogue_id) = count(*) over (partition by dialogue_id) - 1
    and (
        bool_and(reply_to is null or reply_to between 0 and turn_index - 1) over (partition by dialogue_id)
        or dialogue_id in ({_reached(tables.rows("turns", part.condition))})
    ) as is_tree
    """


def _reached(turns: str) -> str:
    """Return the dialogues with answers to later turns in which all turns are reached from those that answer none."""
    return f"""
    with recursive
    turned as (
        from {turns} where dialogue_id in (select dialogue_id from {turns} where reply_to > turn_index)
    ),
    reached as (
        select dialogue_id, turn_index from turned where reply_to is null
        union all
        select turned.dialogue_id, turned.turn_index
        from turned
        inner join reached on turned.dialogue_id = reached.dialogue_id and turned.reply_to = reached.turn_index
    )
    select dialogue_id
    from turned
    left join reached using (dialogue_id, turn_index)
    group by dialogue_id
    having count(*) = count(reached.turn_index)
    """


# ConvoKit takes ``is_ai`` out of the metadata, as an attribute of the speaker; and then ``role``, ``sender_name`` and
# ``agent_id`` too, so none of these may be a name here.
MEMBERS = (
    JsonMember("kind", "kind", "str"),
    JsonMember("is_ai", "coalesce(kind = 'bot', false)", "bool"),
    JsonMember("is_missing", "is_missing", "bool"),
    JsonMember("name", "name", "str"),
    JsonMember("native_id", "native_id", "str"),
    JsonMember("is_anonymous", "is_anonymous", "bool"),
    JsonMember("personas", "personas", "list"),
    JsonMember("extra", "extra", "dict"),
)

_PERSONA = ("persona_id", "native_id", "text", "image_file", "image_url", "extra")


@dataclass(frozen=True)
class ConvoKitSpeakers:
    """The speakers of a corpus."""

    tables: CorpusTables
    missing: MissingSpeakers

    def query(self) -> str:
        """Return all speakers by id; the first column is the id."""
        return f"""
        select speaker_id, {with_meta(MEMBERS)}
        from (
            select *, false as is_missing
            from {self.tables.rows("speakers")}
            semi join {self.tables.rows("turns")} using (speaker_id)
            union all by name
            from {self.missing.rows}
        )
        left join (
            select speaker_id, list({struct((name, name) for name in _PERSONA)} order by persona_id) as personas
            from {self.tables.rows("personas", "speaker_id is not null")}
            group by speaker_id
        ) using (speaker_id)
        order by speaker_id
        """

    def silent(self) -> int:
        """Return how many speakers of the corpus never speak; they are among the participants, if anywhere."""
        query = f"""
        select count(*) from {self.tables.rows("speakers")} anti join {self.tables.rows("turns")} using (speaker_id)
        """
        ((count,),) = self.tables.warehouse.con.execute(query).fetchall()
        return int(count)
