"""Create the shared tables and the housekeeping."""

import sqlalchemy as sa
from alembic import op

from talkhouse.schema.tables.base import GrainKey, LongText, Text
from talkhouse.schema.toml_files import toml_of

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables; DuckDB enforces no relations, and has keys only for the small ones."""
    op.execute("comment on table meta.alembic_version is 'The schema revision of this file.'")
    op.execute("comment on column meta.alembic_version.version_num is 'Revision, see migrations/versions.'")
    _annotations()
    _texts()
    _candidates()
    _corpora()
    _schemes()
    _labels()
    _dialogues()
    _speakers()
    _participants()
    _turns()
    _loads()
    _source_files()
    _rules()
    _findings()
    _quarantine()
    _records()
    _examples()
    _personas()
    _persona_uses()
    _images()
    if op.get_context().dialect.name == "postgresql":
        _keys()
        _indexes()
        _relations()


def downgrade() -> None:
    """Drop the tables, each before those that it points at."""
    op.drop_table("annotations")
    op.drop_table("persona_uses")
    op.drop_table("candidates")
    op.drop_table("examples")
    op.drop_table("records")
    op.drop_table("turns")
    op.drop_table("participants")
    op.drop_table("personas")
    op.drop_table("images")
    op.drop_table("texts")
    op.drop_table("labels")
    op.drop_table("schemes")
    op.drop_table("speakers")
    op.drop_table("dialogues")
    op.drop_table("corpora")
    op.drop_table("quarantine", schema="meta")
    op.drop_table("findings", schema="meta")
    op.drop_table("rules", schema="meta")
    op.drop_table("source_files", schema="meta")
    op.drop_table("loads", schema="meta")


# fmt: off

def _annotations() -> None:
    op.create_table(
        "annotations",
        sa.Column("record_id", Text(), nullable=False, comment="The record that published the label. Join annotations to records by this: by dialogue the rows double, since a dialogue may be published more than once."),
        sa.Column("turn_index", sa.Integer(), comment="The labelled turn; null: the whole dialogue, record or persona."),
        sa.Column("persona_set", Text(), comment="The persona list that the label is about, if it is about one."),
        sa.Column("persona_position", sa.Integer(), comment="Position in that list."),
        sa.Column("scheme", Text(), nullable=False, comment="Annotation scheme."),
        sa.Column("annotator_index", sa.Integer(), nullable=False, comment="0-based position of the annotator in the published list; 0 for a gold label."),
        sa.Column("item_index", sa.Integer(), nullable=False, comment="0-based position where one annotator gives several labels."),
        sa.Column("dialogue_id", Text(), comment="The record's conversation: join turns by (dialogue_id, turn_index)."),
        sa.Column("persona_id", Text(), comment="The persona, if it is about one."),
        sa.Column("annotator_id", Text(), comment="The publisher's id of the annotator, verbatim; may be empty, so it is no key."),
        sa.Column("label", Text(), comment="The label, verbatim; null where only a number is given."),
        sa.Column("value", sa.Double(), comment="The number, where the label is one."),
        sa.Column("extra", sa.JSON(), comment="What only this corpus has."),
        comment="One label by one annotator, or the gold label, as one record published it.",
    )


def _texts() -> None:
    op.create_table(
        "texts",
        sa.Column("text_id", Text(), nullable=False, comment="Key: corpus id and hex digits of a content hash."),
        sa.Column("corpus_id", Text(), nullable=False, comment="Corpus of the text."),
        sa.Column("text", LongText(), nullable=False, comment="The text, verbatim."),
        comment="A distinct candidate text, once per corpus.",
    )


def _candidates() -> None:
    op.create_table(
        "candidates",
        sa.Column("record_id", Text(), nullable=False, comment="The record that the list came with."),
        sa.Column("turn_index", sa.Integer(), comment="The turn that is to be predicted; null: the whole record."),
        sa.Column("candidate_set", Text(), nullable=False, comment="Name of the list."),
        sa.Column("position", sa.Integer(), nullable=False, comment="0-based position in the list."),
        sa.Column("item_index", sa.Integer(), nullable=False, comment="0-based position where a candidate is itself a list."),
        sa.Column("dialogue_id", Text(), comment="The record's conversation."),
        sa.Column("text_id", Text(), comment="The candidate, where it is a text."),
        sa.Column("persona_id", Text(), comment="The candidate, where it is a persona."),
        sa.Column("source", Text(), comment="Who made it: a model's name, for instance."),
        sa.Column("is_gold", sa.Boolean(), comment="True for the right answer; null where the list does not say."),
        sa.Column("extra", sa.JSON(), comment="What only this corpus has."),
        comment="One item of a candidate list that came with a record.",
    )


def _corpora() -> None:
    op.create_table(
        "corpora",
        sa.Column("corpus_id", Text(), primary_key=True, comment="Id of the corpus; every key of its rows begins with it."),
        sa.Column("title", Text(), nullable=False, comment="Title, as its authors give it."),
        sa.Column("description", Text(), nullable=False, comment="What it is, in a sentence or two."),
        sa.Column("homepage", Text(), nullable=False, comment="Address of its home page."),
        sa.Column("licence", Text(), nullable=False, comment="Licence, as its publisher names it."),
        sa.Column("licence_url", Text(), comment="Address of the licence's text."),
        sa.Column("terms", Text(), nullable=False, comment="What a user must know beyond the licence; empty where there is nothing."),
        sa.Column("citation", Text(), nullable=False, comment="What to cite, as BibTeX or a reference."),
        sa.Column("languages", Text(), nullable=False, comment="ISO 639-1 codes, separated by blanks."),
        sa.Column("reader_version", sa.Integer(), nullable=False, comment="Version of the reader that filled the tables."),
        sa.Column("is_sample", sa.Boolean(), nullable=False, comment="True: invented sample data that ships with Talkhouse."),
        comment="A corpus, with its licence and citation.",
    )


def _schemes() -> None:
    op.create_table(
        "schemes",
        sa.Column("scheme", Text(), primary_key=True, comment="Name of the annotation scheme: corpus.name."),
        sa.Column("description", Text(), nullable=False, comment="What is labelled, by whom, and how."),
        sa.Column("target", Text(), nullable=False, comment="What a label is about: turn, dialogue, record or persona."),
        comment="An annotation scheme: what a kind of label is about.",
    )


def _labels() -> None:
    op.create_table(
        "labels",
        sa.Column("scheme", Text(), primary_key=True, comment="Scheme of the label."),
        sa.Column("label", Text(), primary_key=True, comment="The label, verbatim from the publisher."),
        sa.Column("meaning", Text(), comment="What it means; null for a label that no declaration knows."),
        comment="The vocabulary of the schemes: every label that is declared or occurs.",
    )


def _dialogues() -> None:
    op.create_table(
        "dialogues",
        sa.Column("dialogue_id", Text(), nullable=False, comment="Key: corpus id, a colon, the publisher's id; '~' and 8 hex digits behind it tell apart other words under one id."),
        sa.Column("corpus_id", Text(), nullable=False, comment="Corpus of the dialogue."),
        sa.Column("native_id", Text(), comment="The publisher's id of the dialogue, verbatim; null where there is none."),
        sa.Column("domain", Text(), comment="Topic area or site, as the publisher names it."),
        sa.Column("title", Text(), comment="Title or subject of the dialogue."),
        sa.Column("language", Text(), comment="ISO 639-1 code."),
        sa.Column("started_at", sa.TIMESTAMP(), comment="Wall clock time of the start, as published."),
        sa.Column("extra", sa.JSON(), comment="What only this corpus has; its views lift it out by name."),
        comment="One real conversation, however often it was published; what files say of it is in records.",
    )


def _speakers() -> None:
    op.create_table(
        "speakers",
        sa.Column("speaker_id", Text(), nullable=False, comment="Key, begins with the corpus id."),
        sa.Column("corpus_id", Text(), nullable=False, comment="Corpus of the speaker."),
        sa.Column("native_id", Text(), comment="The publisher's id of the person, verbatim (may be empty)."),
        sa.Column("name", Text(), comment="Name or alias."),
        sa.Column("kind", Text(), nullable=False, comment="human, bot or system."),
        sa.Column("is_anonymous", sa.Boolean(), nullable=False, comment="True where the publisher does not identify the person: the row stands for one person in one dialogue."),
        sa.Column("extra", sa.JSON(), comment="What only this corpus has."),
        comment="A person or bot, as far as the publisher identifies one; also a persona's owner who never speaks.",
    )


def _participants() -> None:
    op.create_table(
        "participants",
        sa.Column("dialogue_id", Text(), nullable=False, comment="Dialogue."),
        sa.Column("speaker_id", Text(), nullable=False, comment="Speaker."),
        sa.Column("role", Text(), comment="Role in this dialogue: user, system, agent ..."),
        sa.Column("extra", sa.JSON(), comment="What only this corpus has."),
        comment="A speaker in a dialogue.",
    )


def _turns() -> None:
    op.create_table(
        "turns",
        sa.Column("dialogue_id", Text(), nullable=False, comment="Dialogue."),
        sa.Column("turn_index", sa.Integer(), nullable=False, comment="0-based position in the published order (not the publisher's own number)."),
        sa.Column("speaker_id", Text(), comment="Who said it."),
        sa.Column("role", Text(), nullable=False, comment="Role of the speaker: user, system, agent ..."),
        sa.Column("kind", Text(), nullable=False, comment="message, seed, initial, submit ..."),
        sa.Column("text", LongText(), nullable=False, comment="The utterance, verbatim; may be empty."),
        sa.Column("native_id", Text(), comment="The publisher's id of the turn, verbatim."),
        sa.Column("said_at", sa.TIMESTAMP(), comment="Wall clock time as published; the zone is not known unless the corpus says it."),
        sa.Column("extra", sa.JSON(), comment="What only this corpus has, and published values that no column reproduces."),
        comment="An utterance, verbatim.",
    )


def _loads() -> None:
    op.create_table(
        "loads",
        sa.Column("load_id", sa.Integer(), primary_key=True, autoincrement=False, comment="Number of the build, from 1."),
        sa.Column("started_at", sa.TIMESTAMP(), nullable=False, comment="Start of the build, UTC."),
        sa.Column("finished_at", sa.TIMESTAMP(), nullable=False, comment="End of the build, UTC."),
        sa.Column("talkhouse_version", Text(), nullable=False, comment="Version of Talkhouse that built it."),
        sa.Column("schema_revision", Text(), nullable=False, comment="Schema revision."),
        sa.Column("catalogue_hash", Text(), nullable=False, comment="SHA-256 over the SQL of all views, macros and examples."),
        sa.Column("source", Text(), nullable=False, comment="Where it was read from: the data folder, the given paths, or 'samples'."),
        sa.Column("reader_versions", sa.JSON(), nullable=False, comment="Corpus id -> version of its reader."),
        sa.Column("outcome", sa.JSON(), nullable=False, comment="Corpus id -> loaded, unchanged or removed."),
        schema="meta",
        comment="One build that was published.",
    )


def _source_files() -> None:
    op.create_table(
        "source_files",
        sa.Column("source_file_id", Text(), primary_key=True, comment="Key: path inside the data folder; for a member of an archive, '!' and its path in the archive."),
        sa.Column("corpus_id", Text(), nullable=False, comment="Corpus of the file."),
        sa.Column("path", Text(), nullable=False, comment="Path of the file on disk, inside the data folder."),
        sa.Column("member", Text(), comment="Path inside the archive; null: the file itself."),
        sa.Column("kind", Text(), nullable=False, comment="read, archive (a container; its members have rows of their own), skipped (by name), unrecognised, or refused."),
        sa.Column("sha256", Text(), nullable=False, comment="SHA-256 of the bytes, 64 hex digits."),
        sa.Column("size", sa.BigInteger(), nullable=False, comment="Size in bytes."),
        sa.Column("modified_at", sa.TIMESTAMP(), nullable=False, comment="Modification time of the file on disk, UTC."),
        sa.Column("mtime_ns", sa.BigInteger(), comment="The same in nanoseconds, to tell whether it changed; null for members."),
        sa.Column("inode", sa.BigInteger(), comment="Inode of the file on disk, to tell whether it was replaced; null for members."),
        sa.Column("records_in", sa.Integer(), nullable=False, comment="Source records that the file holds."),
        sa.Column("records_loaded", sa.Integer(), nullable=False, comment="Of these, in table records."),
        sa.Column("records_quarantined", sa.Integer(), nullable=False, comment="Of these, in meta.quarantine."),
        sa.Column("note", Text(), comment="Why it was skipped or refused; or a byte order mark at its start."),
        schema="meta",
        comment="A file that was given, with its counts: records_in = records_loaded + records_quarantined.",
    )


def _rules() -> None:
    op.create_table(
        "rules",
        sa.Column("rule", Text(), primary_key=True, comment="Id of the rule."),
        sa.Column("corpus_id", Text(), comment="Corpus that declares it; null: a rule of the house."),
        sa.Column("severity", Text(), nullable=False, comment="reject_file, reject_dialogue, reject_example, warn or note."),
        sa.Column("condition", Text(), nullable=False, comment="When it applies."),
        sa.Column("remedy", Text(), nullable=False, comment="What to do about it."),
        schema="meta",
        comment="The rules that findings and quarantined records name.",
    )


def _findings() -> None:
    op.create_table(
        "findings",
        sa.Column("corpus_id", Text(), comment="Corpus; null: the build itself."),
        sa.Column("finding_index", sa.Integer(), nullable=False, comment="0-based position within its corpus."),
        sa.Column("rule", Text(), nullable=False, comment="Rule, see meta.rules."),
        sa.Column("severity", Text(), nullable=False, comment="Severity of the rule."),
        sa.Column("source_file_id", Text(), comment="The file that it is about (a path where that is not a source file)."),
        sa.Column("pointer", Text(), comment="JSON pointer, or line, in that file."),
        sa.Column("record_id", Text(), comment="The record, where it was loaded."),
        sa.Column("task", Text(), comment="The task whose example was refused."),
        sa.Column("turn_index", sa.Integer(), comment="The turn."),
        sa.Column("detail", Text(), nullable=False, comment="What was found."),
        schema="meta",
        comment="Everything that was warned about or refused.",
    )


def _quarantine() -> None:
    op.create_table(
        "quarantine",
        sa.Column("corpus_id", Text(), nullable=False, comment="Corpus of the record."),
        sa.Column("source_file_id", Text(), nullable=False, comment="The file that it came from."),
        sa.Column("pointer", Text(), nullable=False, comment="JSON pointer, or line, in that file; empty for the whole file."),
        sa.Column("rule", Text(), nullable=False, comment="Rule that it broke, see meta.rules."),
        sa.Column("detail", Text(), nullable=False, comment="What was expected and found, with its place in the record."),
        sa.Column("subset", Text(), comment="As in records."),
        sa.Column("release", Text(), comment="As in records."),
        sa.Column("split", Text(), comment="As in records."),
        sa.Column("record_index", sa.Integer(), comment="As in records."),
        sa.Column("native_id", Text(), comment="The publisher's id of the record, if it could be read."),
        sa.Column("raw", sa.LargeBinary(), nullable=False, comment="The record, byte for byte as published."),
        schema="meta",
        comment="A source record that could not be loaded, verbatim.",
    )


def _records() -> None:
    op.create_table(
        "records",
        sa.Column("record_id", Text(), nullable=False, comment="Key: corpus id and where it was published, separated by slashes."),
        sa.Column("corpus_id", Text(), nullable=False, comment="Corpus of the record."),
        sa.Column("dialogue_id", Text(), comment="The conversation that it is or belongs to; null where it belongs to none of this corpus (lists, cached files)."),
        sa.Column("native_id", Text(), comment="The publisher's id of the record, verbatim."),
        sa.Column("main_speaker_id", Text(), comment="The speaker whom the record is about, where the publisher names one."),
        sa.Column("subset", Text(), comment="The published file or folder that it belongs to."),
        sa.Column("release", Text(), comment="Release, as the path names it."),
        sa.Column("split", Text(), comment="Split, by the publisher's own name."),
        sa.Column("standard_split", Text(), comment="train, validation, test, or null."),
        sa.Column("record_index", sa.Integer(), nullable=False, comment="0-based position in its list or folder, as published."),
        sa.Column("source_file_id", Text(), nullable=False, comment="The file that it came from."),
        sa.Column("source_pointer", Text(), nullable=False, comment="JSON pointer, or line, in that file; empty for the whole file."),
        sa.Column("extra", sa.JSON(), comment="fields: keys in published order. absent: pointers of keys that are not there. lists: which were null, absent or empty. differs: values that disagree with the dialogue's tables. beyond: list items that point at no turn. unknown: fields that no documentation names, by pointer. More by corpus."),
        comment="A record of a published file; usually a dialogue's place in a split. A dialogue may have several.",
    )


def _examples() -> None:
    op.create_table(
        "examples",
        sa.Column("corpus_id", Text(), nullable=False, comment="Corpus of the task."),
        sa.Column("task", Text(), nullable=False, comment="Task: the name of its view."),
        sa.Column("release", Text(), comment="Release."),
        sa.Column("split", Text(), comment="Split, by the publisher's own name."),
        sa.Column("example_index", sa.Integer(), nullable=False, comment="0-based position in the published order within release, task and split."),
        sa.Column("record_id", Text(), nullable=False, comment="The record that it was made from."),
        sa.Column("dialogue_id", Text(), comment="The conversation."),
        sa.Column("turn_index", sa.Integer(), comment="The turn that is labelled or answered; null where the example is a whole dialogue."),
        comment="One example of a task, as the reference code makes it; what that code would refuse is in meta.findings.",
    )


def _personas() -> None:
    op.create_table(
        "personas",
        sa.Column("persona_id", Text(), nullable=False, comment="Key: corpus id and native id; '~' and 8 hex digits tell apart other contents under one id."),
        sa.Column("corpus_id", Text(), nullable=False, comment="Corpus of the persona."),
        sa.Column("native_id", Text(), comment="The publisher's id, verbatim."),
        sa.Column("speaker_id", Text(), comment="Owner."),
        sa.Column("text", Text(), nullable=False, comment="The persona sentence or title, verbatim."),
        sa.Column("image_file", Text(), comment="File name of its picture, as published."),
        sa.Column("image_url", Text(), comment="Address of its picture, as published."),
        sa.Column("extra", sa.JSON(), comment="What only this corpus has."),
        comment="A persona element or sentence, stored once.",
    )


def _persona_uses() -> None:
    op.create_table(
        "persona_uses",
        sa.Column("record_id", Text(), nullable=False, comment="The record that the list came with."),
        sa.Column("turn_index", sa.Integer(), comment="The turn that the list belongs to; null: the whole record."),
        sa.Column("persona_set", Text(), nullable=False, comment="Name of the list."),
        sa.Column("position", sa.Integer(), nullable=False, comment="0-based position in the list."),
        sa.Column("dialogue_id", Text(), comment="The record's conversation."),
        sa.Column("persona_id", Text(), nullable=False, comment="The persona."),
        sa.Column("speaker_id", Text(), comment="The speaker whom the list describes."),
        sa.Column("extra", sa.JSON(), comment="What only this corpus has."),
        comment="A persona in a list that came with a record.",
    )


def _images() -> None:
    op.create_table(
        "images",
        sa.Column("corpus_id", Text(), nullable=False, comment="Corpus of the image."),
        sa.Column("kind", Text(), nullable=False, comment="What the image belongs to: dialogue or persona."),
        sa.Column("image_id", Text(), nullable=False, comment="The publisher's id of the image, verbatim."),
        sa.Column("url", Text(), comment="Address, as published."),
        sa.Column("source_file_id", Text(), nullable=False, comment="The file that names it."),
        sa.Column("image_index", sa.Integer(), nullable=False, comment="0-based position in that file."),
        sa.Column("extra", sa.JSON(), comment="What only this corpus has."),
        comment="An image that a corpus names.",
    )


_TABLES = toml_of(__file__, "0001_create_shared_tables")
"""Keys, indexes and relations, by the names of tables."""


def _keys() -> None:
    for table, columns in _TABLES["primary_keys"].items():
        op.create_primary_key(None, _name(table), columns, schema=_schema(table))
    for table, columns in _TABLES["null_safe_keys"].items():
        keyed = sa.Table(_name(table), sa.MetaData(), *(sa.Column(column) for column in columns), schema=_schema(table))
        op.execute(sa.schema.AddConstraint(GrainKey(*keyed.columns)))


def _indexes() -> None:
    for table, several in _TABLES["indexes"].items():
        for columns in several:
            name = f"{_name(table)}_{'_'.join(columns)}_idx"
            op.create_index(name, _name(table), columns, schema=_schema(table))


def _relations() -> None:
    for target, of in _TABLES["relations"].items():
        for table in of["tables"]:
            _relation(table, of["key"], target, of["key"])
    _relation("records", ["main_speaker_id"], "speakers", ["speaker_id"])


def _relation(table: str, columns: list[str], target: str, key: list[str]) -> None:
    op.create_foreign_key(
        None, _name(table), _name(target), columns, key, source_schema=_schema(table), referent_schema=_schema(target)
    )


def _name(table: str) -> str:
    return table.rpartition(".")[2]


def _schema(table: str) -> str | None:
    return table.rpartition(".")[0] or None
