"""What a corpus declares of itself; and one row per real conversation, with its turns, speakers and labels."""

from sqlalchemy import (
    JSON,
    TIMESTAMP,
    BigInteger,
    Boolean,
    Column,
    Date,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
)

from talkhouse.schema.tables.base import LongText, Required, Text, table

corpora = table(
    "corpora",
    Required("corpus_id", Text, primary_key=True, comment="Id of the corpus; every key of its rows begins with it."),
    Required("title", Text, comment="Title, as its authors give it."),
    Required("description", Text, comment="What it is, in a sentence or two."),
    Required("homepage", Text, comment="Address of its home page."),
    Required("licence", Text, comment="Licence, as its publisher names it."),
    Column("licence_url", Text, comment="Address of the licence's text."),
    Required("terms", Text, comment="What a user must know beyond the licence; empty where there is nothing."),
    Required("citation", Text, comment="What to cite, as BibTeX or a reference."),
    Required("languages", Text, comment="ISO 639-1 codes, separated by blanks."),
    Required("reader_version", Integer, comment="Version of the reader that filled the tables."),
    Required("is_sample", Boolean, comment="True: invented sample data that ships with Talkhouse."),
    Column("declaration", Text, comment="The declaration that its files were read by, verbatim; null: it is Python."),
    Column("origin", Text, comment="Where its reader came from: built in, package NAME VERSION, or folder PATH."),
    Column(
        "made_from",
        Text,
        comment="What its files were made from, where they are not its publisher's; null: they are, or a sample.",
    ),
    Column(
        "authors",
        JSON,
        comment="Its authors in order: a list of objects with family and given; null: not declared, or not known of a corpus whose files were read before schema 0006.",
    ),
    Column(
        "year",
        Integer,
        comment="Year in which it was published; null: not declared, or not known of a corpus whose files were read before schema 0006.",
    ),
    Column(
        "reference",
        JSON,
        comment="The publication to cite: an object with kind (as BibTeX has it), title, venue, and doi, arxiv or url; null: not declared, or not known of a corpus whose files were read before schema 0006.",
    ),
    Column(
        "datasheet",
        JSON,
        comment="What its datasheet says: an object with motivation, composition, collection, labelling, uses and limits, which are texts, and quirks and sources, which are lists of texts; null: not declared, or not known of a corpus whose files were read before schema 0007.",
    ),
    grain=("corpus_id",),
    owner="corpus_id",
    comment="A corpus, with its licence and citation.",
)

corpus_terms = table(
    "corpus_terms",
    Required("corpus_id", Text, ForeignKey("corpora.corpus_id"), comment="Corpus."),
    Required("part", Text, comment="The part of it that is under these terms: all, or what its publisher calls it."),
    Column(
        "columns",
        JSON,
        comment="The columns that the part is: a list of schema.view.column, of a JSON column also with a member of it; null: all that no other part is.",
    ),
    Column("said_from", Date, comment="The part is only what was said from this day on, UTC; null: from the first."),
    Column("said_before", Date, comment="And before this day, UTC; null: to the last."),
    Column("spdx", Text, comment="Licence as an expression of SPDX identifiers; null: there is none."),
    Column("licence_url", Text, comment="Address of the licence's text."),
    Required("is_attribution", Boolean, comment="True: name the authors."),
    Required("is_share_alike", Boolean, comment="True: what is made of it must be under the same licence."),
    Required("is_non_commercial", Boolean, comment="True: not for commercial purposes."),
    Required("is_unknown", Boolean, comment="True: nobody has said under which terms some of it may be used."),
    Required("note", Text, comment="What a user must know of it; empty where there is nothing."),
    grain=("corpus_id", "part"),
    owner="corpus_id",
    comment="What the licence of a part of a corpus asks of whoever uses it; samples have no terms.",
)

releases = table(
    "releases",
    Required("corpus_id", Text, ForeignKey("corpora.corpus_id"), comment="Corpus."),
    Required("release", Text, comment="Publisher's release, as its path names it."),
    Required(
        "release_index",
        Integer,
        comment="0-based position in the corpus's order of preference: a dialogue's default publication is in the first of the publisher's releases that have a record of it.",
    ),
    Column("title", Text, comment="What people call it, such as the original labels; null: no declaration knows it."),
    Column("description", Text, comment="What sets it apart from the others; null: no declaration knows it."),
    grain=("corpus_id", "release"),
    owner="corpus_id",
    comment="The publisher's releases of a corpus that has several, in the order in which its default publications are taken from them.",
)

schemes = table(
    "schemes",
    Required("scheme", Text, primary_key=True, comment="Name of the annotation scheme: corpus.name."),
    Required("description", Text, comment="What is labelled, by whom, and how."),
    Required("target", Text, comment="What a label is about: turn, dialogue, record or persona."),
    Column(
        "kind",
        Text,
        comment="single_label: each annotator gives a thing one label. multi_label: any number at once. structure: the labels are parts of one structure, such as acts with slots. Null: not declared.",
    ),
    Column(
        "scale",
        Text,
        comment="How its labels follow one another: good_to_bad, or ordered, in the order of label_index; null: in no order.",
    ),
    grain=("scheme",),
    owner="scheme",
    comment="An annotation scheme: what a kind of label is about.",
)

labels = table(
    "labels",
    Required("scheme", Text, ForeignKey("schemes.scheme"), primary_key=True, comment="Scheme of the label."),
    Required("label", Text, primary_key=True, comment="The label, verbatim from the publisher."),
    Column("meaning", Text, comment="What it means; null for a label that no declaration knows."),
    Column(
        "namespace",
        Text,
        comment="The service or domain within which a name has this meaning: the label is namespace, a dot, the name. Null: the label is the name.",
    ),
    Column("label_index", Integer, comment="0-based position in the declared order; null: no declaration knows it."),
    grain=("scheme", "label"),
    owner="scheme",
    comment="The vocabulary of the schemes: every label that is declared or occurs.",
)

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
