"""Publishes a warehouse: a copy in new schemas, proven equal, in the place of the former one in one transaction."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import duckdb
from psycopg import Connection

from schema.errors import ServerFailed, UsageError
from schema.sql import literal, quoted
from schema.warehouse import HOUSEKEEPING
from talkhouse import ctrl_c
from talkhouse.postgres.free_names import check_free
from talkhouse.postgres.load import Progress, load
from talkhouse.postgres.nul import check_nul
from talkhouse.postgres.plan import LeftOut, Options, Plan, Relation, make_plan
from talkhouse.postgres.proof import check_equal
from talkhouse.postgres.record import origin, read_record, write_record
from talkhouse.postgres.row_text import Proof
from talkhouse.postgres.server import connected, locked, run, where
from talkhouse.postgres.swap import drop_replaced, swap


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
    plan: Plan | None = None
    proofs: tuple[Proof, ...] = ()
    """What proves each relation of the plan."""
    notes: tuple[str, ...] = ()
    """What could not be kept of what others have built on the former copy."""


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
    with connected(url) as server, locked(server, options.prefix):
        _check_rights(server, grant_select)
        made_from, published = origin(con, options), read_record(server, options.prefix)
        if published and published.origin == made_from and not force:
            _grant(server, published.schemas, grant_select)
            return Result(Outcome.UNCHANGED, where(server))
        plan = make_plan(con, options)
        if options.nul is None:
            check_nul(con, plan)
        names = {schema: f"{options.prefix}{schema}" for schema in plan.schemas}
        check_free(server, options.prefix, names.values(), published)
        if dry_run:
            return Result(Outcome.DRY_RUN, where(server), plan)
        drop_replaced(server, options.prefix)
        staged = {schema: f"{name}~new" for schema, name in names.items()}
        with server.transaction():
            proofs = load(con, server, plan, staged, progress)
            check_equal(server, plan.relations, proofs, staged, progress)
            write_record(server, staged[HOUSEKEEPING], made_from, list(names.values()), plan, proofs)
            check_complete()
            with ctrl_c.ignored():
                by_name = {now: names[schema] for schema, now in staged.items()}
                notes = swap(server, options.prefix, by_name, published.schemas if published else [])
                _grant(server, list(names.values()), grant_select)
        ...
