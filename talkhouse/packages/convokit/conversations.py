"""Dialogues as conversations: what is known of a dialogue, and how it was published."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from talkhouse.packages.convokit.corpus_tables import CorpusTables, DialogueRange, JsonMember, struct, with_meta
from talkhouse.packages.convokit.labels import ConvoKitLabels, LabelLevel
from talkhouse.packages.convokit.utterances import HAS_TIME, is_tree

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
