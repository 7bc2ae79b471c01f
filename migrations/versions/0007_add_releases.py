"""Add the releases of a corpus in order of preference, its datasheet, and how the labels of a scheme follow one another."""

import sqlalchemy as sa
from alembic import op

from talkhouse.schema.tables.base import Text

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# fmt: off

_COLUMNS = {
    "corpora": (
        ("datasheet", sa.JSON, "What its datasheet says: an object with motivation, composition, collection, labelling, uses and limits, which are texts, and quirks and sources, which are lists of texts; null: not declared."),
    ),
    "schemes": (
        ("scale", Text, "How its labels follow one another: good_to_bad, or ordered, in the order of label_index; null: in no order."),
    ),
}
"""Table -> the columns that are added to it; all may be null."""

_RELEASES = """
insert into releases (corpus_id, release, release_index)
select corpus_id, release, row_number() over (partition by corpus_id order by release) - 1
from (select distinct corpus_id, release from records where release is not null) as found
"""
"""No declaration is at hand: a release comes by its name, until the corpus is read again."""


def upgrade() -> None:
    """Add columns, in which rows of before have nothing, and the releases that occur, in the order of their names."""
    for table, columns in _COLUMNS.items():
        for name, kind, comment in columns:
            op.add_column(table, sa.Column(name, kind(), comment=comment))
    op.create_table(
        "releases",
        sa.Column("corpus_id", Text(), nullable=False, comment="Corpus."),
        sa.Column("release", Text(), nullable=False, comment="Release, as its path names it."),
        sa.Column("release_index", sa.Integer(), nullable=False, comment="0-based position in the corpus's order of preference: a dialogue's default publication is in the first of the releases that have a record of it."),
        sa.Column("title", Text(), comment="What people call it, such as the original labels; null: no declaration knows it."),
        sa.Column("description", Text(), comment="What sets it apart from the others; null: no declaration knows it."),
        comment="The releases of a corpus that has several, in the order in which its default publications are taken from them.",
    )
    if op.get_context().dialect.name == "postgresql":
        op.create_primary_key(None, "releases", ["corpus_id", "release"])
        op.create_foreign_key(None, "releases", "corpora", ["corpus_id"], ["corpus_id"])
    op.execute(_RELEASES)


def downgrade() -> None:
    """Drop the table and the columns, with what is in them."""
    op.drop_table("releases")
    for table, columns in _COLUMNS.items():
        for name, *_ in reversed(columns):
            op.drop_column(table, name)
