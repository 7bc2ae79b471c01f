"""SQLAlchemy's DuckDB dialect, made to do what a warehouse needs; URL ``talkhouse:///FILE``."""

from typing import Any

from duckdb_engine import Dialect
from sqlalchemy import Engine, NullPool, create_engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.base import PGDDLCompiler
from sqlalchemy.schema import ForeignKeyConstraint

from schema.reflection import Reflection
from schema.warehouse import CONFIG


class _DDLCompiler(PGDDLCompiler):
    """Leaves foreign keys out: they are declared in the metadata and proven by checks."""

    def visit_foreign_key_constraint(  # type: ignore[override]  # None is what leaves a constraint out
        self, constraint: ForeignKeyConstraint, **_: Any
    ) -> None:
        """Write nothing; enforced keys would forbid altering a table and cost three times the checks."""


class TalkhouseDialect(Reflection, Dialect):  # type: ignore[misc]  # the stock one promises PostgreSQL's answers
    """The stock dialect without foreign keys in DDL, and with reflection that works."""

    ddl_compiler = _DDLCompiler
    supports_statement_cache = True


registry.register("talkhouse", __name__, TalkhouseDialect.__name__)


def engine(path: object) -> Engine:
    """Make an engine for a database file; it keeps no connection, so that others may open the file after it."""
    return create_engine(f"talkhouse:///{path}", connect_args={"config": CONFIG}, poolclass=NullPool)
