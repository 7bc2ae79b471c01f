"""Reword comments: what a publisher released is the publisher's release, and a release is Talkhouse's own."""

from alembic import op

from talkhouse.schema.toml_files import toml_of

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_COMMENTS = toml_of(__file__, "0008_reword_release")
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
