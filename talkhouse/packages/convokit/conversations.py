"""Dialogues as conversations, turns as utterances in the order of the turns, and those who speak as speakers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from talkhouse.packages.convokit import corpus_tables
from talkhouse.schema.sql_files import sql_of

_LEAST_DIGITS = 4
"""Of the turn's number in ids: ConvoKit sorts utterances of one time by their ids, as texts."""


@dataclass(frozen=True)
class Utterances:
    """The utterances of a corpus."""

    tables: corpus_tables.CorpusTables
    missing: corpus_tables.MissingSpeakers
    labels: corpus_tables.ConvoKitLabels

    @cached_property
    def _digits(self) -> int:
        query = f"select coalesce(max(turn_index), 0) from {self.tables.rows('turns')}"
        ((highest,),) = self.tables.warehouse.con.execute(query).fetchall()
        return max(_LEAST_DIGITS, len(str(highest)))

    @cached_property
    def members(self) -> Sequence[corpus_tables.JsonMember]:
        """The metadata of an utterance; each has all of them."""
        members = corpus_tables.members_of("utterance", self.tables.has)
        return [
            *members,
            *(member for scheme in self.labels.schemes(corpus_tables.LabelLevel.TURN) for member in scheme.members()),
        ]

    def query(self, part: corpus_tables.DialogueRange) -> str:
        """Return the utterances of some dialogues; the columns are the keys of their objects."""
        joined = [*self._speakers_together(part), *self._parts(part)]
        joined += self.labels.relations(part, corpus_tables.LabelLevel.TURN)
        return sql_of(
            __file__,
            "utterances",
            id=self._id("turn_index"),
            speaker=self._speaker,
            meta=corpus_tables.struct(self.members),
            reply_to=self._id(self._replied),
            is_tree=self.tables.is_tree,
            turns=self.tables.ordered_rows("turns", part.condition),
            joined=" ".join(f"left join {relation} using (dialogue_id, turn_index)" for relation in joined),
        )

    def _id(self, turn_index: str) -> str:
        """Return the id of a turn; null where there is no such turn."""
        return f"dialogue_id || '#' || lpad(({turn_index})::varchar, {self._digits}, '0')"

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

    def _speakers_together(self, part: corpus_tables.DialogueRange) -> Iterator[str]:
        if self.tables.has["turn_speakers"]:
            yield sql_of(
                __file__, "utterance_speakers", turn_speakers=self.tables.rows("turn_speakers", part.condition)
            )

    def _parts(self, part: corpus_tables.DialogueRange) -> Iterator[str]:
        if self.tables.has["parts"]:
            yield sql_of(__file__, "utterance_parts", parts=self.tables.rows("parts", part.condition))


MEMBERS = corpus_tables.members_of("speaker")
"""The metadata of a speaker."""


@dataclass(frozen=True)
class ConvoKitSpeakers:
    """The speakers of a corpus."""

    tables: corpus_tables.CorpusTables
    missing: corpus_tables.MissingSpeakers

    def query(self) -> str:
        """Return all speakers by id; the first column is the id."""
        return sql_of(
            __file__,
            "speakers",
            meta=corpus_tables.with_meta(MEMBERS),
            speakers=self.tables.rows("speakers"),
            turns=self.tables.rows("turns"),
            missing=self.missing.rows,
            personas=self.tables.rows("personas", "speaker_id is not null"),
        )

    def silent(self) -> int:
        """Return the number of speakers of the corpus who never speak; they are among the participants, if anywhere."""
        query = f"""
        select count(*) from {self.tables.rows("speakers")} anti join {self.tables.rows("turns")} using (speaker_id)
        """
        ((count,),) = self.tables.warehouse.con.execute(query).fetchall()
        return int(count)


@dataclass(frozen=True)
class Conversations:
    """The conversations of a corpus."""

    tables: corpus_tables.CorpusTables
    labels: corpus_tables.ConvoKitLabels

    @cached_property
    def members(self) -> Sequence[corpus_tables.JsonMember]:
        """The metadata of a conversation; each has all of them."""
        members = corpus_tables.members_of("conversation", self.tables.has)
        schemes = self.labels.schemes(corpus_tables.LabelLevel.DIALOGUE)
        return [*members, *(member for scheme in schemes for member in scheme.members())]

    def query(self, part: corpus_tables.DialogueRange) -> str:
        """Return the conversations of some dialogues; the first column is the id."""
        joined = [self._records(part), self._participants(part), self._persona_lists(part)]
        joined += self.labels.relations(part, corpus_tables.LabelLevel.DIALOGUE)
        return f"""
        select dialogue_id, {corpus_tables.with_meta(self.members)}
        from {self.tables.ordered_rows("dialogues", part.condition)}
        inner join {self._turns(part)} using (dialogue_id)
        {" ".join(f"left join {relation} using (dialogue_id)" for relation in joined)}
        order by dialogue_key
        """

    def _turns(self, part: corpus_tables.DialogueRange) -> str:
        replies = ", case when any_value(is_tree) then 'published' else 'order' end as replies"
        return sql_of(
            __file__,
            "conversation_turns",
            replies=replies if self.tables.has["turns.reply_to"] else "",
            is_tree=self.tables.is_tree,
            turns=self.tables.ordered_rows("turns", part.condition),
        )

    def _records(self, part: corpus_tables.DialogueRange) -> str:
        return sql_of(__file__, "conversation_records", records=self.tables.rows("records", part.condition))

    def _participants(self, part: corpus_tables.DialogueRange) -> str:
        members = [("speaker_id", "speaker_id"), ("role", "role"), ("speaks", "speaks")]
        if self.tables.has["participants.extra"]:
            members.append(("extra", "extra"))
        together = f"""
        union all
        select (dialogue_id, speaker_id) from {self.tables.rows("turn_speakers", part.condition)}
        """
        return sql_of(
            __file__,
            "conversation_participants",
            participant=corpus_tables.struct(members),
            turns=self.tables.rows("turns", part.condition),
            together=together if self.tables.has["turn_speakers"] else "",
            participants=self.tables.rows("participants", part.condition),
        )

    def _persona_lists(self, part: corpus_tables.DialogueRange) -> str:
        return sql_of(
            __file__,
            "conversation_persona_lists",
            persona_uses=self.tables.rows("persona_uses", part.condition),
            personas=self.tables.rows("personas"),
        )
