"""Alembic's environment: takes the connection that a build passes, or opens the file that ``-x db=`` names."""

import os
from pathlib import Path
from typing import Any

from alembic import context
from alembic.ddl.impl import DefaultImpl
from sqlalchemy import Column, Connection, String, text
from sqlalchemy.schema import SchemaItem

from migrations import VERSION_TABLE
from schema.dialect import engine
from schema.tables import metadata
from schema.tables.base import LongText
from schema.warehouse import HOUSEKEEPING

_TEXT = (String, LongText)


class DuckDBImpl(DefaultImpl):
    """Alembic does not know DuckDB, whose DDL is transactional and rendered by default."""

    __dialect__ = "duckdb"
    transactional_ddl = True

    def compare_type(self, inspector_column: Column[Any], metadata_column: Column[Any]) -> bool:
        """Whether two types differ; to DuckDB all text is VARCHAR, however it is compressed."""
        if isinstance(inspector_column.type, _TEXT) and isinstance(metadata_column.type, _TEXT):
            return False
        return super().compare_type(inspector_column, metadata_column)


def is_compared(name: str | None, kind: str, _parents: Any) -> bool:
    """Whether a schema is compared: the shared tables (None) and the housekeeping; all others hold views."""
    return kind != "schema" or name in (None, HOUSEKEEPING)


def is_migrated(_item: SchemaItem, _name: str | None, kind: str, *_: Any) -> bool:
    """Whether a part of a table is compared: all but foreign keys, which no migration writes."""
    return kind != "foreign_key_constraint"


def run(connection: Connection) -> None:
    """Run the migrations in one transaction; the version table lives with the housekeeping."""
    context.configure(
        connection=connection,
        target_metadata=metadata,
        version_table=VERSION_TABLE,
        version_table_schema=HOUSEKEEPING,
        include_schemas=True,
        include_name=is_compared,
        include_object=is_migrated,
    )
    with context.begin_transaction():
        connection.execute(text(f"create schema if not exists {HOUSEKEEPING}"))
        context.run_migrations()


passed = context.config.attributes.get("connection")
if passed is not None:
    run(passed)
else:
    arguments = context.get_x_argument(as_dictionary=True)
    file = arguments.get("db") or os.environ.get("TALKHOUSE_DB") or "talkhouse.duckdb"
    with engine(Path(file)).connect() as opened:
        run(opened)
        opened.commit()
