"""Add what the tables could not hold: parts of turns, spans, replies, several speakers, what a scheme is."""

import sqlalchemy as sa
from alembic import op

from talkhouse.schema.tables.base import LongText, Text

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_SPEAKER_BEFORE = "Who said it."
_SPEAKER_AFTER = "Who said it; null: not known, or several, who are in turn_speakers."

# fmt: off

_COLUMNS = {
    "annotations": (
        ("start_index", sa.Integer, "Where the labelled span of the turn's text begins: 0-based, in code points; null: the whole turn."),
        ("end_index", sa.Integer, "Where the span ends, exclusive: text[start_index + 1 : end_index] in SQL, text[start:end] in Python."),
    ),
    "corpora": (
        ("declaration", Text, "The declaration that its files were read by, verbatim; null: it is Python."),
        ("origin", Text, "Where its reader came from: built in, package NAME VERSION, or folder PATH."),
    ),
    "dialogues": (
        ("derived_from", Text, "The dialogue that this one was made from, where it says so; may be another corpus's, and need not be in this warehouse."),
    ),
    "examples": (
        ("item_index", sa.Integer, "0-based position among the examples of the same turn, such as a frame; null where the example is a turn or a dialogue."),
    ),
    "labels": (
        ("namespace", Text, "The service or domain within which a name has this meaning: the label is namespace, a dot, the name. Null: the label is the name."),
    ),
    "schemes": (
        ("kind", Text, "single_label: each annotator gives a thing one label. multi_label: any number at once. structure: the labels are parts of one structure, such as acts with slots. Null: not declared."),
    ),
    "turns": (
        ("reply_to", sa.Integer, "The turn_index of the turn that it answers, in the same dialogue; null: none, or not known."),
        ("start_ms", sa.BigInteger, "Where it begins in the recording, in milliseconds."),
        ("end_ms", sa.BigInteger, "Where it ends in the recording, in milliseconds."),
    ),
}
"""Table -> the columns that are added to it; all may be null."""


def upgrade() -> None:
    """Add columns, in which rows of before have nothing, and two tables."""
    for table, columns in _COLUMNS.items():
        for name, kind, comment in columns:
            op.add_column(table, sa.Column(name, kind(), comment=comment))
    op.execute(f"comment on column main.turns.speaker_id is '{_SPEAKER_AFTER}'")
    _turn_speakers()
    _parts()
    _query_files()
    if op.get_context().dialect.name == "postgresql":
        _keys()


def downgrade() -> None:
    """Drop the tables and columns, with what is in them."""
    op.drop_table("query_files", schema="meta")
    op.drop_table("parts")
    op.drop_table("turn_speakers")
    op.execute(f"comment on column main.turns.speaker_id is '{_SPEAKER_BEFORE}'")
    for table, columns in _COLUMNS.items():
        for name, *_ in reversed(columns):
            op.drop_column(table, name)


def _turn_speakers() -> None:
    op.create_table(
        "turn_speakers",
        sa.Column("dialogue_id", Text(), nullable=False, comment="Dialogue."),
        sa.Column("turn_index", sa.Integer(), nullable=False, comment="The turn."),
        sa.Column("position", sa.Integer(), nullable=False, comment="0-based position in the published list of speakers."),
        sa.Column("speaker_id", Text(), nullable=False, comment="One of those who said it."),
        comment="Who said a turn that several say together; of all others, turns.speaker_id tells.",
    )


def _parts() -> None:
    op.create_table(
        "parts",
        sa.Column("dialogue_id", Text(), nullable=False, comment="Dialogue."),
        sa.Column("turn_index", sa.Integer(), nullable=False, comment="The turn."),
        sa.Column("part_index", sa.Integer(), nullable=False, comment="0-based position among the parts of the turn, in the order of its members."),
        sa.Column("field", Text(), nullable=False, comment="The member of the published message that it stands in: content, tool_calls ..."),
        sa.Column("kind", Text(), nullable=False, comment="text, reasoning, tool_call, tool_call_response, uri, blob, file (OpenTelemetry's names) or refusal."),
        sa.Column("start_index", sa.Integer(), comment="Where the part begins in the turn's text: 0-based, in code points; null: it is no part of that text."),
        sa.Column("end_index", sa.Integer(), comment="Where it ends there, exclusive."),
        sa.Column("name", Text(), comment="Name of the tool or file."),
        sa.Column("call_id", Text(), comment="The publisher's id of the tool call; its response has the same."),
        sa.Column("arguments", sa.JSON(), comment="Arguments of a tool call, where they are JSON; else they are its text."),
        sa.Column("uri", Text(), comment="Address of what it is, as published."),
        sa.Column("mime_type", Text(), comment="Media type of what it is, as published."),
        sa.Column("text", LongText(), comment="What it says, where that is not in the turn's text; verbatim."),
        sa.Column("extra", sa.JSON(), comment="What only this corpus has, and published values that no column reproduces."),
        comment="A part of a turn that is more than a plain text: content parts, tool calls and results, reasoning, attachments.",
    )


def _query_files() -> None:
    op.create_table(
        "query_files",
        sa.Column("folder", Text(), nullable=False, comment="Corpus that brings it; or bi, checks, metrics."),
        sa.Column("name", Text(), nullable=False, comment="Path in that folder, such as lines.sql or bi/metrics.toml."),
        sa.Column("text", LongText(), nullable=False, comment="The file."),
        schema="meta",
        comment="The SQL and the charts of corpora that did not come with Talkhouse, which commands read here.",
    )


def _keys() -> None:
    """Add keys, indexes and relations, which only PostgreSQL has."""
    op.create_primary_key(None, "turn_speakers", ["dialogue_id", "turn_index", "position"])
    op.create_primary_key(None, "parts", ["dialogue_id", "turn_index", "part_index"])
    op.create_primary_key(None, "query_files", ["folder", "name"], schema="meta")
    op.create_index("turn_speakers_speaker_id_idx", "turn_speakers", ["speaker_id"])
    op.create_index("turns_dialogue_id_reply_to_idx", "turns", ["dialogue_id", "reply_to"])
    turn = ["dialogue_id", "turn_index"]
    op.create_foreign_key(None, "turn_speakers", "speakers", ["speaker_id"], ["speaker_id"])
    for table in ("turn_speakers", "parts"):
        op.create_foreign_key(None, table, "dialogues", turn[:1], turn[:1])
        op.create_foreign_key(None, table, "turns", turn, turn)
    op.create_foreign_key(None, "turns", "turns", ["dialogue_id", "reply_to"], turn)
