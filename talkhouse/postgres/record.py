"""Compares a copy with the warehouse, and records what a publication is of, with each relation's proof."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import psycopg
from psycopg import Connection
from psycopg.types.json import Json

from talkhouse.ingest.progress import Progress
from talkhouse.postgres.column_types import Proof, proof, select_proof_there
from talkhouse.postgres.plan import Options, PublicationPlan, PublishedRelation, RelationKind
from talkhouse.postgres.server import TABLE, VIEW, relations, run, where, writers
from talkhouse.schema.errors import ServerFailed, UsageError
from talkhouse.schema.sql import identifier, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.settings import version
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.rows_hash import RowsHash

FORMAT = 1
"""The number of what a publication makes of a warehouse: a copy with another number is not the same.

Raise it with each change to that: to a type, key, index or comment in PostgreSQL, to the hash of a row, to these two
tables. A copy that Talkhouse 0.1.0 made has no number.
"""

_ORIGIN = ("format", "build", "options")
"""What decides whether a copy is the same; the version of Talkhouse, which is recorded too, does not."""

_PUBLICATION, _RELATIONS = "publication", "published_relations"

_COLUMNS = {
    _PUBLICATION: ("published_at timestamp with time zone", "origin jsonb", "schemas text[]"),
    _RELATIONS: ("relation text", "kind text", "row_count bigint", "row_hash text", "left_out text"),
}
"""The columns of the two tables, as the catalog names their types."""

FilesOfTables = Mapping[str, Mapping[str, RowsHash]]
"""By table and source file: how many rows it has, and 16 hex digits of their hash."""

_HASH = re.compile(r"[0-9a-f]{16}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Published:
    """A publication that is in a database."""

    published_at: datetime | None
    origin: dict[str, Any] | None
    """None if the record is not as Talkhouse writes it: so it is equal to none."""
    schemas: list[str]
    """Names in PostgreSQL, as recorded: anyone who may write the record may have written them."""
    kinds: dict[str, str]
    """By the names of the relations in the warehouse."""
    proofs: dict[str, Proof]
    """By the names of the relations in the warehouse."""
    content_id: str | None = None
    """Of the warehouse, where that was known."""
    layout: str | None = None
    """What decides how the tables were made, apart from rows; None of a copy that an earlier Talkhouse made."""
    files: FilesOfTables = field(default_factory=dict)
    """Of large tables."""

    @property
    def rows(self) -> dict[str, int]:
        """The rows of each relation."""
        return {name: of_relation.rows for name, of_relation in self.proofs.items()}

    def listed(self, prefix: str, ending: str = "") -> dict[tuple[str, str], str]:
        """Return the kind in the catalog of each relation, by its names there; the schemas may have other endings."""
        kinds = {RelationKind.TABLE: TABLE, RelationKind.ROWS: TABLE, RelationKind.SPLIT: VIEW}
        relations = self.kinds | {f"{HOUSEKEEPING}.{name}": RelationKind.TABLE for name in _COLUMNS}
        by_name = {}
        for relation, kind in relations.items():
            schema, _, name = relation.partition(".")
            if kind in kinds:
                by_name[f"{prefix}{schema}{ending}", name] = kinds[RelationKind(kind)]
        return by_name


def origin(warehouse: Warehouse, options: Options, format_number: int = FORMAT) -> dict[str, Any]:
    """Return the origin of a copy, by the names in ``_ORIGIN``; the same makes the same copy."""
    values = (format_number, warehouse.build, asdict(options))
    return dict(json.loads(json.dumps(dict(zip(_ORIGIN, values, strict=True)))))


def write_record(
    server: Connection[Any],
    schema: str,
    made_from: dict[str, Any],
    schemas: list[str],
    plan: PublicationPlan,
    proofs: Sequence[Proof],
    about: Mapping[str, Any],
    *,
    is_there: bool = False,
) -> None:
    """Write the two tables in a schema; ``schemas`` are all that belong to the publication.

    ``about``: what does not decide whether a copy is the same. ``is_there``: the tables are those of a former copy.
    """
    if is_there:
        run(server, f"delete from {quoted(schema)}.{_PUBLICATION}")
        run(server, f"delete from {quoted(schema)}.{_RELATIONS}")
    else:
        run(server, sql_of(__file__, "record_tables", schema=quoted(schema)))
        if others := writers(server, schema, list(_COLUMNS)):  # by default privileges
            run(server, _revoked(schema, others))
    insert = f"insert into {quoted(schema)}.{_PUBLICATION} (origin, schemas) values (%s, %s)"
    run(server, insert, [Json({**made_from, "talkhouse_version": version(), **about}), schemas])
    rows: list[tuple[Any, ...]] = [
        (relation.name, relation.kind, *proof, None) for relation, proof in zip(plan.relations, proofs, strict=True)
    ]
    rows += [(relation.name, None, relation.rows, None, relation.reason) for relation in plan.left_out]
    with server.cursor() as cursor:
        cursor.executemany(f"insert into {quoted(schema)}.{_RELATIONS} values (%s, %s, %s, %s, %s)".encode(), rows)


def read_record(server: Connection[Any], schema: str) -> Published | None:
    """Return the content of the two tables in a schema, or None if they are not there.

    Raises UsageError, and has read nothing, where they are not tables of the publishing role, as it makes them, which
    no other user may write.
    """
    existing = relations(server, [schema])
    if (schema, _PUBLICATION) not in existing:
        return None
    for name, columns in _COLUMNS.items():
        table = existing.get((schema, name))
        if why := "there is no such table" if table is None else table.differs(TABLE, columns):
            raise UsageError(
                f"{schema}.{name} is not what Talkhouse published as this role, and was not read",
                where=where(server),
                expected=f"a plain table of the role {server.info.user} with the columns {', '.join(columns)}",
                found=why,
                next_step="publish as the role that published the copy, look at what is there and remove it, "
                "or name other schemas: --schema-prefix talkhouse_",
            )
    if others := writers(server, schema, list(_COLUMNS)):
        raise UsageError(
            f"other roles may write what the copy records of itself in {schema}; it was not read",
            where=where(server),
            found=", ".join(others),
            next_step="see that published_relations lists relations of the copy alone, and type: "
            + _revoked(schema, others),
        )
    return _read(server, quoted(schema))


def _revoked(schema: str, others: Sequence[str]) -> str:
    tables = ", ".join(f"{identifier(schema)}.{name}" for name in _COLUMNS)
    return f"revoke insert, update, delete, truncate on {tables} from {', '.join(others)}"


def _read(server: Connection[Any], schema: str) -> Published:
    query = f"select published_at::text, origin::text, to_json(schemas)::text from {schema}.{_PUBLICATION} limit 2"
    rows = run(server, query).fetchall()
    at, made_from, schemas = rows[0] if len(rows) == 1 else (None, None, None)
    time = _time(at)
    recorded = run(
        server, f"select relation, kind, row_count, row_hash from {schema}.{_RELATIONS} where left_out is null"
    )
    listed = [row for row in recorded.fetchall() if "." in (row[0] or "")]
    return Published(
        time,
        _origin(made_from) if time else None,
        [schema_name for schema_name in _json(schemas) or () if isinstance(schema_name, str)],
        {relation: kind for relation, kind, *_ in listed},
        {
            relation: Proof(row_count, row_hash)
            for relation, _, row_count, row_hash in listed
            if _HASH.fullmatch(row_hash or "") and (row_count or 0) >= 0
        },
        *_about(made_from),
    )


class _About(NamedTuple):
    """What else the origin of a copy says."""

    content_id: str | None
    layout: str | None
    files: FilesOfTables


def _about(text: str | None) -> _About:
    """Read what else the origin says; what Talkhouse would not write so is not known."""
    origin = _json(text) if isinstance(_json(text), dict) else {}
    hashes = (origin.get(name) for name in ("content_id", "layout"))
    content_id, layout = (found if isinstance(found, str) and _SHA256.fullmatch(found) else None for found in hashes)
    try:
        return _About(content_id, layout, msgspec.convert(origin.get("files", {}), dict[str, dict[str, RowsHash]]))
    except msgspec.ValidationError:
        return _About(content_id, None, {})


def _time(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text or "")
    except ValueError:  # infinity, and years that Python does not have
        return None


def _json(text: str | None) -> Any:
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError):
        return None


def _origin(text: str | None) -> dict[str, Any] | None:
    match _json(text):
        case {"build": {"load_id": _, "finished_at": _}, "options": options} as origin if Options.from_record(options):
            return {name: origin[name] for name in _ORIGIN if name in origin}
    return None


_NONE: Mapping[str, str | None] = MappingProxyType({})


class CopyDifference(NamedTuple):
    """A relation that is not the same in the warehouse and in the copy."""

    name: str
    here: Proof
    there: Proof | None
    """None if the copy does not have it."""
    why: str | None = None
    """Why it was not read there."""

    def __str__(self) -> str:
        if self.why:
            return f"{self.name}: not read, for it is not what was published: {self.why}"
        if self.there is None:
            return f"{self.name}: PostgreSQL does not have it"
        if self.here.rows != self.there.rows:
            return f"{self.name}: {self.here.rows:,} rows in the warehouse, {self.there.rows:,} in PostgreSQL"
        return f"{self.name}: other values in its {self.here.rows:,} rows"


def check_equal(
    server: Connection[Any],
    relations: Sequence[PublishedRelation],
    proofs: Sequence[Proof],
    schemas: Mapping[str, str],
    progress: Progress,
) -> None:
    """Raise ServerFailed where the copy is not what the warehouse has; nothing is replaced then."""
    check_none(server, list(differences(server, relations, proofs, schemas, progress)))


def check_none(server: Connection[Any], different: Sequence[CopyDifference]) -> None:
    """Raise ServerFailed where something differs."""
    if different:
        raise ServerFailed(
            "the copy differs from the warehouse; what was published before is unchanged",
            where=where(server),
            found="; ".join(map(str, different)),
            next_step="publish again; if it differs again, report it with the versions of PostgreSQL and Talkhouse",
        )


def differences(
    server: Connection[Any],
    relations: Sequence[PublishedRelation],
    proofs: Sequence[Proof],
    schemas: Mapping[str, str],
    progress: Progress,
    others: Mapping[str, str | None] = _NONE,
) -> Iterator[CopyDifference]:
    """Hash each relation in PostgreSQL, and yield those that differ from what DuckDB has.

    ``others``: relations that are not to be read, for they are not there (None) or are not what was published.
    """
    progress.begin("comparing", records=sum(proof.rows for proof in proofs), unit="rows")
    for relation, here in zip(relations, proofs, strict=True):
        there = None if relation.name in others else proof_there(server, relation, schemas)
        if there != here:
            yield CopyDifference(relation.name, here, there, others.get(relation.name))
        progress.advance(here.rows)


def proof_there(
    server: Connection[Any], relation: PublishedRelation, schemas: Mapping[str, str], condition: str = "true"
) -> Proof | None:
    """Return the proof of a relation's rows in PostgreSQL, or None if there is none with these columns."""
    query = select_proof_there(relation.columns, f"{relation.there(schemas)} where {condition}")
    try:
        ((rows, total),) = run(server, query).fetchall()
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn, psycopg.errors.InvalidSchemaName):
        return None
    return proof(rows, total)
