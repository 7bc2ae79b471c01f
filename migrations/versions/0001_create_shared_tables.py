"""Create the shared tables and the housekeeping."""

import sqlalchemy as sa
from alembic import op

from talkhouse.migrations.steps import create_tables, drop_tables, name_of, schema_of
from talkhouse.schema.tables.base import GrainKey
from talkhouse.schema.toml_files import toml_of

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_DECLARED = toml_of(__file__, "0001_create_shared_tables")
"""Tables; and keys, indexes and relations by the names of tables."""


def upgrade() -> None:
    """Create the tables; DuckDB enforces no relations, and has keys only for the small ones."""
    op.execute("comment on table meta.alembic_version is 'The schema revision of this file.'")
    op.execute("comment on column meta.alembic_version.version_num is 'Revision, see migrations/versions.'")
    create_tables(_DECLARED["tables"])
    if op.get_context().dialect.name == "postgresql":
        _keys()
        _indexes()
        _relations()


def downgrade() -> None:
    """Drop the tables, each before those that it points at."""
    drop_tables(_DECLARED["tables"])


def _keys() -> None:
    for table, columns in _DECLARED["primary_keys"].items():
        op.create_primary_key(None, name_of(table), columns, schema=schema_of(table))
    for table, columns in _DECLARED["null_safe_keys"].items():
        keyed = sa.Table(
            name_of(table), sa.MetaData(), *(sa.Column(column) for column in columns), schema=schema_of(table)
        )
        op.execute(sa.schema.AddConstraint(GrainKey(*keyed.columns)))


def _indexes() -> None:
    for table, several in _DECLARED["indexes"].items():
        for columns in several:
            name = f"{name_of(table)}_{'_'.join(columns)}_idx"
            op.create_index(name, name_of(table), columns, schema=schema_of(table))


def _relations() -> None:
    for target, of in _DECLARED["relations"].items():
        for table in of["tables"]:
            _relation(table, of["key"], target, of["key"])
    _relation("records", ["main_speaker_id"], "speakers", ["speaker_id"])


def _relation(table: str, columns: list[str], target: str, key: list[str]) -> None:
    op.create_foreign_key(
        None,
        name_of(table),
        name_of(target),
        columns,
        key,
        source_schema=schema_of(table),
        referent_schema=schema_of(target),
    )
