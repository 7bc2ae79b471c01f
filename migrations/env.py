"""Alembic's environment: takes the connection that the build hands over, or opens the file that ``-x db=`` names."""

import os

from alembic import context
from alembic.ddl.impl import DefaultImpl
from sqlalchemy import Connection, text

from migrations import VERSION_TABLE
from schema.dialect import engine
from schema.tables import metadata
from schema.warehouse import HOUSEKEEPING


class DuckDBImpl(DefaultImpl):
    """Alembic knows no DuckDB; its DDL is transactional, and the default rendering fits."""

    __dialect__ = "duckdb"
    transactional_ddl = True


def run(connection: Connection) -> None:
    """Run the migrations in one transaction; the version table lives with the housekeeping."""
    context.configure(
        connection=connection,
        target_metadata=metadata,
        version_table=VERSION_TABLE,
        version_table_schema=HOUSEKEEPING,
        include_schemas=True,
    )
    with context.begin_transaction():
        connection.execute(text(f"create schema if not exists {HOUSEKEEPING}"))
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    arguments = context.get_x_argument(as_dictionary=True)
    file = arguments.get("db") or os.environ.get("TALKHOUSE_DB") or "talkhouse.duckdb"
    with engine(file).connect() as opened:
        run(opened)
        opened.commit()
