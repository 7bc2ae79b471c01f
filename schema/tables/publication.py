"""Builds, source files and findings, in the schema ``meta``; and what files say: records, examples, personas, images."""

from sqlalchemy import (
    JSON,
    TIMESTAMP,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
)

from talkhouse.schema.tables.base import LongText, Required, Text, table
from talkhouse.schema.warehouse import HOUSEKEEPING

loads = table(
    "loads",
    Required("load_id", Integer, primary_key=True, autoincrement=False, comment="Number of the build, from 1."),
    Required("started_at", TIMESTAMP, comment="Start of the build, UTC."),
    Required("finished_at", TIMESTAMP, comment="End of the build, UTC."),
    Required("talkhouse_version", Text, comment="Version of Talkhouse that built it."),
    Required("schema_revision", Text, comment="Schema revision."),
    Required("catalogue_hash", Text, comment="SHA-256 over the SQL of all views, macros and examples."),
    Required("source", Text, comment="Where it was read from: the data folder, the given paths, or 'samples'."),
    Required("reader_versions", JSON, comment="Corpus id -> version of its reader."),
    Required("outcome", JSON, comment="Corpus id -> loaded, unchanged or removed."),
    grain=("load_id",),
    owner=None,
    comment="One build that was published.",
    schema=HOUSEKEEPING,
)

source_files = table(
    "source_files",
    Required(
        "source_file_id",
        Text,
        primary_key=True,
        comment="Key: path inside the data folder; for a member of an archive, '!' and its path in the archive.",
    ),
    Required("corpus_id", Text, comment="Corpus of the file."),
    Required("path", Text, comment="Path of the file on disk, inside the data folder."),
    Column("member", Text, comment="Path inside the archive; null: the file itself."),
    Required(
        "kind",
        Text,
        comment="read, archive (a container; its members have rows of their own), skipped (by name), unrecognised, or refused.",
    ),
    Required("sha256", Text, comment="SHA-256 of the bytes, 64 hex digits."),
    Required("size", BigInteger, comment="Size in bytes."),
    Required("modified_at", TIMESTAMP, comment="Modification time of the file on disk, UTC."),
    Column("mtime_ns", BigInteger, comment="The same in nanoseconds, to tell whether it changed; null for members."),
    Column(
        "inode", BigInteger, comment="Inode of the file on disk, to tell whether it was replaced; null for members."
    ),
    Required("records_in", Integer, comment="Source records that the file holds."),
    Required("records_loaded", Integer, comment="Of these, in table records."),
    Required("records_quarantined", Integer, comment="Of these, in meta.quarantine."),
    Column("note", Text, comment="Why it was skipped or refused; or a byte order mark at its start."),
    Column(
        "extra",
        JSON,
        comment="What the file says beside its records, such as its keys in published order; its README lists the keys.",
    ),
    Column(
        "counts",
        JSON,
        comment="What findings about the whole corpus add up: turns, turns_without_text, and first_without_text, the "
        "pointer of the first of these; null: not counted, or read before schema 0011.",
    ),
    grain=("source_file_id",),
    owner="corpus_id",
    comment="A file of a corpus, with its counts: records_in = records_loaded + records_quarantined.",
    schema=HOUSEKEEPING,
)

query_files = table(
    "query_files",
    Required("folder", Text, comment="Corpus that brings it; or bi, checks, metrics."),
    Required("name", Text, comment="Path in that folder, such as lines.sql or bi/metrics.toml."),
    Required("text", LongText, comment="The file."),
    grain=("folder", "name"),
    owner=None,
    comment="The SQL and the charts of corpora that did not come with Talkhouse, which commands read here.",
    schema=HOUSEKEEPING,
)

rules = table(
    "rules",
    Required("rule", Text, primary_key=True, comment="Id of the rule."),
    Column("corpus_id", Text, comment="Corpus that declares it; null: a common rule."),
    Required("severity", Text, comment="reject_file, reject_dialogue, reject_example, warn or note."),
    Required("condition", Text, comment="When it applies."),
    Required("remedy", Text, comment="What to do about it."),
    grain=("rule",),
    owner=None,
    comment="The rules that findings and quarantined records name.",
    schema=HOUSEKEEPING,
)

findings = table(
    "findings",
    Column("corpus_id", Text, comment="Corpus; null: the build itself."),
    Required("finding_index", Integer, comment="0-based position within its corpus."),
    Required("rule", Text, ForeignKey("meta.rules.rule"), comment="Rule, see meta.rules."),
    Required("severity", Text, comment="Severity of the rule."),
    Column("source_file_id", Text, comment="The file that it is about (a path where that is not a source file)."),
    Column("pointer", Text, comment="JSON pointer, or line, in that file."),
    Column("record_id", Text, comment="The record, where it was loaded."),
    Column("task", Text, comment="The task whose example was refused."),
    Column("turn_index", Integer, comment="The turn."),
    Required("detail", Text, comment="What was found."),
    grain=("corpus_id", "finding_index"),
    owner="corpus_id",
    comment="Everything that was warned about or refused.",
    schema=HOUSEKEEPING,
)

quarantine = table(
    "quarantine",
    Required("corpus_id", Text, comment="Corpus of the record."),
    Required(
        "source_file_id", Text, ForeignKey("meta.source_files.source_file_id"), comment="The file that it came from."
    ),
    Required("pointer", Text, comment="JSON pointer, or line, in that file; empty for the whole file."),
    Required("rule", Text, ForeignKey("meta.rules.rule"), comment="Rule that it broke, see meta.rules."),
    Required("detail", Text, comment="What was expected and found, with its place in the record."),
    Column("subset", Text, comment="As in records."),
    Column("release", Text, comment="As in records."),
    Column("split", Text, comment="As in records."),
    Column("record_index", Integer, comment="As in records."),
    Column("native_id", Text, comment="The publisher's id of the record, if it could be read."),
    Required("raw", LargeBinary, comment="The record, byte for byte as published."),
    grain=("source_file_id", "pointer"),
    owner="corpus_id",
    comment="A source record that could not be loaded, verbatim.",
    schema=HOUSEKEEPING,
)

checks = table(
    "checks",
    Required("check_name", Text, primary_key=True, comment="Name of the check; a sentence that should be true."),
    Required("severity", Text, comment="error: it stops a build; warn: what it finds is in meta.findings."),
    Required("condition", Text, comment="What should be true."),
    Required("offending", BigInteger, comment="Rows that offend against it, declared exceptions left out."),
    Required("milliseconds", Double, comment="What the check cost in this build."),
    grain=("check_name",),
    owner=None,
    comment="The checks that this build ran before it was published.",
    schema=HOUSEKEEPING,
)

exceptions = table(
    "exceptions",
    Required("corpus_id", Text, primary_key=True, comment="Corpus that declares the exception."),
    Required("check_name", Text, primary_key=True, comment="The check that it is an exception to."),
    Required(
        "scope", Text, primary_key=True, comment="What it is about, in the check's own words: two splits, a scheme ..."
    ),
    Required("reason", Text, comment="Why it is as published."),
    grain=("corpus_id", "check_name", "scope"),
    owner=None,
    comment="What corpora declare as known and meant, so that a check does not find it again.",
    schema=HOUSEKEEPING,
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
