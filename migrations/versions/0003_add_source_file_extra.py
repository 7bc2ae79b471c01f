"""Add the facts about a file other than its records, such as its keys in order: files of many records need them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; files that were read before have nothing in it."""
    comment = "What the file says beside its records, such as its keys in published order; its README lists the keys."
    op.add_column("source_files", sa.Column("extra", sa.JSON(), comment=comment), schema="meta")


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("source_files", "extra", schema="meta")
