"""Makes a copy in new schemas: texts without NUL are written by DuckDB as lines with hashes, and copied in batches."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import duckdb
from psycopg import Connection

from talkhouse.ingest.progress import Progress
from talkhouse.postgres.column_types import Proof, hash_here, line, proof, select_proof_here
from talkhouse.postgres.plan import VERSION, PublicationPlan, PublishedRelation, RelationKind, there
from talkhouse.postgres.server import run, version
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.warehouse import HOUSEKEEPING

_BATCH_ROWS = 2048

_LOOKED_UP = ("dialogue_id", "corpus_id")
"""Columns of views that have an index."""

_INDEXED = 2_600
"""Bytes of the longest key that is indexed."""


def load(
    con: duckdb.DuckDBPyConnection,
    server: Connection[Any],
    plan: PublicationPlan,
    schemas: Mapping[str, str],
    progress: Progress,
) -> list[Proof]:
    """Create the plan in new, empty schemas; return the proof of each relation, as it is in DuckDB.

    ``schemas``: what a schema of the warehouse is called there. Needs a transaction, and leaves it open.
    """
    from talkhouse.migrations.postgres import statements  # takes its time, which a copy that is unchanged does not need

    tables = statements({schema: schemas[schema] for schema in ("main", HOUSEKEEPING)}, version(server))
    for statement in tables.before:
        run(server, statement)
    rows = sum(relation.rows for relation in plan.relations if relation.kind is not RelationKind.SPLIT)
    progress.begin("copying", records=rows, unit="rows")
    proofs: dict[str, Proof] = {}
    for relation in plan.relations:
        if relation.kind is RelationKind.SPLIT:
            _make_split_view(server, relation, schemas)
        elif relation.name == VERSION:  # it has its row already
            proofs[relation.name] = proof_here(con, relation)
        else:
            proofs |= _load(con, server, relation, plan.splits_of(relation), schemas, progress)
    progress.begin("adding keys and indexes", records=len(tables.after), unit="statements")
    for statement in tables.after:
        run(server, statement)
        progress.advance(1)
    return [proofs[relation.name] for relation in plan.relations]


def _load(
    con: duckdb.DuckDBPyConnection,
    server: Connection[Any],
    relation: PublishedRelation,
    splits: Sequence[PublishedRelation],
    schemas: Mapping[str, str],
    progress: Progress,
) -> dict[str, Proof]:
    """Fill a table, or make one of the rows of a view; return its proof and those of its views of splits, by name."""
    target = relation.there(schemas)
    if relation.kind is RelationKind.ROWS:
        types = [(quoted(column.name), column.type.name) for column in relation.columns]
        # By this collation text sorts by its bytes, as in DuckDB.
        columns = (f"{name} {kind}" + ' collate "C"' * kind.startswith("text") for name, kind in types)
        run(server, f"create table {target} ({', '.join(columns)})")
    of_splits = [split_view.of_split for split_view in splits if split_view.of_split]
    by_split = "case when is_default then split end" if any(view.only_default for view in of_splits) else "split"
    rows, sums = _copy_rows(con, server, relation, target, progress, by_split if splits else None)
    if relation.kind is RelationKind.ROWS:
        _index(server, relation, target)
        _comment(server, relation, target)
    run(server, f"analyze {target}")
    proofs = {
        split_view.name: proof(rows[of_split.split], sums[of_split.split])
        for split_view, of_split in zip(splits, of_splits, strict=True)
    }
    return {relation.name: proof(rows.total(), sums.total()), **proofs}


def _make_split_view(server: Connection[Any], relation: PublishedRelation, schemas: Mapping[str, str]) -> None:
    if of_split := relation.of_split:
        columns = ", ".join(quoted(column.name) for column in relation.columns)
        source = there(of_split.task, schemas)
        run(server, f"create view {relation.there(schemas)} as select {columns} from {source} where {of_split.where}")
    _comment(server, relation, relation.there(schemas))


def proof_here(con: duckdb.DuckDBPyConnection, relation: PublishedRelation) -> Proof:
    """Return the proof of a relation, as it is in DuckDB."""
    ((rows, total),) = con.execute(select_proof_here(relation.columns, relation.selection.source)).fetchall()
    return proof(rows, total)


def _copy_rows(
    con: duckdb.DuckDBPyConnection,
    server: Connection[Any],
    relation: PublishedRelation,
    target: str,
    progress: Progress,
    by_split: str | None,
) -> tuple[Counter[str | None], Counter[str | None]]:
    """Copy rows to an empty table that this transaction has made; return their numbers and sums of hashes, by split.

    ``by_split``: the SQL of the split that a row counts for, null for none.
    """
    columns = ", ".join(quoted(column.name) for column in relation.columns)
    rows, sums = Counter[str | None](), Counter[str | None]()
    # FREEZE: every transaction that sees the table sees its rows, whenever it began, and no vacuum has to follow.
    with server.cursor() as cursor, cursor.copy(f"copy {target} ({columns}) from stdin (freeze)".encode()) as copy:
        for batch in _batches(con, relation, by_split):
            copy.write(_text_bytes(batch.column("line")))
            for part in _by_split(batch) if by_split else [SplitSum(None, batch.num_rows, _sum(batch))]:
                rows[part.split] += part.rows
                sums[part.split] += part.hashes
            progress.advance(batch.num_rows)
    return rows, sums


def _batches(con: duckdb.DuckDBPyConnection, relation: PublishedRelation, by_split: str | None) -> Iterable[Any]:
    """Read the rows as lines: those of a view in the published order, those of a table as they are stored."""
    selection = relation.selection
    source = selection.source if relation.kind is RelationKind.TABLE else f"({selection.sql()})"
    selected = f"{line(relation.columns)} as line, {hash_here(relation.columns)} as hash"
    if by_split:
        selected += f", {by_split} as split"
    batches: Iterable[Any] = con.sql(f"select {selected} from {source}").to_arrow_reader(_BATCH_ROWS)
    return batches


def write_lines(server: Connection[Any], rows: duckdb.DuckDBPyRelation, target: str) -> None:
    """Copy a query's lines to a table; ``target``: its name, and its columns in brackets."""
    with server.cursor() as cursor, cursor.copy(f"copy {target} from stdin".encode()) as copy:
        for batch in rows.to_arrow_reader(_BATCH_ROWS):
            copy.write(_text_bytes(batch.column(0)))


def _text_bytes(texts: Any) -> memoryview:
    """Return the bytes of all texts of an Arrow array, one after the other, without a copy."""
    from pyarrow.lib import large_string

    _, offsets, data = texts.buffers()
    ends = memoryview(offsets).cast("B").cast("q" if texts.type == large_string() else "i")
    return memoryview(data)[ends[texts.offset] : ends[texts.offset + len(texts)]]


def _sum(batch: Any) -> int:
    """Add hashes up; the sum may have passed 2^64, and begun at 0 again."""
    from pyarrow import compute

    total: int = compute.sum(batch.column("hash")).as_py()  # type: ignore[attr-defined]
    return total


class SplitSum(NamedTuple):
    """The number of some rows of a split, and the sum of their hashes."""

    split: str | None
    rows: int
    hashes: int


def _by_split(batch: Any) -> Iterator[SplitSum]:
    from pyarrow.lib import Table

    groups = Table.from_batches([batch]).group_by("split").aggregate([("hash", "count"), ("hash", "sum")])
    for group in groups.to_pylist():
        yield SplitSum(group["split"], group["hash_count"], group["hash_sum"])


def _index(server: Connection[Any], relation: PublishedRelation, target: str) -> None:
    """Add indexes to the rows of a view: on what names a row, and on what they are looked up by."""
    known = {column.name for column in relation.columns}
    grain = relation.selection.order
    looked_up = [(name,) for name in _LOOKED_UP if name in known and grain[:1] != (name,)]
    for columns in (grain, *looked_up) if grain else looked_up:
        names = ", ".join(map(quoted, columns))
        ((longest,),) = run(server, f"select max(octet_length(concat({names}))) from {target}").fetchall()
        # A row of an index fits in a third of a page. A text may be longer: a "word" of somebody who types no blanks.
        if (longest or 0) <= _INDEXED:
            run(server, f"create index on {target} ({names})")


def _comment(server: Connection[Any], relation: PublishedRelation, target: str) -> None:
    kind = "view" if relation.kind is RelationKind.SPLIT else "table"
    comments = {f"{kind} {target}": relation.comment}
    comments |= {f"column {target}.{quoted(column.name)}": column.meaning for column in relation.columns}
    written = [f"comment on {what} is {literal(comment)}" for what, comment in comments.items() if comment]
    run(server, ";\n".join(written))


_SHOWN = 10
"""Columns that are told, and rows of each."""

_ESCAPED = r"\u0000"
"""NUL as JSON spells it. PostgreSQL stores that, but a view may have made a NUL of it."""


class NulPlace(NamedTuple):
    """A column that has texts with NUL."""

    column: str
    texts: int
    rows: list[str]
    """The keys of the first of them."""


def check_nul(con: duckdb.DuckDBPyConnection, plan: PublicationPlan) -> None:
    """Raise UsageError that names the columns and rows where a NUL is."""
    columns = list(_find_nul(con, plan))
    if not columns:
        return
    more = f"; {len(columns) - _SHOWN} more columns" if len(columns) > _SHOWN else ""
    found = "; ".join(
        f"{column.column} in {column.texts:,} rows: {', '.join(column.rows)}" for column in columns[:_SHOWN]
    )
    raise UsageError(
        "texts have the character NUL, which PostgreSQL can't store; nothing was copied",
        found=found + more,
        next_step="choose what stands in its place in the copy: --replace-nul TEXT",
    )


def _find_nul(con: duckdb.DuckDBPyConnection, plan: PublicationPlan) -> Iterator[NulPlace]:
    """Yield the columns with NUL; views are looked at only where a table has one, since theirs come from there."""
    tables = [relation for relation in plan.relations if relation.kind is RelationKind.TABLE]
    in_tables = [column for table in tables for column in _in_relation(con, table)]
    yield from in_tables
    if in_tables or any(_is_escaped(con, table) for table in tables):
        for view in [relation for relation in plan.relations if relation.kind is RelationKind.ROWS]:
            yield from _in_relation(con, view)


def _in_relation(con: duckdb.DuckDBPyConnection, relation: PublishedRelation) -> Iterator[NulPlace]:
    names = [column.name for column in relation.columns if column.type.may_have_nul]
    if not names:
        return
    conditions = [f"contains({quoted(name)}::varchar, chr(0))" for name in names]
    counts = ", ".join(f"count(*) filter ({condition})" for condition in conditions)
    source = relation.selection.source
    ((*numbers,),) = con.execute(f"select {counts} from {source}").fetchall()
    for name, condition, number in zip(names, conditions, numbers, strict=True):
        if number:
            key = ", ".join(quoted(column) for column in relation.selection.order) or quoted(name)
            rows = con.execute(f"select {key} from {source} where {condition} order by all limit {_SHOWN}").fetchall()
            yield NulPlace(f"{relation.name}.{name}", number, [" ".join(map(str, row)) for row in rows])


def _is_escaped(con: duckdb.DuckDBPyConnection, table: PublishedRelation) -> bool:
    """Whether a JSON column spells a NUL."""
    names = [column.name for column in table.columns if column.type.name == "json"]
    condition = " or ".join(f"contains({quoted(name)}::varchar, '{_ESCAPED}')" for name in names)
    if not names:
        return False
    rows = con.execute(f"select 1 from {table.selection.source} where {condition} limit 1")
    return bool(rows.fetchall())
