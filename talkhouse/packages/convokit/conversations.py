"""Dialogues as conversations, turns as utterances in the order of the turns, and those who speak as speakers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from talkhouse.packages.convokit.corpus_tables import (
    ConvoKitLabels,
    CorpusTables,
    DialogueRange,
    JsonMember,
    LabelLevel,
    MissingSpeakers,
    struct,
    with_meta,
)

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
            {", " + IS_TREE if self.tables.has["turns.reply_to"] else ""}
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


IS_TREE = """
    count_if(reply_to is null) over (partition by dialogue_id) = 1
    and max(turn_index) over (partition by dialogue_id) = count(*) over (partition by dialogue_id) - 1
    and dialogue_key not in (select dialogue_id from bi.turn_paths where not is_tree) as is_tree
"""
"""Whether the published replies of a dialogue make one tree, none of whose turns is left out: of others ``traverse``
raises. Where each turn answers the one before it, ``bi.turn_paths`` has none of it."""


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
        """Return the number of speakers of the corpus who never speak; they are among the participants, if anywhere."""
        query = f"""
        select count(*) from {self.tables.rows("speakers")} anti join {self.tables.rows("turns")} using (speaker_id)
        """
        ((count,),) = self.tables.warehouse.con.execute(query).fetchall()
        return int(count)


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
        turns = self.tables.ordered_rows("turns", part.condition)
        return f"""(
        select
            dialogue_id,
            case when bool_and({HAS_TIME}) then 'published' else 'position' end as timestamps
            {", " + replies if has_replies else ""}
        from (select * {", " + IS_TREE if has_replies else ""} from {turns})
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
