"""All tables in PostgreSQL: the DDL that makes them, and what to refuse before a migration.

The DDL is in two parts, for rows are loaded faster where there are no keys yet.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import (
    Column,
    Connection,
    Constraint,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
    insert,
    text,
)
from sqlalchemy.dialects.postgresql.base import PGDDLCompiler, PGDialect
from sqlalchemy.schema import AddConstraint, CreateIndex, CreateTable, SetColumnComment, SetTableComment
from sqlalchemy.sql import ClauseElement

from talkhouse.migrations import VERSION_COMMENT, VERSION_NUMBER_COMMENT, VERSION_TABLE, head
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.tables import metadata
from talkhouse.schema.warehouse import HOUSEKEEPING


@dataclass(frozen=True)
class Statements:
    """SQL statements for a database that has the schemas; each part is run in its order."""

    before: list[str]
    """Make the tables, without keys or comments; all are empty but for that of the schema revision."""
    after: list[str]
    """Add keys, indexes, relations and comments to full tables."""


def statements(schemas: Mapping[str, str], server: tuple[int, ...]) -> Statements:
    """Write what makes the tables of the newest revision, the same as the migrations do.

    ``schemas``: what ``main`` and ``meta`` are called there. ``server``: its version, for instance ``(15, 4)``.
    """
    names = {None: schemas["main"], HOUSEKEEPING: schemas[HOUSEKEEPING]}
    version = _version_table()
    tables = [*metadata.sorted_tables, version]
    revision = insert(version).values(version_num=head())
    return Statements(
        before=_written([*map(CreateTable, tables), revision], _dialect(server, _WithoutConstraints), names),
        after=_written(_finishing(tables), _dialect(server, PGDDLCompiler), names),
    )


def check_own(connection: Connection, schemas: Iterable[str]) -> None:
    """Raise UsageError where schemas, or what is in them, belong to other roles: to read a view may run their code."""
    connection.execute(text("set search_path to pg_catalog, pg_temp"))
    others = connection.execute(text(sql_of(__file__, "objects_of_others")), {"schemas": list(schemas)}).scalars().all()
    if others:
        raise UsageError(
            "what is to be migrated belongs to other roles, and was not read",
            found=", ".join(map(str, others)),
            next_step="migrate as the role that owns it, or remove it",
        )


class _WithoutConstraints(PGDDLCompiler):
    """Leaves the constraints of a table for later."""

    def create_table_constraints(self, *_: object, **__: object) -> str:
        """Write nothing."""
        return ""


def _dialect(server: tuple[int, ...], compiler: type[PGDDLCompiler]) -> PGDialect:
    # A driver's own dialect would write each % twice.
    dialect = PGDialect(paramstyle="named")  # type: ignore[no-untyped-call]  # SQLAlchemy gives it no types
    dialect.server_version_info = server
    dialect.ddl_compiler = compiler
    return dialect


def _written(elements: Iterable[ClauseElement], dialect: PGDialect, names: dict[str | None, str]) -> list[str]:
    compiled = (
        element.compile(
            dialect=dialect,
            schema_translate_map=names,
            render_schema_translate=True,
            compile_kwargs={"literal_binds": True},
        )
        for element in elements
    )
    return [str(statement).strip() for statement in compiled]


def _finishing(tables: list[Table]) -> Iterator[ClauseElement]:
    """Yield keys and indexes before the relations that point at them."""
    for table in tables:
        keys = (part for part in table.constraints if isinstance(part, PrimaryKeyConstraint | UniqueConstraint))
        yield from (_add(key) for key in keys if key.columns)
        yield from map(CreateIndex, sorted(table.indexes, key=lambda part: str(part.name)))
    for table in tables:
        yield from map(_add, sorted(table.foreign_key_constraints, key=lambda part: list(part.column_keys)))
        yield SetTableComment(table)
        yield from map(SetColumnComment, table.columns)


def _add(constraint: Constraint) -> AddConstraint:
    return AddConstraint(constraint, isolate_from_table=False)  # or ``create_all`` would leave it out ever after


def _version_table() -> Table:
    """Declare the table of the schema revision, as Alembic makes it."""
    return Table(
        VERSION_TABLE,
        MetaData(),
        Column("version_num", String(32), nullable=False, comment=VERSION_NUMBER_COMMENT),
        PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
        comment=VERSION_COMMENT,
        schema=HOUSEKEEPING,
    )
