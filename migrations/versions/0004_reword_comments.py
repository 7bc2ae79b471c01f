"""Reword comments: one word means one thing, and the table is called dialogues."""

from talkhouse.migrations.steps import set_comments
from talkhouse.schema.toml_files import toml_of

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_COMMENTS = toml_of(__file__, "0004_reword_comments")


def upgrade() -> None:
    """Set the new comments."""
    set_comments(_COMMENTS, "after")


def downgrade() -> None:
    """Set the old comments."""
    set_comments(_COMMENTS, "before")
