"""Publishes a warehouse: a copy in new schemas, proven equal, in the place of the former one in one transaction."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import duckdb
from psycopg import Connection

from talkhouse.postgres.column_types import SETUP, Proof
from talkhouse.postgres.load import check_nul, load
from talkhouse.postgres.own import marked, own_relations, owners
from talkhouse.postgres.plan import Options, PublicationPlan, make_plan
from talkhouse.postgres.record import FORMAT, Published, check_equal, origin, read_record, write_record
from talkhouse.postgres.replace import (
    drop_replaced,
    is_marked,
    named_freely,
    published_mark,
    replace_former,
    replaceable,
)
from talkhouse.postgres.server import connected, locked, run, where
from talkhouse.progress import Progress
from talkhouse.query.sandbox import failure
from talkhouse.schema.errors import ServerFailed, UsageError
from talkhouse.schema.guard import configure
from talkhouse.schema.sql import identifier, quoted
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.system import ctrl_c
from talkhouse.warehouse.content_ids import known_ids
from talkhouse.warehouse.opened import Warehouse


class PublicationOutcome(StrEnum):
    """What a command did."""

    PUBLISHED = "published"
    UNCHANGED = "unchanged"
    DRY_RUN = "dry run"


@dataclass(frozen=True)
class PublicationResult:
    """What was published, or would be."""

    outcome: PublicationOutcome
    place: str
    """The database, without the password."""
    plan: PublicationPlan
    """Empty where nothing has changed."""
    proofs: tuple[Proof, ...] = ()
    """What proves each relation of the plan."""
    notes: tuple[str, ...] = ()
    """What could not be kept of what others have built on the former copy."""
    seconds: float = 0
    published_at: datetime | None = None
    """When this copy or, where it is unchanged, that one was published; UTC."""


def publish(
    warehouse: Warehouse,
    url: str,
    options: Options,
    progress: Progress,
    *,
    grant_select: str | None = None,
    dry_run: bool = False,
    force: bool = False,
    format_number: int = FORMAT,
) -> PublicationResult:
    """Publish a warehouse to a PostgreSQL database, unless that has just this copy already.

    ``grant_select``: a role that may read everything. ``force``: publish again even so.

    Raises UsageError for what can't be published or replaced, ServerFailed where the server does not do its part.
    """
    begun, con = time.monotonic(), warehouse.con
    with connected(url) as server, locked(server, options.prefix), configured(con):
        _check_rights(server, grant_select)
        made_from = origin(warehouse, options, format_number)
        published = read_record(server, f"{options.prefix}{HOUSEKEEPING}")
        if published and published.origin == made_from and is_marked(server, options.prefix) and not force:
            return _unchanged(server, options.prefix, published, grant_select, dry_run=dry_run)
        plan = make_plan(warehouse, options)
        if options.nul is None:
            check_nul(con, plan)
        names = {schema: f"{options.prefix}{schema}" for schema in plan.schemas}
        replaceable(server, options.prefix, names.values(), published)
        if dry_run:
            return PublicationResult(PublicationOutcome.DRY_RUN, where(server), plan)
        drop_replaced(server, options.prefix)
        run(server, "begin")
        made, proofs = _stage(warehouse, server, plan, names, made_from, progress)
        # Again, for others may have put something into these schemas meanwhile.
        former = replaceable(server, options.prefix, names.values(), published)
        notes = replace_former(server, options.prefix, {new: name for name, new in made.items()}, former)
        notes += _left(server, published, [*former, *names.values()])
        _grant(server, list(names.values()), grant_select)
        warehouse.check_complete()
        with ctrl_c.ignored():
            run(server, "commit")
            notes += drop_replaced(server, options.prefix)
        seconds = time.monotonic() - begun
        return PublicationResult(
            PublicationOutcome.PUBLISHED, where(server), plan, tuple(proofs), tuple(notes), seconds, datetime.now(UTC)
        )


def _stage(
    warehouse: Warehouse,
    server: Connection[Any],
    plan: PublicationPlan,
    names: Mapping[str, str],
    made_from: dict[str, Any],
    progress: Progress,
) -> tuple[dict[str, str], list[Proof]]:
    """Make the copy in new schemas, equal to the warehouse and with its record; return these, and what proves it.

    ``names``: what a schema of the warehouse will be called there. The new ones are returned by these names.
    """
    made = named_freely(server, names.values(), "~new", lambda _, new: run(server, f"create schema {quoted(new)}"))
    staged = {schema: made[name] for schema, name in names.items()}
    proofs = load(warehouse.con, server, plan, staged, progress)
    check_equal(server, plan.relations, proofs, staged, progress)
    ids = known_ids(warehouse.con, warehouse.database, warehouse.path)
    write_record(server, staged[HOUSEKEEPING], made_from, list(names.values()), plan, proofs, ids)
    return made, proofs


def _unchanged(
    server: Connection[Any], prefix: str, published: Published, grant_select: str | None, *, dry_run: bool
) -> PublicationResult:
    """Grant what may not be granted yet, and drop what was read at the last time."""
    notes = []
    if not dry_run:
        _grant(server, marked(server, published_mark(prefix)), grant_select)
        notes = drop_replaced(server, prefix)
    at = published.published_at
    return PublicationResult(
        PublicationOutcome.UNCHANGED, where(server), PublicationPlan((), ()), notes=tuple(notes), published_at=at
    )


def _left(server: Connection[Any], published: Published | None, replaced: Iterable[str]) -> list[str]:
    """Name schemas that are recorded and were not replaced: without marks, they may be anything."""
    left = owners(server, {*published.schemas} - {*replaced}) if published else []
    return [f"left alone, for nothing marks it as a part of the former copy: schema {schema}" for schema in left]


@contextmanager
def configured(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let a connection to DuckDB write rows as text; QueryFailed where it fails."""
    with _explained(con):
        configure(con, {"enable_progress_bar": False, "arrow_large_buffer_size": True})
        for statement in SETUP:
            con.execute(statement)
        yield


@contextmanager
def _explained(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise failure(error, con) from error


def _check_rights(server: Connection[Any], grant_select: str | None) -> None:
    """Raise ServerFailed or UsageError for what would fail only after everything is copied."""
    role = server.info.user
    ((may_create,),) = run(server, "select has_database_privilege(current_database(), 'create')").fetchall()
    if not may_create:
        raise ServerFailed(
            f"the role {role} may not create schemas",
            where=where(server),
            next_step=f"let the owner of the database type: "
            f"grant create on database {identifier(server.info.dbname)} to {identifier(role)}",
        )
    if (
        grant_select
        and not run(server, "select from pg_catalog.pg_roles where rolname = %s", [grant_select]).fetchall()
    ):
        raise UsageError(
            f"the server has no role '{grant_select}'",
            where=where(server),
            next_step=f"create it: create role {identifier(grant_select)} nologin   or name another --grant-select",
        )


def _grant(server: Connection[Any], schemas: Sequence[str], role: str | None) -> None:
    """Let a role read everything that is published."""
    names = own_relations(server, schemas) if role else []
    if names:
        to = quoted(role or "")
        run(server, f"grant usage on schema {', '.join(map(quoted, schemas))} to {to}")
        run(server, f"grant select on {', '.join(names)} to {to}")
