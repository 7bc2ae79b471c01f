"""Reword comments: what a publisher released is the publisher's release, and a release is Talkhouse's own."""

from talkhouse.migrations.steps import set_comments
from talkhouse.schema.toml_files import toml_of

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_COMMENTS = toml_of(__file__, "0008_reword_release")


def upgrade() -> None:
    """Set the new comments."""
    set_comments(_COMMENTS, "after")


def downgrade() -> None:
    """Set the old comments."""
    set_comments(_COMMENTS, "before")
