"""Reads a DuckDB database back into SQLAlchemy's terms; the stock dialect asks PostgreSQL's catalog and fails."""

from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, ForeignKeyConstraint, RowMapping, Table
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.reflection import Inspector
from sqlalchemy.exc import NoSuchTableError
from sqlalchemy.types import TypeEngine, UserDefinedType

from talkhouse.schema.tables import metadata

Found = dict[str, Any]
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
        rows = _rows(con, "duckdb_schemas()", "schema_name not in ('information_schema', 'pg_catalog')", {})
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

    def get_columns(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> list[Found]:
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

    def get_pk_constraint(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> Found:
        """Return the columns of the primary key; of our tables without one, the grain if none of it may be null."""
        keys = _constraints(con, schema, table, "PRIMARY KEY")
        names = [name for row in keys for name in row["constraint_column_names"]]
        declared = _declared(con, schema, table)
        if not names and declared is not None:
            names = list(declared.primary_key.columns.keys())
        return {"name": None, "constrained_columns": names}

    def get_unique_constraints(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> list[Found]:
        """Describe the unique constraints."""
        constraints = _constraints(con, schema, table, "UNIQUE")
        return [{"name": None, "column_names": list(row["constraint_column_names"])} for row in constraints]

    def get_check_constraints(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> list[Found]:
        """Describe the check constraints, in DuckDB's spelling."""
        constraints = _constraints(con, schema, table, "CHECK")
        return [{"name": None, "sqltext": row["expression"]} for row in constraints]

    def get_foreign_keys(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> list[Found]:
        """Describe the relations that the metadata declares."""
        declared = _declared(con, schema, table)
        if declared is None:
            return []
        constraints = sorted(declared.foreign_key_constraints, key=lambda constraint: list(constraint.column_keys))
        return [_relation(constraint, schema) for constraint in constraints]

    def get_indexes(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> list[Found]:
        """Describe the indexes that were created by name."""
        names = {row["column_name"] for row in _columns(con, schema, table)}
        # DuckDB prints the list of expressions; its own cast reads it back, commas and quotes included.
        with_parts = "(select *, expressions::varchar[] as parts from duckdb_indexes())"
        return [_index(row, names) for row in _of_table(con, with_parts, schema, table)]

    def get_table_comment(self, con: Connection, table: str, schema: str | None = None, **_: Any) -> Found:
        """Return the comment of a table or view."""
        _columns(con, schema, table)
        both = "(from duckdb_tables() union all by name select *, view_name as table_name from duckdb_views())"
        return {"text": _of_table(con, both, schema, table)[0]["comment"]}

    def get_table_options(self, *_: Any, **__: Any) -> Found:
        """Return nothing: DuckDB has none."""
        return {}


def _rows(con: Connection, source: str, where: str, values: dict[str, str]) -> list[RowMapping]:
    """Read one of DuckDB's own tables, of the current database."""
    query = f"select * from {source} where database_name = current_database() and {where} order by all"
    return list(con.execute(sa.text(query), values).mappings())


def _in_schema(con: Connection, source: str, schema: str | None) -> list[RowMapping]:
    return _rows(con, source, "schema_name = :schema", {"schema": schema or "main"})


def _of_table(con: Connection, source: str, schema: str | None, table: str) -> list[RowMapping]:
    where = "schema_name = :schema and table_name = :table"
    return _rows(con, source, where, {"schema": schema or "main", "table": table})


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


def _relation(constraint: ForeignKeyConstraint, schema: str | None) -> Found:
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


def _index(row: RowMapping, columns: set[str]) -> Found:
    """Describe an index; what is not a column is an expression."""
    parts = [part.strip("'").strip('"') for part in row["parts"]]
    names = [part if part in columns else None for part in parts]
    described = {"name": row["index_name"], "unique": row["is_unique"], "column_names": names}
    return described if None not in names else {**described, "expressions": parts}
