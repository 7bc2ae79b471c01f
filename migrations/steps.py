"""What the TOML file beside a revision declares, done and undone: tables, columns and comments."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from talkhouse.schema.sql import literal
from talkhouse.schema.tables import base

Declared = dict[str, Any]
"""A table of the file."""


def create_tables(tables: Declared) -> None:
    """Create tables, in the order of the file; ``tables``: name -> comment and columns."""
    for table, declared in tables.items():
        columns = [_column(*column) for column in declared["columns"].items()]
        op.create_table(name_of(table), *columns, schema=schema_of(table), comment=declared["comment"])


def drop_tables(tables: Declared) -> None:
    """Drop tables, the last of the file first: those that point at others come after them."""
    for table in reversed(tables):
        op.drop_table(name_of(table), schema=schema_of(table))


def add_columns(tables: Declared) -> None:
    """Add columns, in which the rows that are there have nothing; ``tables``: name -> columns."""
    for table, columns in tables.items():
        for column in columns.items():
            op.add_column(name_of(table), _column(*column), schema=schema_of(table))


def drop_columns(tables: Declared) -> None:
    """Drop columns, with what is in them."""
    for table, columns in tables.items():
        for name in reversed(columns):
            op.drop_column(name_of(table), name, schema=schema_of(table))


def set_comments(comments: dict[str, dict[str, str]], which: str) -> None:
    """Set comments; ``comments``: what is commented on -> its comment ``before`` and ``after`` the revision."""
    for subject, texts in comments.items():
        op.execute(f"comment on {subject} is {literal(texts[which])}")


def _column(name: str, declared: Declared) -> sa.Column[Any]:
    options = dict(declared)
    kind = options.pop("type")
    return sa.Column(name, (getattr(base, kind, None) or getattr(sa, kind))(), **options)


def name_of(table: str) -> str:
    """Return a table's name without its schema."""
    return table.rpartition(".")[2]


def schema_of(table: str) -> str | None:
    """Return the schema of a table; None for the shared ones, which name none."""
    return table.rpartition(".")[0] or None
