"""Reword comments: what a publisher released is the publisher's release, and a release is Talkhouse's own."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_COMMENTS = {
    "table main.releases": (
        "The releases of a corpus that has several, in the order in which its default publications are taken from them.",
        "The publisher's releases of a corpus that has several, in the order in which its default publications are taken "
        "from them.",
    ),
    "column main.releases.release": (
        "Release, as its path names it.",
        "Publisher's release, as its path names it.",
    ),
    "column main.releases.release_index": (
        "0-based position in the corpus's order of preference: a dialogue's default publication is in the first of the "
        "releases that have a record of it.",
        "0-based position in the corpus's order of preference: a dialogue's default publication is in the first of the "
        "publisher's releases that have a record of it.",
    ),
    "column main.records.release": (
        "Release, as the path names it.",
        "Publisher's release, as the path names it.",
    ),
    "column main.examples.example_index": (
        "0-based position in the published order within release, task and split.",
        "0-based position in the published order within publisher's release, task and split.",
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
