"""Reword comments: times are stored in UTC where those of a file have several offsets from UTC."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_COMMENTS = {
    "column main.dialogues.started_at": (
        "Wall clock time of the start, as published.",
        "Wall clock time of the start, as published; UTC where turns.said_at is.",
    ),
    "column main.turns.said_at": (
        "Wall clock time as published; the zone is not known unless the corpus says it.",
        "Wall clock time as published, whose zone is not known unless the corpus says it; "
        "UTC where the times of a file of one's own have several offsets from UTC.",
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
