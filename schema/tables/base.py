"""What every table is made with: the metadata, column types, and a table that declares its grain."""

from collections.abc import Callable
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Column, Index, MetaData, PrimaryKeyConstraint, Table, UniqueConstraint
from sqlalchemy.ext.compiler import compiles

from talkhouse.schema.sql import literal

metadata = MetaData()

_ENFORCES = "postgresql"
"""What has the keys of all tables, and indexes; to DuckDB they are declarations (``docs/decisions/0001``)."""
_NULLS_NOT_DISTINCT = (15,)
"""The version of PostgreSQL from which nulls may be equal in a key."""

# A key names its corpus first and then one of these, so that rows of one corpus can be told by prefix.
_SEPARATORS = {"dialogue_id": ":", "record_id": "/", "scheme": "."}


class Text(sa.Text):
    """Text that is sorted by its bytes, as DuckDB does; in PostgreSQL its indexes are made sooner, by a quarter."""


@compiles(Text, "postgresql")
def _bytewise(*_: Any, **__: Any) -> str:
    """Return the DDL of the type, whatever order the database has."""
    return 'TEXT COLLATE "C"'


class LongText(Text):
    """Text that DuckDB stores with zstd: 40 % smaller and 2.5 times faster to load than automatic compression."""


@compiles(LongText, "duckdb")
def _compressed(*_: Any, **__: Any) -> str:
    """Return the DDL of the type; the compression is per column, so it lasts."""
    return "VARCHAR USING COMPRESSION zstd"


class GrainKey(UniqueConstraint):
    """A key that has columns which may be null: two nulls are equal, as in a grain. Servers before 15 can't say so."""


@compiles(GrainKey, _ENFORCES)
def _null_safe(constraint: GrainKey, compiler: Any, **options: Any) -> str:
    """Return the DDL of the key; on an older server nulls differ, and only checks have proven the grain.

    Not by the argument ``postgresql_nulls_not_distinct``, for which SQLAlchemy would import its PostgreSQL at once.
    """
    ddl: str = compiler.visit_unique_constraint(constraint, **options)
    has_it = (compiler.dialect.server_version_info or _NULLS_NOT_DISTINCT) >= _NULLS_NOT_DISTINCT
    return ddl.replace("UNIQUE ", "UNIQUE NULLS NOT DISTINCT ", 1) if has_it else ddl


Required: Callable[..., Column[Any]] = partial(Column, nullable=False)


def table(name: str, *items: Any, grain: tuple[str, ...], owner: str | None, comment: str, **kw: Any) -> Table:
    """Declare a table.

    ``grain``: the columns that together name one row (null-safe; a check proves it).
    ``owner``: the column that tells the row's corpus: ``corpus_id``, or a key that begins with it; None if
    the rows belong to the build and not to a corpus.
    """
    info = {"grain": grain, "owner": owner}
    declared = Table(name, metadata, *items, comment=comment, info=info, **kw)
    if not declared.primary_key.columns:
        declared.append_constraint(_key([declared.columns[name] for name in grain]))
    for columns in _looked_up(declared):
        Index(f"{name}_{'_'.join(columns)}_idx", *(declared.columns[column] for column in columns)).ddl_if(_ENFORCES)
    return declared


def _key(grain: list[Column[Any]]) -> PrimaryKeyConstraint | UniqueConstraint:
    """Make the key of a grain: a primary key, unless a column may be null."""
    if any(column.nullable for column in grain):
        return GrainKey(*grain).ddl_if(_ENFORCES)
    return PrimaryKeyConstraint(*grain).ddl_if(_ENFORCES)


def _looked_up(declared: Table) -> list[tuple[str, ...]]:
    """Name the columns that joins look up by: those of each relation, unless a key or a longer index begins so."""
    relations = sorted({tuple(constraint.column_keys) for constraint in declared.foreign_key_constraints})
    present = [declared.info["grain"], *relations]
    return [
        columns
        for columns in relations
        if not any(columns == other[: len(columns)] for other in present if other is not columns)
    ]


def qualified(target: Table) -> str:
    """Name a table with its schema: ``main.turns``, ``meta.loads``."""
    return f"{target.schema or 'main'}.{target.name}"


def owned_by(target: Table, corpus_id: str) -> str:
    """Write the SQL condition that holds for the rows of one corpus."""
    column = target.info["owner"]
    if column == "corpus_id":
        return f"corpus_id = {literal(corpus_id)}"
    return f"starts_with({column}, {literal(corpus_id + _SEPARATORS[column])})"
