"""Compares a published copy with the warehouse again."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from psycopg import Connection

from talkhouse.ingest.progress import Progress
from talkhouse.postgres.column_types import Proof
from talkhouse.postgres.load import proof_here
from talkhouse.postgres.own import TABLE, VIEW, relations
from talkhouse.postgres.plan import Options, PublicationPlan, RelationKind, make_plan
from talkhouse.postgres.publish import configured
from talkhouse.postgres.record import FORMAT, CopyDifference, Published, differences, read_record
from talkhouse.postgres.server import connected, locked, where
from talkhouse.schema.errors import ServerFailed, UsageError
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.warehouse.opened import Warehouse


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
    with connected(url) as server, locked(server, prefix), configured(con):
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
    """Return what is published, and its origin."""
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
    """Return what is there in place of a relation of the plan; None where nothing is."""
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
    """Name a type as the catalog does, without its precision."""
    plain = re.sub(r"\(.*\)", "", kind)
    return re.sub(r"^timestamp\b", "timestamp without time zone", plain)


def _named(made_by: dict[str, object]) -> str:
    return f"build {made_by['load_id']}, finished {made_by['finished_at']} UTC"
