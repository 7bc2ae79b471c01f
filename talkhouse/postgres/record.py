"""What a publication records of itself, in two tables of ``meta``: what it was made from, and each relation's proof."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import duckdb
from psycopg import Connection
from psycopg.types.json import Json

from schema.sql import quoted
from schema.warehouse import HOUSEKEEPING
from talkhouse.postgres.plan import Options, Plan
from talkhouse.postgres.row_text import Proof
from talkhouse.postgres.server import run
from talkhouse.query.manifest import build
from talkhouse.settings import version

PUBLICATION, RELATIONS = "publication", "published_relations"

_TABLES = """
create table {0}.publication (
    published_at timestamptz not null default clock_timestamp(),
    origin jsonb not null,
    schemas text[] not null
);
comment on table {0}.publication is 'What this copy of a warehouse was made from, by talkhouse publish.';
comment on column {0}.publication.published_at is 'When it was made.';
comment on column {0}.publication.origin is 'Version of Talkhouse, build of the warehouse, what was asked for.';
comment on column {0}.publication.schemas is 'The schemas that belong to it; the next publication replaces them.';
create table {0}.published_relations (
    relation text primary key,
    kind text,
    row_count bigint not null,
    row_hash text,
    left_out text
);
comment on table {0}.published_relations is 'A relation of the warehouse: how it was published, or why not.';
comment on column {0}.published_relations.relation is 'Its name in the warehouse.';
comment on column {0}.published_relations.kind is 'table, rows of a view, or view of a split.';
comment on column {0}.published_relations.row_count is 'Number of its rows.';
comment on column {0}.published_relations.row_hash is
    'Sum of the hashes of its rows, which the warehouse has too, as talkhouse publish --verify computes them.';
comment on column {0}.published_relations.left_out is 'Why it was left out; null where it was not.'
"""


@dataclass(frozen=True)
class Published:
    """A publication that is in a database."""

    published_at: datetime
    origin: dict[str, Any]
    schemas: list[str]
    """Names in PostgreSQL."""
    proofs: dict[str, Proof]
    """By the names of the relations in the warehouse."""


def origin(con: duckdb.DuckDBPyConnection, options: Options) -> dict[str, Any]:
    """Say what a copy is made from; the same makes the same copy."""
    written = json.dumps({"talkhouse_version": version(), "build": build(con), "options": asdict(options)})
    return dict(json.loads(written))


def write_record(
    server: Connection[Any],
    schema: str,
    made_from: dict[str, Any],
    schemas: list[str],
    plan: Plan,
    proofs: Sequence[Proof],
) -> None:
    """Make the two tables in a schema; ``schemas`` are all that belong to the publication."""
    run(server, _TABLES.format(quoted(schema)))
    insert = f"insert into {quoted(schema)}.{PUBLICATION} (origin, schemas) values (%s, %s)"
    run(server, insert, [Json(made_from), schemas])
    rows: list[tuple[Any, ...]] = [
        (one.name, one.kind, *proof, None) for one, proof in zip(plan.relations, proofs, strict=True)
    ]
    rows += [(one.name, None, one.rows, None, one.reason) for one in plan.left_out]
    with server.cursor() as cursor:
        cursor.executemany(f"insert into {quoted(schema)}.{RELATIONS} values (%s, %s, %s, %s, %s)".encode(), rows)


def read_record(server: Connection[Any], prefix: str) -> Published | None:
    """Return what is published under a prefix; None where nothing is."""
    schema = quoted(f"{prefix}{HOUSEKEEPING}")
    ((table,),) = run(server, "select to_regclass(%s)", [f"{schema}.{PUBLICATION}"]).fetchall()
    if table is None:
        return None
    query = f"select published_at, origin, schemas from {schema}.{PUBLICATION}"
    ((at, made_from, schemas),) = run(server, query).fetchall()
    rows = run(server, f"select relation, row_count, row_hash from {schema}.{RELATIONS} where left_out is null")
    return Published(at, made_from, schemas, {relation: Proof(number, found) for relation, number, found in rows})
