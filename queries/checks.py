"""Checks: SELECTs of what should not exist, some generated from the metadata, some written by hand."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import duckdb
from sqlalchemy import ForeignKeyConstraint, Table

from talkhouse.queries.catalogue import CHECKS, Catalogue
from talkhouse.queries.heads import CheckQuery
from talkhouse.queries.sql_errors import sql_of
from talkhouse.schema.sql import dicts, literal
from talkhouse.schema.tables import metadata, qualified

ROWS_KEPT = 1_000
"""Offending rows of one check that are kept; more are counted."""


@dataclass(frozen=True)
class SqlCheck:
    """Something that should be true: its SELECT returns the rows that offend."""

    name: str
    severity: str
    condition: str
    sql: str
    rule: str
    """The rule that findings name: the corpus's own, or the check's name."""
    remedy: str
    corpus_id: str | None = None
    """The corpus that it is about; None for all of them."""
    about: str | None = None
    """The table that may offend, if it is one: where that is empty, there is nothing to check."""
    query: CheckQuery | None = None
    """The file that it is written in, or None if it is generated."""
    probe: str | None = None
    """A SELECT that is cheaper: where it returns no row, no row offends."""
    is_of_files: bool = False
    """Whether rows of different files can't offend together."""


@dataclass(frozen=True)
class CheckOutcome:
    """What a check found: how many rows offend, the first of them, and the time that it took."""

    check: SqlCheck
    offending: int
    rows: list[dict[str, Any]]
    milliseconds: float

    @property
    def is_failure(self) -> bool:
        """Whether this stops a build."""
        return self.offending > 0 and self.check.severity == "error"


def checks(catalogue: Catalogue, corpora: Iterable[str], versions: Mapping[str, int] | None = None) -> list[SqlCheck]:
    """List the checks of a warehouse that holds these corpora; ``versions``: of their readers here, to compare."""
    present = set(corpora)
    written = [query for query in catalogue.checks if query.schema in {CHECKS, *present}]
    generated = [check for table in metadata.tables.values() for check in _of_table(table)]
    readers = [] if versions is None else [_readers(versions)]
    return [*generated, *(_written(query) for query in written), *readers]


def run(con: duckdb.DuckDBPyConnection, wanted: Iterable[SqlCheck]) -> Iterator[CheckOutcome]:
    """Run checks one by one; most find nothing, which a probe without columns and order says in half the time."""
    listed = list(wanted)
    without_rows = _without_rows(con, {check.about for check in listed if check.about})
    for check in listed:
        begun = time.perf_counter()
        rows = []
        if check.about not in without_rows:
            with nullcontext() if check.query is None else sql_of(check.query):
                if con.execute(f"select 1 from ({check.probe or check.sql}\n) limit 1").fetchall():
                    rows = dicts(con.execute(f"select * from ({check.sql}\n) order by all limit {ROWS_KEPT + 1}"))
        offending = len(rows)
        if offending > ROWS_KEPT:
            offending = con.execute(f"select count(*) from ({check.sql}\n)").fetchall()[0][0]
        milliseconds = (time.perf_counter() - begun) * 1000
        yield CheckOutcome(check, offending, rows[:ROWS_KEPT], milliseconds)


def _without_rows(con: duckdb.DuckDBPyConnection, tables: set[str]) -> set[str]:
    """Return the empty tables, by one statement: each takes longer than to look into another table."""
    probe = " union all ".join(f"(select {literal(table)} from {table} limit 1)" for table in sorted(tables))
    return tables - {name for (name,) in con.execute(probe).fetchall()} if tables else set()


def _written(query: CheckQuery) -> SqlCheck:
    name = query.name if query.schema == CHECKS else query.full_name
    return SqlCheck(
        name=name,
        severity=query.severity,
        condition=query.comment,
        sql=query.sql,
        rule=query.rule or name,
        remedy=query.remedy or "See the rule.",
        corpus_id=None if query.schema == CHECKS else query.schema,
        query=query,
        is_of_files=query.scope == "file",
    )


def _of_table(table: Table) -> Iterator[SqlCheck]:
    """Generate the checks of a table's grain and of its relations."""
    yield _grain(table)
    for constraint in sorted(table.foreign_key_constraints, key=lambda item: list(item.column_keys)):
        yield _relation(table, constraint)


def _grain(table: Table) -> SqlCheck:
    """No two rows have the same grain; ``group by`` takes nulls for equal.

    Hashes are grouped first: they take a third of the memory of the keys of millions of rows, and rarely two are equal.
    """
    grain, rows = ", ".join(table.info["grain"]), qualified(table)
    again = f"select hash({grain}) as grain_hash from {rows} group by all having count(*) > 1"
    return _generated(
        table,
        f"{table.name}_have_one_row_per_grain",
        f"{rows} has one row per {grain}.",
        f"select {grain}, count(*) as row_count from {rows} where hash({grain}) in ({again}) "
        "group by all having count(*) > 1",
        probe=again,
    )


def _relation(table: Table, constraint: ForeignKeyConstraint) -> SqlCheck:
    """Every reference points at a row; one with a null in it points nowhere."""
    pairs = [(element.parent.name, element.column.name) for element in constraint.elements]
    target = constraint.elements[0].column.table
    not_null = " and ".join(f"here.{column} is not null" for column, _ in pairs)
    match = " and ".join(f"there.{to} = here.{column}" for column, to in pairs)
    columns = ", ".join(column for column, _ in pairs)
    shown = ", ".join(f"here.{column}" for column in dict.fromkeys([*(own for own, _ in pairs), *table.info["grain"]]))
    return _generated(
        table,
        f"{table.name}_{'_'.join(column for column, _ in pairs)}_in_{target.name}",
        f"Every {columns} of {qualified(table)} is in {qualified(target)}.",
        f"select {shown} from {qualified(table)} as here anti join {qualified(target)} as there on {match} "
        f"where {not_null}",
    )


def _readers(versions: Mapping[str, int]) -> SqlCheck:
    """Return the check of corpora read by an older version of their reader, which finds less than the installed one."""
    here = ", ".join(f"{literal(name)}: {version}" for name, version in {"": 0, **versions}.items())
    return SqlCheck(
        "corpora_are_read_by_current_readers",
        "warn",
        "Every corpus was read by the installed version of its reader, or by a newer one.",
        "select corpus_id, 'read by version ' || reader_version || ' of its reader; installed is version '"
        f" || map {{{here}}}[corpus_id] as detail from main.corpora where reader_version < map {{{here}}}[corpus_id]",
        "TH-10",
        "Build it again from its files.",
    )


def _generated(table: Table, name: str, condition: str, sql: str, probe: str | None = None) -> SqlCheck:
    """Structure that is broken is a mistake of a reader, never of the data."""
    remedy = (
        "Fix the reader that yields these rows, that of the corpus which their keys begin with, or report this message "
        "if the corpus came with Talkhouse."
    )
    of_files = table.info["owner"] in ("dialogue_id", "record_id") or table.name in ("dialogues", "records")
    return SqlCheck(
        name, "error", condition, sql, name, remedy, about=qualified(table), probe=probe, is_of_files=of_files
    )
