"""Add how a corpus is cited, what its licences ask, and the declared order of labels."""

from alembic import op

from talkhouse.migrations.steps import add_columns, create_tables, drop_columns, drop_tables
from talkhouse.schema.toml_files import toml_of

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_DECLARED = toml_of(__file__, "0006_add_terms_and_citations")


def upgrade() -> None:
    """Add columns, in which rows of before have nothing, and a table."""
    add_columns(_DECLARED["columns"])
    create_tables(_DECLARED["tables"])
    if op.get_context().dialect.name == "postgresql":
        op.create_primary_key(None, "corpus_terms", ["corpus_id", "part"])
        op.create_foreign_key(None, "corpus_terms", "corpora", ["corpus_id"], ["corpus_id"])


def downgrade() -> None:
    """Drop the table and the columns, with what is in them."""
    drop_tables(_DECLARED["tables"])
    drop_columns(_DECLARED["columns"])
