"""SQLAlchemy's DuckDB dialect, with what a warehouse needs: ``create_engine("talkhouse:///talkhouse.duckdb")``."""

from operator import itemgetter
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from duckdb_engine import ConnectionWrapper, Dialect
from sqlalchemy import Connection, Engine, ForeignKeyConstraint, NullPool, RowMapping, Table, create_engine
from sqlalchemy.dialects.postgresql.base import PGDDLCompiler
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.reflection import Inspector
from sqlalchemy.exc import NoSuchTableError
from sqlalchemy.types import TypeEngine, UserDefinedType

from talkhouse.schema import warehouse
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import identifier
from talkhouse.schema.tables import metadata

Reflected = dict[str, Any]
"""What an inspector learns about a column or constraint."""


_TYPES: dict[str, TypeEngine[Any]] = {
    "BIGINT": sa.BigInteger(),
    "BLOB": sa.LargeBinary(),
    "BOOLEAN": sa.Boolean(),
    "DATE": sa.Date(),
    "DOUBLE": sa.Double(),
    "INTEGER": sa.Integer(),
    "JSON": sa.JSON(),
    "TIMESTAMP": sa.TIMESTAMP(),
    "TIMESTAMP WITH TIME ZONE": sa.TIMESTAMP(timezone=True),
    "VARCHAR": sa.Text(),
}


class Native(UserDefinedType[Any]):
    """A type that Talkhouse's tables do not use (lists, structs, enums ...), in DuckDB's own spelling."""

    cache_ok = True

    def __init__(self, spelling: str) -> None:
        self.spelling = spelling

    def get_col_spec(self, **_: Any) -> str:
        """Return the DDL of the type."""
        return self.spelling


class Reflection:
    """The part of a dialect that inspects: the current database, without temporary objects.

    DuckDB drops the names of constraints and makes up its own, so none has a name here. The relations of Talkhouse's
    tables, and the keys of the large ones, are written to no database: they are returned as the metadata declares them,
    since the checks of each build prove them.
    """

    inspector = Inspector

    # PostgreSQL's versions read its catalog for many tables at once; these call the methods below for each.
    get_multi_check_constraints = DefaultDialect.get_multi_check_constraints
    get_multi_columns = DefaultDialect.get_multi_columns
    get_multi_foreign_keys = DefaultDialect.get_multi_foreign_keys
    get_multi_indexes = DefaultDialect.get_multi_indexes
    get_multi_pk_constraint = DefaultDialect.get_multi_pk_constraint
    get_multi_table_comment = DefaultDialect.get_multi_table_comment
    get_multi_table_options = DefaultDialect.get_multi_table_options
    get_multi_unique_constraints = DefaultDialect.get_multi_unique_constraints

    def get_schema_names(self, con: Connection, **_: Any) -> list[str]:
        """List the schemas that may hold tables or views."""
        rows = _catalog_rows(con, "duckdb_schemas()", "schema_name not in ('information_schema', 'pg_catalog')", {})
        return [row["schema_name"] for row in rows]

    def get_table_names(self, con: Connection, schema: str | None = None, **_: Any) -> list[str]:
        """List the tables of a schema."""
        return [row["table_name"] for row in _in_schema(con, "duckdb_tables()", schema)]

    def get_view_names(self, con: Connection, schema: str | None = None, **_: Any) -> list[str]:
        """List the views of a schema."""
        return [row["view_name"] for row in _in_schema(con, "duckdb_views()", schema)]

    def get_materialized_view_names(self, *_: Any, **__: Any) -> list[str]:
        """Return nothing: DuckDB has none."""
        return []

    get_temp_table_names = get_temp_view_names = get_materialized_view_names

    def has_table(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> bool:
        """Whether there is such a table or view."""
        return bool(_of_table(con, "duckdb_columns()", schema, table))

    def get_columns(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> list[Reflected]:
        """Describe the columns of a table or view; their compression is not part of the type."""
        rows = sorted(_columns(con, schema, table), key=itemgetter("column_index"))
        return [
            {
                "name": row["column_name"],
                "type": _type(row),
                "nullable": row["is_nullable"],
                "default": row["column_default"],
                "autoincrement": False,
                "comment": row["comment"],
            }
            for row in rows
        ]

    def get_pk_constraint(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> Reflected:
        """Return the columns of the primary key; of our tables without one, the grain if none of it may be null."""
        keys = _constraints(con, schema, table, "PRIMARY KEY")
        names = [name for row in keys for name in row["constraint_column_names"]]
        declared = _declared(con, schema, table)
        if not names and declared is not None:
            names = list(declared.primary_key.columns.keys())
        return {"name": None, "constrained_columns": names}

    def get_unique_constraints(
        self, con: Connection, table: str, schema: str | None = None, **_: Any
    ) -> list[Reflected]:
        """Describe the unique constraints."""
        constraints = _constraints(con, schema, table, "UNIQUE")
        return [{"name": None, "column_names": list(row["constraint_column_names"])} for row in constraints]

    def get_check_constraints(
        self, con: Connection, table: str, schema: str | None = None, **_: Any
    ) -> list[Reflected]:
        """Describe the check constraints, in DuckDB's spelling."""
        constraints = _constraints(con, schema, table, "CHECK")
        return [{"name": None, "sqltext": row["expression"]} for row in constraints]

    def get_foreign_keys(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> list[Reflected]:
        """Describe the relations that the metadata declares."""
        declared = _declared(con, schema, table)
        if declared is None:
            return []
        constraints = sorted(declared.foreign_key_constraints, key=lambda constraint: list(constraint.column_keys))
        return [_relation(constraint, schema) for constraint in constraints]

    def get_indexes(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> list[Reflected]:
        """Describe the indexes that were created by name."""
        names = {row["column_name"] for row in _columns(con, schema, table)}
        # DuckDB prints the list of expressions; its own cast reads it back, commas and quotes included.
        with_parts = "(select *, expressions::varchar[] as parts from duckdb_indexes())"
        return [_index(row, names) for row in _of_table(con, with_parts, schema, table)]

    def get_table_comment(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> Reflected:
        """Return the comment of a table or view."""
        _columns(con, schema, table)
        both = "(from duckdb_tables() union all by name select *, view_name as table_name from duckdb_views())"
        return {"text": _of_table(con, both, schema, table)[0]["comment"]}

    def get_table_options(self, *_: Any, **__: Any) -> Reflected:
        """Return nothing: DuckDB has none."""
        return {}


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

    @classmethod
    def get_pool_class(cls, *_: Any) -> type[NullPool]:
        """Return the pool that keeps no connection: it would read the file that was there before a build."""
        return NullPool

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


def _catalog_rows(con: Connection, source: str, where: str, values: dict[str, str]) -> list[RowMapping]:
    """Read one of DuckDB's own tables, of the current database."""
    query = f"select * from {source} where database_name = current_database() and {where} order by all"
    return list(con.execute(sa.text(query), values).mappings())


def _in_schema(con: Connection, source: str, schema: str | None) -> list[RowMapping]:
    return _catalog_rows(con, source, "schema_name = :schema", {"schema": schema or "main"})


def _of_table(con: Connection, source: str, schema: str | None, table: str) -> list[RowMapping]:
    where = "schema_name = :schema and table_name = :table"
    return _catalog_rows(con, source, where, {"schema": schema or "main", "table": table})


def _columns(con: Connection, schema: str | None, table: str) -> list[RowMapping]:
    """Read the columns; every table has some, so one without any does not exist."""
    rows = _of_table(con, "duckdb_columns()", schema, table)
    if not rows:
        raise NoSuchTableError(f"{schema or 'main'}.{table}")
    return rows


def _constraints(con: Connection, schema: str | None, table: str, kind: str) -> list[RowMapping]:
    """Read the constraints of one kind, in the order of their declaration."""
    _columns(con, schema, table)
    rows = _of_table(con, "duckdb_constraints()", schema, table)
    return [row for row in rows if row["constraint_type"] == kind]


def _declared(con: Connection, schema: str | None, table: str) -> Table | None:
    """Return Talkhouse's declaration of a table, if there is one and the table has all of its columns."""
    existing = {row["column_name"] for row in _columns(con, schema, table)}
    name = table if schema in (None, "main") else f"{schema}.{table}"
    declared = metadata.tables.get(name)
    return declared if declared is not None and existing >= set(declared.columns.keys()) else None


def _relation(constraint: ForeignKeyConstraint, schema: str | None) -> Reflected:
    """Describe a relation; a table of ``main`` has its schema only where ``main`` was asked for by name."""
    target = constraint.referred_table
    return {
        "name": None,
        "constrained_columns": list(constraint.column_keys),
        "referred_schema": target.schema or ("main" if schema else None),
        "referred_table": target.name,
        "referred_columns": [element.column.name for element in constraint.elements],
        "options": {},
    }


def _type(column: RowMapping) -> TypeEngine[Any]:
    spelling: str = column["data_type"]
    return _TYPES.get(spelling) or Native(spelling)


def _index(row: RowMapping, columns: set[str]) -> Reflected:
    """Describe an index; what is not a column is an expression."""
    parts = [part.strip("'").strip('"') for part in row["parts"]]
    names = [part if part in columns else None for part in parts]
    described = {"name": row["index_name"], "unique": row["is_unique"], "column_names": names}
    return described if None not in names else {**described, "expressions": parts}
