"""One row per real conversation, with its turns, speakers and labels; and what files say: records, examples, personas."""

from sqlalchemy import JSON, TIMESTAMP, BigInteger, Boolean, Column, Double, ForeignKey, ForeignKeyConstraint, Integer

from talkhouse.schema.tables.base import LongText, Required, Text, table

dialogues = table(
    "dialogues",
    Required(
        "dialogue_id",
        Text,
        comment="Key: corpus id, a colon, the publisher's id; '~' and 8 hex digits behind it tell apart other words under one id.",
    ),
    Required("corpus_id", Text, ForeignKey("corpora.corpus_id"), comment="Corpus of the dialogue."),
    Column("native_id", Text, comment="The publisher's id of the dialogue, verbatim; null where there is none."),
    Column("domain", Text, comment="Topic area or site, as the publisher names it."),
    Column("title", Text, comment="Title or subject of the dialogue."),
    Column("language", Text, comment="ISO 639-1 code."),
    Column("started_at", TIMESTAMP, comment="Wall clock time of the start, as published; UTC where turns.said_at is."),
    Column("extra", JSON, comment="What only this corpus has; its views lift it out by name."),
    Column(
        "derived_from",
        Text,
        comment="The dialogue that this one was made from, where it says so; may be another corpus's, and need not be in this warehouse.",
    ),
    grain=("dialogue_id",),
    owner="corpus_id",
    comment="One real conversation, however often it was published; what files say of it is in records.",
)

speakers = table(
    "speakers",
    Required("speaker_id", Text, comment="Key, begins with the corpus id."),
    Required("corpus_id", Text, ForeignKey("corpora.corpus_id"), comment="Corpus of the speaker."),
    Column("native_id", Text, comment="The publisher's id of the person, verbatim (may be empty)."),
    Column("name", Text, comment="Name or alias."),
    Required("kind", Text, comment="human, bot or system."),
    Required(
        "is_anonymous",
        Boolean,
        comment="True where the publisher does not identify the person: the row stands for one person in one dialogue.",
    ),
    Column("extra", JSON, comment="What only this corpus has."),
    grain=("speaker_id",),
    owner="corpus_id",
    comment="A person or bot, as far as the publisher identifies one; also a persona's owner who never speaks.",
)

participants = table(
    "participants",
    Required("dialogue_id", Text, ForeignKey("dialogues.dialogue_id"), comment="Dialogue."),
    Required("speaker_id", Text, ForeignKey("speakers.speaker_id"), comment="Speaker."),
    Column("role", Text, comment="Role in this dialogue: user, system, agent ..."),
    Column("extra", JSON, comment="What only this corpus has."),
    grain=("dialogue_id", "speaker_id"),
    owner="dialogue_id",
    comment="A speaker in a dialogue.",
)

turns = table(
    "turns",
    Required("dialogue_id", Text, ForeignKey("dialogues.dialogue_id"), comment="Dialogue."),
    Required(
        "turn_index", Integer, comment="0-based position in the published order (not the publisher's own number)."
    ),
    Column(
        "speaker_id",
        Text,
        ForeignKey("speakers.speaker_id"),
        comment="Who said it; null: not known, or several, who are in turn_speakers.",
    ),
    Required("role", Text, comment="Role of the speaker: user, system, agent ..."),
    Required("kind", Text, comment="message, seed, initial, submit ..."),
    Required("text", LongText, comment="The utterance, verbatim; may be empty."),
    Column("native_id", Text, comment="The publisher's id of the turn, verbatim."),
    Column(
        "said_at",
        TIMESTAMP,
        comment="Wall clock time as published, whose zone is not known unless the corpus says it; UTC where the times of a file of one's own have several offsets from UTC.",
    ),
    Column("extra", JSON, comment="What only this corpus has, and published values that no column reproduces."),
    Column(
        "reply_to",
        Integer,
        comment="The turn_index of the turn that it answers, in the same dialogue; null: none, or not known.",
    ),
    Column("start_ms", BigInteger, comment="Where it begins in the recording, in milliseconds."),
    Column("end_ms", BigInteger, comment="Where it ends in the recording, in milliseconds."),
    ForeignKeyConstraint(["dialogue_id", "reply_to"], ["turns.dialogue_id", "turns.turn_index"]),
    grain=("dialogue_id", "turn_index"),
    owner="dialogue_id",
    comment="An utterance, verbatim.",
)

turn_speakers = table(
    "turn_speakers",
    Required("dialogue_id", Text, ForeignKey("dialogues.dialogue_id"), comment="Dialogue."),
    Required("turn_index", Integer, comment="The turn."),
    Required("position", Integer, comment="0-based position in the published list of speakers."),
    Required("speaker_id", Text, ForeignKey("speakers.speaker_id"), comment="One of those who said it."),
    ForeignKeyConstraint(["dialogue_id", "turn_index"], ["turns.dialogue_id", "turns.turn_index"]),
    grain=("dialogue_id", "turn_index", "position"),
    owner="dialogue_id",
    comment="Who said a turn that several say together; of all others, turns.speaker_id tells.",
)

parts = table(
    "parts",
    Required("dialogue_id", Text, ForeignKey("dialogues.dialogue_id"), comment="Dialogue."),
    Required("turn_index", Integer, comment="The turn."),
    Required(
        "part_index", Integer, comment="0-based position among the parts of the turn, in the order of its members."
    ),
    Required("field", Text, comment="The member of the published message that it stands in: content, tool_calls ..."),
    Required(
        "kind",
        Text,
        comment="text, reasoning, tool_call, tool_call_response, uri, blob, file (OpenTelemetry's names) or refusal.",
    ),
    Column(
        "start_index",
        Integer,
        comment="Where the part begins in the turn's text: 0-based, in code points; null: it is no part of that text.",
    ),
    Column("end_index", Integer, comment="Where it ends there, exclusive."),
    Column("name", Text, comment="Name of the tool or file."),
    Column("call_id", Text, comment="The publisher's id of the tool call; its response has the same."),
    Column("arguments", JSON, comment="Arguments of a tool call, where they are JSON; else they are its text."),
    Column("uri", Text, comment="Address of what it is, as published."),
    Column("mime_type", Text, comment="Media type of what it is, as published."),
    Column("text", LongText, comment="What it says, where that is not in the turn's text; verbatim."),
    Column("extra", JSON, comment="What only this corpus has, and published values that no column reproduces."),
    ForeignKeyConstraint(["dialogue_id", "turn_index"], ["turns.dialogue_id", "turns.turn_index"]),
    grain=("dialogue_id", "turn_index", "part_index"),
    owner="dialogue_id",
    comment="A part of a turn that is more than a plain text: content parts, tool calls and results, reasoning, attachments.",
)


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
        "annotator_id", Text, comment="The publisher's id of the annotator, verbatim; may be empty, so it is no key."
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
    grain=("record_id", "turn_index", "persona_set", "persona_position", "scheme", "annotator_index", "item_index"),
    owner="record_id",
    comment="One label by one annotator, or the gold label, as one record published it.",
)


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
        "source_file_id", Text, ForeignKey("meta.source_files.source_file_id"), comment="The file that it came from."
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
    Required("source_file_id", Text, ForeignKey("meta.source_files.source_file_id"), comment="The file that names it."),
    Required("image_index", Integer, comment="0-based position in that file."),
    Column("extra", JSON, comment="What only this corpus has."),
    grain=("corpus_id", "kind", "image_id"),
    owner="corpus_id",
    comment="An image that a corpus names.",
)


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
