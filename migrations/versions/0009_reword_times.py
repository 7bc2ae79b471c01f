"""Reword comments: times are stored in UTC where those of a file have several offsets from UTC."""

from talkhouse.migrations.steps import set_comments
from talkhouse.schema.toml_files import toml_of

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_COMMENTS = toml_of(__file__, "0009_reword_times")


def upgrade() -> None:
    """Set the new comments."""
    set_comments(_COMMENTS, "after")


def downgrade() -> None:
    """Set the old comments."""
    set_comments(_COMMENTS, "before")
