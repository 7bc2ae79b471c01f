"""Add how a corpus is cited, what its licences ask, and the declared order of labels."""

import sqlalchemy as sa
from alembic import op

from talkhouse.schema.tables.base import Text

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# fmt: off

_COLUMNS = {
    "corpora": (
        ("authors", sa.JSON, "Its authors in order: a list of objects with family and given; null: not declared."),
        ("year", sa.Integer, "Year in which it was published; null: not declared."),
        ("reference", sa.JSON, "The publication to cite: an object with kind (as BibTeX has it), title, venue, and doi, arxiv or url; null: not declared."),
    ),
    "labels": (
        ("label_index", sa.Integer, "0-based position in the declared order; null: no declaration knows it."),
    ),
}
"""Table -> the columns that are added to it; all may be null."""


def upgrade() -> None:
    """Add columns, in which rows of before have nothing, and a table."""
    for table, columns in _COLUMNS.items():
        for name, kind, comment in columns:
            op.add_column(table, sa.Column(name, kind(), comment=comment))
    op.create_table(
        "corpus_terms",
        sa.Column("corpus_id", Text(), nullable=False, comment="Corpus."),
        sa.Column("part", Text(), nullable=False, comment="The part of it that is under these terms: all, or what its publisher calls it."),
        sa.Column("columns", sa.JSON(), comment="The columns that the part is: a list of schema.view.column, of a JSON column also with a member of it; null: all that no other part is."),
        sa.Column("said_from", sa.Date(), comment="The part is only what was said from this day on, UTC; null: from the first."),
        sa.Column("said_before", sa.Date(), comment="And before this day, UTC; null: to the last."),
        sa.Column("spdx", Text(), comment="Licence as an expression of SPDX identifiers; null: there is none."),
        sa.Column("licence_url", Text(), comment="Address of the licence's text."),
        sa.Column("is_attribution", sa.Boolean(), nullable=False, comment="True: name the authors."),
        sa.Column("is_share_alike", sa.Boolean(), nullable=False, comment="True: what is made of it must be under the same licence."),
        sa.Column("is_non_commercial", sa.Boolean(), nullable=False, comment="True: not for commercial purposes."),
        sa.Column("is_unknown", sa.Boolean(), nullable=False, comment="True: nobody has said under which terms some of it may be used."),
        sa.Column("note", Text(), nullable=False, comment="What a user must know of it; empty where there is nothing."),
        comment="What the licence of a part of a corpus asks of whoever uses it; samples have no terms.",
    )
    if op.get_context().dialect.name == "postgresql":
        op.create_primary_key(None, "corpus_terms", ["corpus_id", "part"])
        op.create_foreign_key(None, "corpus_terms", "corpora", ["corpus_id"], ["corpus_id"])


def downgrade() -> None:
    """Drop the table and the columns, with what is in them."""
    op.drop_table("corpus_terms")
    for table, columns in _COLUMNS.items():
        for name, *_ in reversed(columns):
            op.drop_column(table, name)
