"""What files say: records, the examples that tasks make of them, personas in lists, images."""

from sqlalchemy import JSON, Column, ForeignKey, ForeignKeyConstraint, Integer

from talkhouse.schema.tables.base import Required, Text, table

records = table(
    "records",
    Required("record_id", Text, comment="Key: corpus id and where it was published, separated by slashes."),
    Required("corpus_id", Text, ForeignKey("corpora.corpus_id"), comment="Corpus of the record."),
    Column(
        "dialogue_id",
        Text,
        ForeignKey("dialogues.dialogue_id"),
        comment="The dialogue that it is or belongs to; null where it belongs to none of this corpus (lists, cached files).",
    ),
    Column("native_id", Text, comment="The publisher's id of the record, verbatim."),
    Column(
        "main_speaker_id",
        Text,
        ForeignKey("speakers.speaker_id"),
        comment="The speaker whom the record is about, where the publisher names one.",
    ),
    Column("subset", Text, comment="The published file or folder that it belongs to."),
    Column("release", Text, comment="Publisher's release, as the path names it."),
    Column("split", Text, comment="Split, by the publisher's own name."),
    Column("standard_split", Text, comment="train, validation, test, or null."),
    Required("record_index", Integer, comment="0-based position in its list or folder, as published."),
    Required(
        "source_file_id",
        Text,
        ForeignKey("meta.source_files.source_file_id"),
        comment="The file that it came from.",
    ),
    Required("source_pointer", Text, comment="JSON pointer, or line, in that file; empty for the whole file."),
    Column(
        "extra",
        JSON,
        comment="fields: keys in published order. absent: pointers of keys that are not there. lists: which were null, absent or empty. differs: values that disagree with the dialogue's tables. beyond: list items that point at no turn. unknown: fields that no documentation names, by pointer. More by corpus.",
    ),
    grain=("record_id",),
    owner="corpus_id",
    comment="A record of a published file; usually a dialogue's place in a split. A dialogue may have several.",
)

examples = table(
    "examples",
    Required("corpus_id", Text, ForeignKey("corpora.corpus_id"), comment="Corpus of the task."),
    Required("task", Text, comment="Task: the name of its view."),
    Column("release", Text, comment="Release."),
    Column("split", Text, comment="Split, by the publisher's own name."),
    Required(
        "example_index",
        Integer,
        comment="0-based position in the published order within publisher's release, task and split.",
    ),
    Required("record_id", Text, ForeignKey("records.record_id"), comment="The record that it was made from."),
    Column("dialogue_id", Text, ForeignKey("dialogues.dialogue_id"), comment="The dialogue."),
    Column(
        "turn_index",
        Integer,
        comment="The turn that is labelled or answered; null where the example is a whole dialogue.",
    ),
    Column(
        "item_index",
        Integer,
        comment="0-based position among the examples of the same turn, such as a frame; null where the example is a turn or a dialogue.",
    ),
    ForeignKeyConstraint(["dialogue_id", "turn_index"], ["turns.dialogue_id", "turns.turn_index"]),
    grain=("corpus_id", "task", "release", "split", "example_index"),
    owner="corpus_id",
    comment="One example of a task, as the reference code makes it; what that code would refuse is in meta.findings.",
)

personas = table(
    "personas",
    Required(
        "persona_id",
        Text,
        comment="Key: corpus id and native id; '~' and 8 hex digits tell apart other contents under one id.",
    ),
    Required("corpus_id", Text, ForeignKey("corpora.corpus_id"), comment="Corpus of the persona."),
    Column("native_id", Text, comment="The publisher's id, verbatim."),
    Column("speaker_id", Text, ForeignKey("speakers.speaker_id"), comment="Owner."),
    Required("text", Text, comment="The persona sentence or title, verbatim."),
    Column("image_file", Text, comment="File name of its picture, as published."),
    Column("image_url", Text, comment="Address of its picture, as published."),
    Column("extra", JSON, comment="What only this corpus has."),
    grain=("persona_id",),
    owner="corpus_id",
    comment="A persona element or sentence, stored once.",
)

persona_uses = table(
    "persona_uses",
    Required("record_id", Text, ForeignKey("records.record_id"), comment="The record that the list came with."),
    Column("turn_index", Integer, comment="The turn that the list belongs to; null: the whole record."),
    Required("persona_set", Text, comment="Name of the list."),
    Required("position", Integer, comment="0-based position in the list."),
    Column("dialogue_id", Text, ForeignKey("dialogues.dialogue_id"), comment="The record's dialogue."),
    Required("persona_id", Text, ForeignKey("personas.persona_id"), comment="The persona."),
    Column("speaker_id", Text, ForeignKey("speakers.speaker_id"), comment="The speaker whom the list describes."),
    Column("extra", JSON, comment="What only this corpus has."),
    ForeignKeyConstraint(["dialogue_id", "turn_index"], ["turns.dialogue_id", "turns.turn_index"]),
    grain=("record_id", "turn_index", "persona_set", "position"),
    owner="record_id",
    comment="A persona in a list that came with a record.",
)

images = table(
    "images",
    Required("corpus_id", Text, ForeignKey("corpora.corpus_id"), comment="Corpus of the image."),
    Required("kind", Text, comment="What the image belongs to: dialogue or persona."),
    Required("image_id", Text, comment="The publisher's id of the image, verbatim."),
    Column("url", Text, comment="Address, as published."),
    Required(
        "source_file_id",
        Text,
        ForeignKey("meta.source_files.source_file_id"),
        comment="The file that names it.",
    ),
    Required("image_index", Integer, comment="0-based position in that file."),
    Column("extra", JSON, comment="What only this corpus has."),
    grain=("corpus_id", "kind", "image_id"),
    owner="corpus_id",
    comment="An image that a corpus names.",
)
