"""What each example of a run scores, kept in ``scores.duckdb`` so that runs can be compared by the example."""

from hashlib import sha256

import duckdb

from talkhouse.schema.sql import quoted
from talkhouse.scores.score import Scored
from talkhouse.scores.tasks.task import Task
from talkhouse.scores.tasks.workspace import Table, Workspace

SCHEMA = "examples"
"""Schema of ``scores.duckdb`` with a table for each run, named like it."""


def save_examples(workspace: Workspace, scored: Scored, run: str, into: duckdb.DuckDBPyConnection) -> None:
    """Write what each example scored, at each threshold, into another database as the table of a run."""
    limits = [("null" if turn.threshold is None else repr(turn.threshold), turn.scored) for turn in scored.turns]
    rows_of = " union all ".join(f"select {limit}::double as threshold, * from {table}" for limit, table in limits)
    order = "threshold desc, release, split, example_index"
    with workspace.con.sql(f"from ({rows_of}) order by {order}").to_arrow_reader() as rows:
        into.register("scored_rows", rows)
        into.execute(f"create schema if not exists {SCHEMA}")
        into.execute(f"create table {SCHEMA}.{quoted(run)} as from scored_rows")
        into.execute(f"comment on table {SCHEMA}.{quoted(run)} is 'What each example of the run scored.'")
        into.unregister("scored_rows")


def table_names(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of the tables of examples; what is not a table is none."""
    rows = con.execute(
        "select table_name from system.main.duckdb_tables() "
        f"where database_name = system.main.current_database() and schema_name = '{SCHEMA}'"
    )
    return [name for (name,) in rows.fetchall()]


def load_examples(con: duckdb.DuckDBPyConnection, run: str, into: Workspace, most: int) -> Table | None:
    """Create a table of what each example of a run scored.

    None where there is no table of them, or one of more rows than ``most``: the file may have been changed.
    """
    if run not in table_names(con):
        return None
    source = f"{SCHEMA}.{quoted(run)}"
    ((count,),) = con.execute(f"select count(*) from {source}").fetchall()
    if count > most:
        return None
    with con.sql(f"from {source}").to_arrow_reader() as rows:
        return into.create_arrow("saved", rows)


def metrics_hash(task: Task) -> str:
    """Return the SHA-256 of the SQL of a task's metrics: rows that other SQL made may have other columns."""
    macros = [macro.sql for macro in task.macros]
    return sha256(
        "\0".join([task.query.sql, *(summary.sql for summary in task.summaries), *macros]).encode()
    ).hexdigest()
