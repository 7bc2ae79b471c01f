"""Alembic's environment: takes the connection that a build passes, or opens what ``-x`` names.

``-x db=FILE`` is a warehouse, ``-x url=postgresql://...`` a PostgreSQL database.
"""

from pathlib import Path
from typing import Any

from alembic import context
from alembic.ddl.impl import DefaultImpl
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, Text, create_engine, text
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from talkhouse.migrations import VERSION_TABLE
from talkhouse.schema.dialect import engine
from talkhouse.schema.tables import metadata
from talkhouse.schema.warehouse import HOUSEKEEPING

MAIN = "main"
"""The schema of the shared tables, which name none; DuckDB takes it for them by itself."""

_OF_A_COPY = ("publication", "published_relations")
"""What ``talkhouse publish`` adds to the housekeeping of a copy."""


class DuckDBImpl(DefaultImpl):
    """Alembic does not know DuckDB, whose DDL is transactional and rendered by default."""

    __dialect__ = "duckdb"
    transactional_ddl = True


def is_other_type(
    _context: Any, _there: Any, _here: Any, existing: TypeEngine[Any], declared: TypeEngine[Any]
) -> bool | None:
    """Whether two types differ: all text is one type, however it is compressed or sorted; None lets Alembic tell."""
    return False if isinstance(existing, Text) and isinstance(declared, Text) else None


def is_compared(name: str | None, kind: str, _parents: Any) -> bool:
    """Whether a schema is compared: the shared tables (None) and the housekeeping; all others hold views."""
    return kind != "schema" or name in (None, HOUSEKEEPING)


def is_migrated(_item: SchemaItem, name: str | None, kind: str, is_reflected: bool, *_: Any) -> bool:
    """Whether something is compared: keys, indexes and relations of the metadata only where they are made."""
    if kind == "table" and name in _OF_A_COPY:
        return False
    return is_reflected or kind in ("table", "column") or context.get_context().dialect.name == "postgresql"


def run(connection: Connection) -> None:
    """Run the migrations in one transaction; the version table lives with the housekeeping."""
    if connection.dialect.name == "postgresql":
        from talkhouse.migrations.postgres import check_own  # takes its time, which a warehouse does not need

        check_own(connection, (MAIN, HOUSEKEEPING))
        connection.execute(text(f"set search_path to {MAIN}"))
        connection.dialect.default_schema_name = MAIN
    context.configure(
        connection=connection,
        target_metadata=metadata,
        version_table=VERSION_TABLE,
        version_table_schema=HOUSEKEEPING,
        compare_type=is_other_type,
        include_schemas=True,
        include_name=is_compared,
        include_object=is_migrated,
    )
    with context.begin_transaction():
        for schema in (MAIN, HOUSEKEEPING):
            connection.execute(text(f"create schema if not exists {schema}"))
        context.run_migrations()


def opened() -> Engine:
    """Open what the command line names; CommandError for nothing, and for a file with views, which would be lost."""
    arguments = context.get_x_argument(as_dictionary=True)
    if "url" in arguments:
        return create_engine(arguments["url"])
    if "db" not in arguments:
        raise CommandError("name an empty database: alembic -x db=FILE, or -x url=postgresql://...")
    file = engine(Path(arguments["db"]))
    with file.connect() as con:
        if con.scalar(text("select count(*) from duckdb_views() where not internal")):
            raise CommandError("this would leave a warehouse without its views; type: talkhouse migrate --db FILE")
    return file


passed = context.config.attributes.get("connection")
if passed is not None:
    run(passed)
else:
    with opened().connect() as connection:
        run(connection)
        connection.commit()
