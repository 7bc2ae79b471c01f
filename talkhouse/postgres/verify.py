"""Compares a published copy with the warehouse again."""

from dataclasses import dataclass, replace

import duckdb

from schema.errors import ServerFailed, UsageError
from talkhouse.postgres.load import Progress, proof_here
from talkhouse.postgres.plan import Options, Plan, make_plan
from talkhouse.postgres.proof import Difference, differences
from talkhouse.postgres.publish import configured
from talkhouse.postgres.record import read_record
from talkhouse.postgres.row_text import Proof
from talkhouse.postgres.server import connected, locked, where
from talkhouse.query.manifest import build


@dataclass(frozen=True)
class Verified:
    """What was compared, and what differs."""

    place: str
    plan: Plan
    proofs: tuple[Proof, ...]
    """What proves each relation of the plan, as it is in the warehouse or, where its means vary, as it was then."""
    differences: tuple[Difference, ...]


def verify(con: duckdb.DuckDBPyConnection, url: str, prefix: str, progress: Progress) -> Verified:
    """Count and hash the rows of every relation that is published, here and there.

    A view of means is compared with what DuckDB gave when it was published: DuckDB adds numbers up in any order, and
    another time their last digit may be another.

    Raises UsageError where nothing is published, ServerFailed where another build is, or where the server fails.
    """
    with connected(url) as server, locked(server, prefix), configured(con):
        published = read_record(server, prefix)
        if published is None:
            raise UsageError(
                "no copy is published there",
                where=where(server),
                next_step="publish one with: talkhouse publish URL   or name its --schema-prefix",
            )
        if published.origin["build"] != build(con):
            raise ServerFailed(
                "the copy is not of this build of the warehouse",
                where=where(server),
                expected=_named(build(con)),
                found=_named(published.origin["build"]),
                next_step="publish this one with: talkhouse publish URL   or name the warehouse with --db FILE",
            )
        plan = make_plan(con, Options.from_record(published.origin["options"]))
        plan = replace(plan, relations=tuple(one for one in plan.relations if one.name in published.proofs))
        progress.begin("hashing", records=sum(one.rows for one in plan.relations), unit="rows")
        proofs = []
        for relation in plan.relations:
            recorded = published.proofs[relation.name]
            proofs.append(proof_here(con, relation) if relation.is_repeatable else recorded)
            progress.advance(relation.rows)
        schemas = {schema: f"{prefix}{schema}" for schema in plan.schemas}
        found = tuple(differences(server, plan.relations, proofs, schemas, progress))
        return Verified(where(server), plan, tuple(proofs), found)


def _named(made_by: dict[str, object]) -> str:
    return f"build {made_by['load_id']}, finished {made_by['finished_at']} UTC"
