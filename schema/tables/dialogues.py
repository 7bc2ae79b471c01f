"""What was said, and by whom: one row per real conversation, however often it was published."""

from sqlalchemy import JSON, TIMESTAMP, Boolean, Column, ForeignKey, Integer

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
    Column("started_at", TIMESTAMP, comment="Wall clock time of the start, as published."),
    Column("extra", JSON, comment="What only this corpus has; its views lift it out by name."),
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
        "turn_index",
        Integer,
        comment="0-based position in the published order (not the publisher's own number).",
    ),
    Column("speaker_id", Text, ForeignKey("speakers.speaker_id"), comment="Who said it."),
    Required("role", Text, comment="Role of the speaker: user, system, agent ..."),
    Required("kind", Text, comment="message, seed, initial, submit ..."),
    Required("text", LongText, comment="The utterance, verbatim; may be empty."),
    Column("native_id", Text, comment="The publisher's id of the turn, verbatim."),
    Column(
        "said_at",
        TIMESTAMP,
        comment="Wall clock time as published; the zone is not known unless the corpus says it.",
    ),
    Column("extra", JSON, comment="What only this corpus has, and published values that no column reproduces."),
    grain=("dialogue_id", "turn_index"),
    owner="dialogue_id",
    comment="An utterance, verbatim.",
)
