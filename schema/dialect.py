"""SQLAlchemy's DuckDB dialect, with what a warehouse needs: ``create_engine("talkhouse:///talkhouse.duckdb")``."""

from pathlib import Path
from typing import Any

from duckdb_engine import ConnectionWrapper, Dialect
from sqlalchemy import Engine, NullPool, create_engine
from sqlalchemy.dialects.postgresql.base import PGDDLCompiler
from sqlalchemy.schema import ForeignKeyConstraint

from talkhouse.schema import warehouse
from talkhouse.schema.errors import UsageError
from talkhouse.schema.reflection import Reflection
from talkhouse.schema.sql import identifier


class _DDLCompiler(PGDDLCompiler):
    """Leaves foreign keys out: they are declared in the metadata and proven by checks."""

    def visit_foreign_key_constraint(  # type: ignore[override]  # None is what leaves a constraint out
        self, constraint: ForeignKeyConstraint, **_: Any
    ) -> None:
        """Write nothing; enforced keys would forbid altering a table and cost three times the checks."""


class TalkhouseDialect(Reflection, Dialect):  # type: ignore[misc]  # the stock one promises PostgreSQL's answers
    """The stock dialect, but it opens read-only, reflects, and writes no foreign keys; an entry point names it."""

    ddl_compiler = _DDLCompiler
    supports_statement_cache = True

    def connect(self, *_: Any, **parameters: Any) -> Any:
        """Open the file that a URL names, read-only, as ``talkhouse.open`` does; its query is DuckDB's settings.

        The stock dialect would pass a configuration of its own to DuckDB, and one process may not open a file in two
        ways. Raises UsageError where the URL names no file, and what ``talkhouse.schema.warehouse.connect`` raises.
        """
        if not parameters.get("database"):
            raise UsageError("the URL names no warehouse", expected="a file, as in talkhouse:///talkhouse.duckdb")
        settings = {identifier(name): value for name, value in parameters.get("url_config", {}).items()}
        return ConnectionWrapper(warehouse.connect(Path(parameters["database"]), settings=settings))


def engine(path: Path) -> Engine:
    """Return an engine that writes a private file; it keeps no connection, so that others may open the file later."""

    def connected() -> ConnectionWrapper:
        return ConnectionWrapper(warehouse.create(path, guarded=True))

    return create_engine(f"talkhouse:///{path}", creator=connected, poolclass=NullPool)
