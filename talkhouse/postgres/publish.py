"""Publishes a warehouse: a copy in new schemas, proven equal, in the place of the former one in one transaction."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import duckdb
from psycopg import Connection

from schema.errors import ServerFailed, UsageError
from schema.guard import configure
from schema.sql import identifier, quoted
from schema.warehouse import HOUSEKEEPING
from talkhouse import ctrl_c
from talkhouse.postgres.column_types import SETUP
from talkhouse.postgres.free_names import check_free
from talkhouse.postgres.load import Progress, load
from talkhouse.postgres.nul import check_nul
from talkhouse.postgres.plan import Options, Plan, make_plan
from talkhouse.postgres.proof import check_equal
from talkhouse.postgres.record import origin, read_record, write_record
from talkhouse.postgres.row_text import Proof
from talkhouse.postgres.server import connected, locked, run, where
from talkhouse.postgres.swap import drop_replaced, swap
from talkhouse.query.sandbox import failure


class Outcome(StrEnum):
    """What a command did."""

    PUBLISHED = "published"
    UNCHANGED = "unchanged"
    DRY_RUN = "dry run"


@dataclass(frozen=True)
class Result:
    """What was published, or would be."""

    outcome: Outcome
    place: str
    """The database, without the password."""
    plan: Plan
    """Empty where nothing has changed."""
    proofs: tuple[Proof, ...] = ()
    """What proves each relation of the plan."""
    notes: tuple[str, ...] = ()
    """What could not be kept of what others have built on the former copy."""
    seconds: float = 0
    published_at: datetime | None = None
    """When this copy or, where it is unchanged, that one was published; UTC."""


def publish(
    con: duckdb.DuckDBPyConnection,
    url: str,
    options: Options,
    progress: Progress,
    *,
    grant_select: str | None = None,
    dry_run: bool = False,
    force: bool = False,
    check_complete: Callable[[], None] = lambda: None,
) -> Result:
    """Publish a warehouse to a PostgreSQL database, unless that has just this copy already.

    ``grant_select``: a role that may read everything. ``force``: publish again even so. ``check_complete`` is called
    before the copy appears and raises where it must not.

    Raises UsageError for what can't be published or replaced, ServerFailed where the server does not do its part.
    """
    begun = time.monotonic()
    with connected(url) as server, locked(server, options.prefix), configured(con):
        _check_rights(server, grant_select)
        made_from, published = origin(con, options), read_record(server, options.prefix)
        if published and published.origin == made_from and not force:
            notes = []
            if not dry_run:
                _grant(server, published.schemas, grant_select)
                notes = drop_replaced(server, options.prefix)
            at = published.published_at
            return Result(Outcome.UNCHANGED, where(server), Plan((), ()), notes=tuple(notes), published_at=at)
        plan = make_plan(con, options)
        if options.nul is None:
            check_nul(con, plan)
        names = {schema: f"{options.prefix}{schema}" for schema in plan.schemas}
        check_free(server, options.prefix, names.values(), published)
        if dry_run:
            return Result(Outcome.DRY_RUN, where(server), plan)
        drop_replaced(server, options.prefix)
        staged = {schema: f"{name}~new" for schema, name in names.items()}
        run(server, "begin")
        proofs = load(con, server, plan, staged, progress)
        check_equal(server, plan.relations, proofs, staged, progress)
        write_record(server, staged[HOUSEKEEPING], made_from, list(names.values()), plan, proofs)
        by_name = {staged[schema]: name for schema, name in names.items()}
        notes = swap(server, options.prefix, by_name, published.schemas if published else [])
        _grant(server, list(names.values()), grant_select)
        check_complete()
        with ctrl_c.ignored():
            run(server, "commit")
            notes += drop_replaced(server, options.prefix)
        seconds = time.monotonic() - begun
        return Result(Outcome.PUBLISHED, where(server), plan, tuple(proofs), tuple(notes), seconds, datetime.now(UTC))


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
    if grant_select and not run(server, "select from pg_roles where rolname = %s", [grant_select]).fetchall():
        raise UsageError(
            f"the server has no role '{grant_select}'",
            where=where(server),
            next_step=f"create it: create role {identifier(grant_select)} nologin   or name another --grant-select",
        )


def _grant(server: Connection[Any], schemas: Iterable[str], role: str | None) -> None:
    """Let a role read everything."""
    for schema in schemas if role else ():
        name, to = quoted(schema), quoted(role or "")
        run(server, f"grant usage on schema {name} to {to}; grant select on all tables in schema {name} to {to}")
