"""Compares a copy with the warehouse: the number of rows of every relation, and the sum of their hashes."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import psycopg
from psycopg import Connection

from talkhouse.postgres.plan import Relation
from talkhouse.postgres.row_text import Proof, proof, select_proof_there
from talkhouse.postgres.server import run, where
from talkhouse.progress import Progress
from talkhouse.schema.errors import ServerFailed

_NONE: Mapping[str, str | None] = MappingProxyType({})


class Difference(NamedTuple):
    """A relation that is not the same in the warehouse and in the copy."""

    name: str
    here: Proof
    there: Proof | None
    """None where the copy does not have it."""
    why: str | None = None
    """Why it was not read there."""

    def __str__(self) -> str:
        """Say what differs."""
        if self.why:
            return f"{self.name}: not read, for it is not what was published: {self.why}"
        if self.there is None:
            return f"{self.name}: PostgreSQL does not have it"
        if self.here.rows != self.there.rows:
            return f"{self.name}: {self.here.rows:,} rows in the warehouse, {self.there.rows:,} in PostgreSQL"
        return f"{self.name}: other values in its {self.here.rows:,} rows"


def check_equal(
    server: Connection[Any],
    relations: Sequence[Relation],
    proofs: Sequence[Proof],
    schemas: Mapping[str, str],
    progress: Progress,
) -> None:
    """Raise ServerFailed where the copy is not what the warehouse has; nothing is replaced then."""
    different = list(differences(server, relations, proofs, schemas, progress))
    if different:
        raise ServerFailed(
            "the copy differs from the warehouse; what was published before is unchanged",
            where=where(server),
            found="; ".join(map(str, different)),
            next_step="publish again; if it differs again, report it with the versions of PostgreSQL and Talkhouse",
        )


def differences(
    server: Connection[Any],
    relations: Sequence[Relation],
    proofs: Sequence[Proof],
    schemas: Mapping[str, str],
    progress: Progress,
    others: Mapping[str, str | None] = _NONE,
) -> Iterator[Difference]:
    """Hash each relation in PostgreSQL, and yield those that differ from what DuckDB has.

    ``others``: relations that are not to be read, for they are not there (None) or are not what was published.
    """
    progress.begin("comparing", records=sum(proof.rows for proof in proofs), unit="rows")
    for relation, here in zip(relations, proofs, strict=True):
        there = None if relation.name in others else proof_there(server, relation, schemas)
        if there != here:
            yield Difference(relation.name, here, there, others.get(relation.name))
        progress.advance(here.rows)


def proof_there(server: Connection[Any], relation: Relation, schemas: Mapping[str, str]) -> Proof | None:
    """Return what proves a relation, as it is in PostgreSQL; None where there is none, or not with these columns."""
    query = select_proof_there(relation.columns, relation.there(schemas))
    try:
        ((rows, total),) = run(server, query).fetchall()
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn, psycopg.errors.InvalidSchemaName):
        return None
    return proof(rows, total)
