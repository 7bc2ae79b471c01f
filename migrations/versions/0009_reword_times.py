"""Reword comments: times are stored in UTC where those of a file have several offsets from UTC."""

from alembic import op

from talkhouse.schema.toml_files import toml_of

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_COMMENTS = toml_of(__file__, "0009_reword_times")
"""What is commented on -> the comment before and after."""


def upgrade() -> None:
    """Set the new comments."""
    for what, comment in _COMMENTS.items():
        _comment(what, comment["after"])


def downgrade() -> None:
    """Set the old comments."""
    for what, comment in _COMMENTS.items():
        _comment(what, comment["before"])


def _comment(what: str, text: str) -> None:
    op.execute(f"comment on {what} is '{text.replace(chr(39), chr(39) * 2)}'")
