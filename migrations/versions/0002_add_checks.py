"""Add the housekeeping of checks: what they found and cost, and what corpora declare as meant."""

from talkhouse.migrations.steps import create_tables, drop_tables
from talkhouse.schema.toml_files import toml_of

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_DECLARED = toml_of(__file__, "0002_add_checks")


def upgrade() -> None:
    """Create the tables; relations are declared in the metadata and not enforced."""
    create_tables(_DECLARED["tables"])


def downgrade() -> None:
    """Drop the tables."""
    drop_tables(_DECLARED["tables"])
