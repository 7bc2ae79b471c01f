"""Publishes a warehouse: a copy in new schemas, proven equal, in the place of the former one in one transaction."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any

import duckdb
from psycopg import Connection

from talkhouse.export.personal_data import check_texts
from talkhouse.export.sandbox import failure
from talkhouse.ingest.progress import Progress
from talkhouse.personal import PersonalData
from talkhouse.postgres.changed_rows import hashes_by_file
from talkhouse.postgres.column_types import SETUP, Proof
from talkhouse.postgres.load import check_nul, load, proof_here
from talkhouse.postgres.plan import Options, PublicationPlan, RelationKind, make_plan
from talkhouse.postgres.record import (
    FORMAT,
    CopyDifference,
    Published,
    check_equal,
    differences,
    origin,
    read_record,
    write_record,
)
from talkhouse.postgres.replace import (
    drop_replaced,
    is_marked,
    named_freely,
    published_mark,
    replace_former,
    replaceable,
)
from talkhouse.postgres.server import (
    TABLE,
    VIEW,
    connected,
    locked,
    marked,
    own_relations,
    owners,
    relations,
    run,
    where,
)
from talkhouse.postgres.update import Update, is_worthwhile, layout
from talkhouse.schema.errors import ServerFailed, UsageError
from talkhouse.schema.guard import configure
from talkhouse.schema.sql import identifier, quoted
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.system import ctrl_c
from talkhouse.system.memory import capped
from talkhouse.warehouse.content_ids import known_ids
from talkhouse.warehouse.file_hashes import hashes_of
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
    changed_rows: int | None = None
    """Rows that were written or deleted where a former copy was brought up to date; None where all was written."""
    published_at: datetime | None = None
    """When this copy or, where it is unchanged, that one was published; UTC."""


def publish(
    warehouse: Warehouse,
    url: str,
    options: Options,
    progress: Progress,
    *,
    personal: PersonalData = PersonalData.ASK,
    grant_select: str | None = None,
    dry_run: bool = False,
    force: bool = False,
    format_number: int = FORMAT,
) -> PublicationResult:
    """Publish a warehouse to a PostgreSQL database, unless that has just this copy already.

    ``personal``: what becomes of personal data in texts of corpora of one's own. ``grant_select``: a role that may read
    everything. ``force``: publish again even so.

    Raises UsageError for what can't be published or replaced, PersonalDataFound, and ServerFailed where the server does
    not do its part.
    """
    begun, con = time.monotonic(), warehouse.con
    check_texts(warehouse, personal)
    with capped(con), connected(url) as server, locked(server, options.prefix), configured(con):
        _check_rights(server, grant_select)
        made_from = origin(warehouse, options, format_number)
        published = read_record(server, f"{options.prefix}{HOUSEKEEPING}")
        if published and published.origin == made_from and is_marked(server, options.prefix) and not force:
            return _unchanged(server, options.prefix, published, grant_select, dry_run=dry_run)
        # A copy that was made in the same way need not be made again, if not too much has changed.
        before = {**((published and published.origin) or {}), "build": made_from["build"]}
        is_same = before == made_from and is_marked(server, options.prefix)
        former = published if is_same and not dry_run and not force else None
        plan = make_plan(warehouse, options, former.rows if former else {})
        names = {schema: f"{options.prefix}{schema}" for schema in plan.schemas}
        if former and (not is_worthwhile(con, plan, former) or _others(server, plan, names)):
            former, plan = None, make_plan(warehouse, options)
            names = {schema: f"{options.prefix}{schema}" for schema in plan.schemas}
        if options.nul is None:
            check_nul(con, plan)
        replaceable(server, options.prefix, names.values(), published)
        if dry_run:
            return PublicationResult(PublicationOutcome.DRY_RUN, where(server), plan)
        drop_replaced(server, options.prefix)
        hashes = hashes_of(warehouse)
        files = hashes_by_file(hashes)
        hashes.keep()
        about = known_ids(con, warehouse.database, warehouse.path)._asdict() | {"files": files}
        record = partial(write_record, server, made_from=made_from, schemas=[*names.values()], about=about)
        run(server, "begin")
        updated, notes = None, list[str]()
        if former:
            update = Update(con, server, plan, names, former, files, progress, options)
            if update.lock():
                replaceable(server, options.prefix, names.values(), published)  # again, now that nobody can change it
                updated = update.done()
        if updated:
            plan, proofs, _ = updated
            about["layout"] = layout(con, plan)
            record(names[HOUSEKEEPING], plan=plan, proofs=proofs, is_there=True)
        else:
            plan = make_plan(warehouse, options) if former else plan
            about["layout"] = layout(con, plan)
            created, proofs = _stage(warehouse, server, plan, names, progress)
            record(created[names[HOUSEKEEPING]], plan=plan, proofs=proofs)
            # Again, for others may have put something into these schemas meanwhile.
            replaced = replaceable(server, options.prefix, names.values(), published)
            notes = replace_former(server, options.prefix, {new: name for name, new in created.items()}, replaced)
            notes += _left(server, published, [*replaced, *names.values()])
        _grant(server, list(names.values()), grant_select)
        warehouse.check_complete()
        with ctrl_c.ignored():
            run(server, "commit")
            notes += drop_replaced(server, options.prefix)
        return PublicationResult(
            PublicationOutcome.PUBLISHED,
            where(server),
            plan,
            tuple(proofs),
            tuple(notes),
            seconds=time.monotonic() - begun,
            changed_rows=updated.rows if updated else None,
            published_at=datetime.now(UTC),
        )


def _stage(
    warehouse: Warehouse, server: Connection[Any], plan: PublicationPlan, names: Mapping[str, str], progress: Progress
) -> tuple[dict[str, str], list[Proof]]:
    """Make the copy in new schemas, equal to the warehouse; return these, and what proves it.

    ``names``: what a schema of the warehouse will be called there. The new ones are returned by these names.
    """
    created = named_freely(server, names.values(), "~new", lambda _, new: run(server, f"create schema {quoted(new)}"))
    staged = {schema: created[name] for schema, name in names.items()}
    proofs = load(warehouse.con, server, plan, staged, progress)
    check_equal(server, plan.relations, proofs, staged, progress)
    return created, proofs


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
    """Return a note on schemas that are recorded and were not replaced: without marks, they may be anything."""
    left = owners(server, {*published.schemas} - {*replaced}) if published else []
    return [f"left alone, for nothing marks it as a part of the former copy: schema {schema}" for schema in left]


@contextmanager
def configured(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Configure a connection to DuckDB to write rows as text; QueryFailed where it fails."""
    try:
        configure(con, {"enable_progress_bar": False, "arrow_large_buffer_size": True})
        for statement in SETUP:
            con.execute(statement)
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
    names = own_relations(server, schemas) if role else []
    if names:
        to = quoted(role or "")
        run(server, f"grant usage on schema {', '.join(map(quoted, schemas))} to {to}")
        run(server, f"grant select on {', '.join(names)} to {to}")


@dataclass(frozen=True)
class Verified:
    """What was compared, and what differs."""

    place: str
    plan: PublicationPlan
    proofs: tuple[Proof, ...]
    """What proves each relation of the plan, as it is in the warehouse or, where its means vary, as it was then."""
    differences: tuple[CopyDifference, ...]


def verify(warehouse: Warehouse, url: str, prefix: str, progress: Progress) -> Verified:
    """Count and hash the rows of every relation that is published, here and there.

    A view of means is compared with what DuckDB gave when it was published: DuckDB adds numbers up in any order, and
    another time their last digit may be another.

    Only tables and views of the publishing role, as it made them, are read there; any other is told as a difference.

    Raises UsageError where nothing is published or the record of it is not ours, ServerFailed where another build is,
    or where the server fails.
    """
    con = warehouse.con
    with capped(con), connected(url) as server, locked(server, prefix), configured(con):
        published, origin = _published(server, f"{prefix}{HOUSEKEEPING}")
        if origin["build"] != warehouse.build:
            raise ServerFailed(
                "the copy is not of this build of the warehouse",
                where=where(server),
                expected=_named(warehouse.build),
                found=_named(origin["build"]),
                next_step="publish this one with: talkhouse publish URL   or name the warehouse with --db FILE",
            )
        plan = make_plan(warehouse, Options.from_record(origin["options"]) or Options(prefix))
        plan = replace(
            plan, relations=tuple(relation for relation in plan.relations if relation.name in published.kinds)
        )
        progress.begin("hashing", records=sum(relation.rows for relation in plan.relations), unit="rows")
        proofs = []
        for relation in plan.relations:
            recorded = None if relation.is_repeatable else published.proofs.get(relation.name)
            proofs.append(recorded or proof_here(con, relation))
            progress.advance(relation.rows)
        schemas = {schema: f"{prefix}{schema}" for schema in plan.schemas}
        others = _others(server, plan, schemas)
        different = tuple(differences(server, plan.relations, proofs, schemas, progress, others))
        return Verified(where(server), plan, tuple(proofs), different)


def _published(server: Connection[Any], schema: str) -> tuple[Published, dict[str, Any]]:
    """Return the record of the published copy, and its origin."""
    published = read_record(server, schema)
    if published is None:
        raise UsageError(
            "no copy is published there",
            where=where(server),
            next_step="publish one with: talkhouse publish URL   or name its --schema-prefix",
        )
    if published.origin is None:
        raise UsageError(
            f"{schema}.publication does not say what was published",
            where=where(server),
            expected="one row, as this Talkhouse writes it",
            next_step="publish again with: talkhouse publish URL --force",
        )
    if published.origin.get("format") != FORMAT:
        raise ServerFailed(
            "the copy was published in another format, by another version of Talkhouse",
            where=where(server),
            expected=f"format {FORMAT}",
            found=f"format {published.origin['format']}" if "format" in published.origin else "none, as in 0.1.0",
            next_step="publish again with: talkhouse publish URL",
        )
    return published, published.origin


def _others(server: Connection[Any], plan: PublicationPlan, schemas: Mapping[str, str]) -> dict[str, str | None]:
    """Return the planned relations that differ, with what is there instead, or None if nothing is."""
    existing, others = relations(server, schemas.values()), dict[str, str | None]()
    for relation in plan.relations:  # a view comes before those of its splits
        there = existing.get((schemas[relation.selection.schema], relation.selection.name))
        columns = [f"{column.name} {_in_catalog(column.type.name)}" for column in relation.columns]
        why = there and there.differs(VIEW if relation.kind is RelationKind.SPLIT else TABLE, columns)
        if why or there is None:
            others[relation.name] = why
        elif relation.parent in others:
            others[relation.name] = f"it reads {relation.parent}"
    return others


def _in_catalog(kind: str) -> str:
    """Return a type as the catalog writes it, without its precision."""
    plain = re.sub(r"\([^()]*\)", "", kind)
    return re.sub(r"^timestamp\b", "timestamp without time zone", plain)


def _named(made_by: dict[str, object]) -> str:
    return f"build {made_by['load_id']}, finished {made_by['finished_at']} UTC"
