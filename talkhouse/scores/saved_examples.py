"""What each example of a run scores, kept in ``scores.duckdb`` so that runs can be compared by the example."""

from hashlib import sha256

import duckdb

from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.sql import quoted
from talkhouse.scores.tasks import Task

SCHEMA = "examples"
"""Schema of ``scores.duckdb`` with a table for each run, named like it."""


def keep_examples(con: duckdb.DuckDBPyConnection, threshold: float | None, *, is_first: bool) -> None:
    """Put the rows of ``scored`` into ``kept``, with the threshold that they were scored at."""
    limit = "null" if threshold is None else repr(threshold)
    rows = f"select {limit}::double as threshold, * from scored order by release, split, example_index"
    con.execute(f"create or replace temp table kept as {rows}" if is_first else f"insert into kept {rows}")


def save_examples(con: duckdb.DuckDBPyConnection, run: str, into: duckdb.DuckDBPyConnection) -> None:
    """Write the rows of ``kept`` into another database as the table of a run."""
    with con.sql("from kept").to_arrow_reader() as rows:
        into.register("kept_rows", rows)
        into.execute(f"create schema if not exists {SCHEMA}")
        into.execute(f"create table {SCHEMA}.{quoted(run)} as from kept_rows")
        into.execute(f"comment on table {SCHEMA}.{quoted(run)} is 'What each example of the run scored.'")
        into.unregister("kept_rows")


def table_names(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of the tables of examples; what is not a table is none."""
    rows = con.execute(
        "select table_name from system.main.duckdb_tables() "
        f"where database_name = system.main.current_database() and schema_name = '{SCHEMA}'"
    )
    return [name for (name,) in rows.fetchall()]


def load_examples(
    con: duckdb.DuckDBPyConnection, run: str, into: duckdb.DuckDBPyConnection, table: str, most: int
) -> bool:
    """Create a temporary table of another database with the rows of a run.

    False where there is no table of them, or one of more rows than ``most``: the file may have been changed.
    """
    if run not in table_names(con):
        return False
    source = f"{SCHEMA}.{quoted(run)}"
    ((count,),) = con.execute(f"select count(*) from {source}").fetchall()
    if count > most:
        return False
    with con.sql(f"from {source}").to_arrow_reader() as rows:
        into.register("saved_rows", rows)
        into.execute(f"create or replace temp table {table} as from saved_rows")
        into.unregister("saved_rows")
    return True


def metrics_hash(task: Task) -> str:
    """Return the SHA-256 of the SQL of a task's metrics: rows that other SQL made may have other columns."""
    macros = [one.sql for one in catalogue().macros if one.schema in ("metrics", task.query.schema)]
    return sha256("\0".join([task.query.sql, *(one.sql for one in task.summaries), *macros]).encode()).hexdigest()
