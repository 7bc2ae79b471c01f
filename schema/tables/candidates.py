"""Candidate lists by reference: each distinct text is stored once per corpus."""

from sqlalchemy import JSON, Boolean, Column, ForeignKey, ForeignKeyConstraint, Integer

from talkhouse.schema.tables.base import LongText, Required, Text, table

texts = table(
    "texts",
    Required("text_id", Text, comment="Key: corpus id and hex digits of a content hash."),
    Required("corpus_id", Text, ForeignKey("corpora.corpus_id"), comment="Corpus of the text."),
    Required("text", LongText, comment="The text, verbatim."),
    grain=("text_id",),
    owner="corpus_id",
    comment="A distinct candidate text, once per corpus.",
)

candidates = table(
    "candidates",
    Required("record_id", Text, ForeignKey("records.record_id"), comment="The record that the list came with."),
    Column("turn_index", Integer, comment="The turn that is to be predicted; null: the whole record."),
    Required("candidate_set", Text, comment="Name of the list."),
    Required("position", Integer, comment="0-based position in the list."),
    Required("item_index", Integer, comment="0-based position where a candidate is itself a list."),
    Column("dialogue_id", Text, ForeignKey("dialogues.dialogue_id"), comment="The record's dialogue."),
    Column("text_id", Text, ForeignKey("texts.text_id"), comment="The candidate, where it is a text."),
    Column("persona_id", Text, ForeignKey("personas.persona_id"), comment="The candidate, where it is a persona."),
    Column("source", Text, comment="Who made it: a model's name, for instance."),
    Column("is_gold", Boolean, comment="True for the right answer; null where the list does not say."),
    Column("extra", JSON, comment="What only this corpus has."),
    ForeignKeyConstraint(["dialogue_id", "turn_index"], ["turns.dialogue_id", "turns.turn_index"]),
    grain=("record_id", "turn_index", "candidate_set", "position", "item_index"),
    owner="record_id",
    comment="One item of a candidate list that came with a record.",
)
