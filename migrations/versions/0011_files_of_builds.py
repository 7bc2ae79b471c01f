"""Add to source files what a build needs that reads new ones alone: what was counted of each."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_COMMENT = (
    "What findings about the whole corpus add up: turns, turns_without_text, and first_without_text, the "
    "pointer of the first of these; null: not counted, or read before schema 0011."
)


def upgrade() -> None:
    """Add the column."""
    op.add_column("source_files", sa.Column("counts", sa.JSON()), schema="meta")
    op.execute(f"comment on column meta.source_files.counts is '{_COMMENT}'")


def downgrade() -> None:
    """Remove it."""
    op.drop_column("source_files", "counts", schema="meta")
