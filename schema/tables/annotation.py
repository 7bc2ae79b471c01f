"""Labels: one row per label and annotator, never an aggregate."""

from sqlalchemy import JSON, Column, Double, ForeignKey, ForeignKeyConstraint, Integer

from talkhouse.schema.tables.base import Required, Text, table

annotations = table(
    "annotations",
    Required(
        "record_id",
        Text,
        ForeignKey("records.record_id"),
        comment="The record that published the label. Join annotations to records by this: by dialogue the rows double, since a dialogue may be published more than once.",
    ),
    Column("turn_index", Integer, comment="The labelled turn; null: the whole dialogue, record or persona."),
    Column("persona_set", Text, comment="The persona list that the label is about, if it is about one."),
    Column("persona_position", Integer, comment="Position in that list."),
    Required("scheme", Text, ForeignKey("schemes.scheme"), comment="Annotation scheme."),
    Required(
        "annotator_index",
        Integer,
        comment="0-based position of the annotator in the published list; 0 for a gold label.",
    ),
    Required("item_index", Integer, comment="0-based position where one annotator gives several labels."),
    Column(
        "dialogue_id",
        Text,
        ForeignKey("dialogues.dialogue_id"),
        comment="The record's dialogue: join turns by (dialogue_id, turn_index).",
    ),
    Column("persona_id", Text, ForeignKey("personas.persona_id"), comment="The persona, if it is about one."),
    Column(
        "annotator_id",
        Text,
        comment="The publisher's id of the annotator, verbatim; may be empty, so it is no key.",
    ),
    Column("label", Text, comment="The label, verbatim; null where only a number is given."),
    Column("value", Double, comment="The number, where the label is one."),
    Column("extra", JSON, comment="What only this corpus has."),
    Column(
        "start_index",
        Integer,
        comment="Where the labelled span of the turn's text begins: 0-based, in code points; null: the whole turn.",
    ),
    Column(
        "end_index",
        Integer,
        comment="Where the span ends, exclusive: text[start_index + 1 : end_index] in SQL, text[start:end] in Python.",
    ),
    ForeignKeyConstraint(["dialogue_id", "turn_index"], ["turns.dialogue_id", "turns.turn_index"]),
    ForeignKeyConstraint(["scheme", "label"], ["labels.scheme", "labels.label"]),
    grain=(
        "record_id",
        "turn_index",
        "persona_set",
        "persona_position",
        "scheme",
        "annotator_index",
        "item_index",
    ),
    owner="record_id",
    comment="One label by one annotator, or the gold label, as one record published it.",
)
