"""Add the housekeeping of checks: what they found and cost, and what corpora declare as meant."""

import sqlalchemy as sa
from alembic import op

from talkhouse.schema.tables.base import Text

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables; relations are declared in the metadata and not enforced."""
    _checks()
    _exceptions()


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("exceptions", schema="meta")
    op.drop_table("checks", schema="meta")


# fmt: off

def _checks() -> None:
    op.create_table(
        "checks",
        sa.Column("check_name", Text(), primary_key=True, comment="Name of the check; a sentence that should be true."),
        sa.Column("severity", Text(), nullable=False, comment="error: it stops a build; warn: what it finds is in meta.findings."),
        sa.Column("condition", Text(), nullable=False, comment="What should be true."),
        sa.Column("offending", sa.BigInteger(), nullable=False, comment="Rows that offend against it, declared exceptions left out."),
        sa.Column("milliseconds", sa.Double(), nullable=False, comment="What the check cost in this build."),
        schema="meta",
        comment="The checks that this build ran before it was published.",
    )


def _exceptions() -> None:
    op.create_table(
        "exceptions",
        sa.Column("corpus_id", Text(), primary_key=True, comment="Corpus that declares the exception."),
        sa.Column("check_name", Text(), primary_key=True, comment="The check that it is an exception to."),
        sa.Column("scope", Text(), primary_key=True, comment="What it is about, in the check's own words: two splits, a scheme ..."),
        sa.Column("reason", Text(), nullable=False, comment="Why it is as published."),
        schema="meta",
        comment="What corpora declare as known and meant, so that a check does not find it again.",
    )
