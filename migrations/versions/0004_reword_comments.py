"""Reword comments: one word means one thing, and the table is called dialogues."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_OF_THE_RECORD = ("The record's conversation", "The record's dialogue")
_COMMENTS = {
    "column main.records.dialogue_id": (
        "The conversation that it is or belongs to; null where it belongs to none of this corpus (lists, cached files).",
        "The dialogue that it is or belongs to; null where it belongs to none of this corpus (lists, cached files).",
    ),
    "column main.annotations.dialogue_id": tuple(
        f"{text}: join turns by (dialogue_id, turn_index)." for text in _OF_THE_RECORD
    ),
    "column main.candidates.dialogue_id": tuple(f"{text}." for text in _OF_THE_RECORD),
    "column main.persona_uses.dialogue_id": tuple(f"{text}." for text in _OF_THE_RECORD),
    "column main.examples.dialogue_id": ("The conversation.", "The dialogue."),
    "table meta.source_files": (
        "A file that was given, with its counts: records_in = records_loaded + records_quarantined.",
        "A file of a corpus, with its counts: records_in = records_loaded + records_quarantined.",
    ),
    "column meta.rules.corpus_id": (
        "Corpus that declares it; null: a rule of the house.",
        "Corpus that declares it; null: a common rule.",
    ),
}
"""What is commented on -> the comment before and after."""


def upgrade() -> None:
    """Set the new comments."""
    for what, (_, after) in _COMMENTS.items():
        _comment(what, after)


def downgrade() -> None:
    """Set the old comments."""
    for what, (before, _) in _COMMENTS.items():
        _comment(what, before)


def _comment(what: str, text: str) -> None:
    op.execute(f"comment on {what} is '{text.replace(chr(39), chr(39) * 2)}'")
