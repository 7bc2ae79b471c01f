"""Add the releases of a corpus in order of preference, its datasheet, and how the labels of a scheme follow one another."""

from alembic import op

from talkhouse.migrations.steps import add_columns, create_tables, drop_columns, drop_tables
from talkhouse.schema.toml_files import toml_of

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_DECLARED = toml_of(__file__, "0007_add_releases")

_RELEASES = """
insert into releases (corpus_id, release, release_index)
select corpus_id, release, row_number() over (partition by corpus_id order by release) - 1
from (select distinct corpus_id, release from records where release is not null) as found
"""
"""No declaration is at hand: a release comes by its name, until the corpus is read again."""


def upgrade() -> None:
    """Add columns, in which rows of before have nothing, and the releases that occur, in the order of their names."""
    add_columns(_DECLARED["columns"])
    create_tables(_DECLARED["tables"])
    if op.get_context().dialect.name == "postgresql":
        op.create_primary_key(None, "releases", ["corpus_id", "release"])
        op.create_foreign_key(None, "releases", "corpora", ["corpus_id"], ["corpus_id"])
    op.execute(_RELEASES)


def downgrade() -> None:
    """Drop the table and the columns, with what is in them."""
    drop_tables(_DECLARED["tables"])
    drop_columns(_DECLARED["columns"])
