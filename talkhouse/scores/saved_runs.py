"""Saved runs: ``scores.duckdb`` beside the warehouse, which builds never touch."""

import os
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.schema.contents import strange
from talkhouse.schema.errors import UsageError, check_unicode
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql import dicts, insert, literal, quoted
from talkhouse.scores.answers import answers_query, scored_rows
from talkhouse.scores.score import Scored
from talkhouse.scores.task import ScoredTask
from talkhouse.scores.workspace import ScoringTable, ScoringWorkspace
from talkhouse.settings import version
from talkhouse.warehouse.beside import (
    changed_beside,
    check_format,
    check_writable,
    columns_of_schema,
    columns_of_tables,
    of_here,
    open_beside,
)
from talkhouse.warehouse.content_ids import known_ids
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.rows_hash import joined, task_hashes
from talkhouse.warehouse.values_beside import COUNT, FINITE, FULL, ONCE, SOME, TIME, Values, or_null

FILE = "scores.duckdb"

FORMAT = 3
"""Number of the format; files of before there were numbers have none."""

HASHES = ("release", "content_id", "content_hash", "rows_hash")
"""What a run says of the state of its examples."""

_ADDED = {"metrics_sha256", "low", "high", "where_expression", "where_fingerprint", *HASHES}
"""Columns that older files do not have."""


def path_for(warehouse: Path) -> Path:
    """Return where the runs of a warehouse are saved: beside it, those of a release beside the warehouse of here."""
    return of_here(warehouse).with_name(FILE)


def open_saved(path: Path, settings: Settings = NO_SETTINGS) -> duckdb.DuckDBPyConnection:
    """Open a file of saved runs read-only, in a database of its own.

    Raises UsageError for what is none, WarehouseLocked where another process has it open for writing, and
    SchemaMismatch for one of a newer Talkhouse.
    """
    return open_beside(path, _check_content, _VALUES, _not_ours, settings)


def _check_content(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise UsageError where the tables are not those that Talkhouse makes."""
    tables = columns_of_tables(con)
    if "format" in tables:
        check_format(con, path, FORMAT, _not_ours)
    for table in ("runs", "metrics"):
        there = tables.get(table, {})
        if there != {
            name: kind for name, kind in columns_of_schema(_SCHEMA)[table].items() if name not in _ADDED - there.keys()
        }:
            raise _not_ours(path, f"a database without the table {table} that Talkhouse makes")
    if "comparison" in tables:
        raise _not_ours(path, "a table comparison, which is a view in ours")
    if what := strange(con):
        raise _not_ours(path, what)


def _not_ours(path: Path, found: str) -> UsageError:
    return UsageError(
        "this is not a file of saved runs, and was left as it is",
        where=path,
        expected="no file, or one that talkhouse score --save made",
        found=found,
        next_step="move it away: saved runs have this name",
    )


_LONGEST = 200
"""Characters of a run's name."""

_SCHEMA = f"""
create table if not exists format as select {FORMAT}::integer as version;
comment on table format is 'Which Talkhouse can read this file.';
comment on column format.version is 'Number of the format.';
create table if not exists runs (
    run varchar primary key,
    task varchar not null,
    splits varchar[] not null,
    releases varchar[] not null,
    subsets varchar[] not null,
    view_fingerprint varchar not null,
    predictions_sha256 varchar[] not null,
    examples bigint not null,
    missing bigint not null,
    tied bigint not null,
    talkhouse_version varchar not null,
    saved_at timestamp not null
);
create table if not exists metrics (
    run varchar not null,
    position integer not null,
    threshold double,
    slice varchar,
    metric varchar not null,
    value double,
    official boolean not null,
    best double,
    worst double,
    numerator bigint,
    denominator bigint,
    primary key (run, position)
);
update format set version = {FORMAT};
alter table runs add column if not exists metrics_sha256 varchar;
alter table runs add column if not exists where_expression varchar;
alter table runs add column if not exists where_fingerprint varchar;
alter table runs add column if not exists release varchar;
alter table runs add column if not exists content_id varchar;
alter table runs add column if not exists content_hash varchar;
alter table runs add column if not exists rows_hash varchar;
alter table metrics add column if not exists low double;
alter table metrics add column if not exists high double;
create or replace view comparison as
select
    runs.task,
    runs.view_fingerprint,
    runs.splits,
    runs.releases,
    runs.subsets,
    runs.where_expression,
    runs.where_fingerprint,
    runs.release,
    runs.content_id,
    runs.content_hash,
    runs.rows_hash,
    metrics.threshold,
    metrics.slice,
    metrics.metric,
    metrics.official,
    metrics.value,
    metrics.low,
    metrics.high,
    runs.run,
    runs.saved_at,
from metrics
inner join runs on runs.run = metrics.run;
comment on table runs is 'One set of predictions that was scored and saved.';
comment on table metrics is 'One metric of a run: of all that was scored, or of a slice, at a threshold.';
comment on view comparison is 'Each metric with its run; comparable where fingerprints, contents and subsets agree.';
comment on column runs.run is 'Name that the run was saved under.';
comment on column runs.task is 'View of the task: corpus.task.';
comment on column runs.splits is 'Splits that were scored, by the publisher''s names.';
comment on column runs.releases is 'The publisher''s releases that were scored; empty where they have no names.';
comment on column runs.subsets is 'Published folders that the run is limited to; empty: all.';
comment on column runs.view_fingerprint is 'Fingerprint of the splits: only runs with the same are comparable.';
comment on column runs.predictions_sha256 is 'SHA-256 of each file of predictions; empty for a baseline.';
comment on column runs.examples is 'Examples that were scored.';
comment on column runs.missing is 'Examples without a prediction, counted as wrong.';
comment on column runs.tied is 'Lists with a tie at the right candidate.';
comment on column runs.talkhouse_version is 'The Talkhouse that scored it.';
comment on column runs.saved_at is 'When it was saved, UTC.';
comment on column runs.metrics_sha256 is 'SHA-256 of the SQL of its metrics; null: its examples were not kept.';
comment on column runs.where_expression is 'SQL expression that is true of the examples of the run; null: of all.';
comment on column runs.where_fingerprint is 'With such an expression, the fingerprint of the examples that it leaves.';
comment on column runs.release is 'Talkhouse release whose examples were scored; null: of none, or not known.';
comment on column runs.content_id is 'Id of the contents of that warehouse; null: not known.';
comment on column runs.content_hash is 'Hash of what a model sees of the splits; null: saved before there was one.';
comment on column runs.rows_hash is 'Hash of all columns of the splits, also of keys and places.';
comment on column metrics.run is 'The run, see runs.';
comment on column metrics.position is '0-based position in the order of the report.';
comment on column metrics.threshold is 'Threshold of the gold label, where the task has one.';
comment on column metrics.slice is 'column=value; null: all that was scored.';
comment on column metrics.metric is 'Name as the publisher''s program prints it.';
comment on column metrics.value is 'The value; under ties what a random order gives on average.';
comment on column metrics.official is 'Whether the publisher''s own program computes it.';
comment on column metrics.best is 'The value if ties were broken in favour of the predictions; null without ties.';
comment on column metrics.worst is 'The value if ties were broken against the predictions; null without ties.';
comment on column metrics.numerator is 'Numerator of a share.';
comment on column metrics.denominator is 'Denominator of a share; for a mean, how many examples have a value.';
comment on column metrics.low is 'Lower end of the 95 % interval; null where none was asked for.';
comment on column metrics.high is 'Upper end of the 95 % interval; null where none was asked for.';
"""

_VALUES: Values = {
    "runs": {
        ONCE: ["run"],
        SOME: ["task", "view_fingerprint", "talkhouse_version"],
        "{0} in (select run from main.metrics where slice is null)": ["run"],
        FULL: ["splits", "releases", "subsets", "predictions_sha256"],
        COUNT: ["examples", "missing", "tied"],
        TIME: ["saved_at"],
    },
    "metrics": {
        SOME: ["run", "position", "metric", "official"],
        or_null(FINITE): ["threshold"],
        or_null(COUNT): ["numerator", "denominator"],
        "(low is null) = (high is null)": ["low"],
    },
}


def check_run(run: str, warehouse: Path) -> None:
    """Raise UsageError for a name that no run may have, or that one has, and where the file can't be changed.

    To be asked before anything is scored.
    """
    check_unicode(run, "the name of the run")
    if not run.strip() or run != run.strip() or not run.isprintable() or len(run) > _LONGEST or run[0] == "-":
        raise UsageError(
            "no run can have this name",
            expected=f"up to {_LONGEST} printable characters, no blank at an end and no dash in front",
            found=f"'{run[:_LONGEST]}'",
            next_step="name it, such as: --save mine",
        )
    path = path_for(warehouse)
    if os.path.lexists(path):
        with open_saved(path) as con:
            check_writable(path)
            _check_free(con, run, path)


def _check_free(con: duckdb.DuckDBPyConnection, run: str, path: Path) -> None:
    """Raise UsageError where there is a run of that name."""
    names = {name.lower() for (name,) in con.execute("select run from main.runs").fetchall()}
    names |= {name.lower() for schema in _MEANINGS for name in _table_names(con, schema)}
    # Its rows have tables of that name, and SQL takes small and capital letters for the same there.
    if run.lower() in names:
        raise UsageError(
            f"there is a run '{run}' already", where=path, next_step="save it under another name; see: talkhouse scores"
        )


def save(workspace: ScoringWorkspace, scored: Scored, run: str, warehouse: Path) -> Path:
    """Save a run that was scored, whole or not at all.

    Waits for another process that saves one. Raises UsageError where there is one of that name, or another has it, and
    what ``open_saved`` raises.
    """
    check_run(run, warehouse)
    with changed_beside(path_for(warehouse), warehouse, open_saved, _SCHEMA) as into:
        _check_free(into, run, path_for(warehouse))
        _insert(into, scored, run, _state(workspace, scored, warehouse))
        _save_rows(workspace, EXAMPLES, scored_rows(scored), run, into)
        _save_rows(workspace, ANSWERS, answers_query(workspace, scored), run, into)
    return path_for(warehouse)


def _state(workspace: ScoringWorkspace, scored: Scored, path: Path) -> dict[str, str | None]:
    """Return of which release the examples are, and the hashes of their splits, whether or not all were scored."""
    opened = Warehouse(workspace.con)
    wanted = {(split.release, split.split) for split in scored.chosen.splits}
    tasks = task_hashes(workspace.con, opened.database, tasks=[scored.task.name])
    chosen = [task for task in tasks if (task.release, task.split) in wanted]
    ids = known_ids(workspace.con, opened.database, path)
    hashes = joined(task.content_hash for task in chosen), joined(task.hash for task in chosen)
    return dict(zip(HASHES, (*ids, *hashes), strict=True))


def _insert(con: duckdb.DuckDBPyConnection, scored: Scored, run: str, state: dict[str, str | None]) -> None:
    chosen = scored.chosen
    values = {
        "run": run,
        "task": scored.task.name,
        "splits": chosen.split_names,
        "releases": chosen.releases,
        "subsets": list(chosen.subsets),
        "view_fingerprint": chosen.fingerprint,
        "predictions_sha256": [file["sha256"] for file in scored.files],
        "examples": scored.rows,
        "missing": scored.missing,
        "tied": scored.tied,
        "talkhouse_version": version(),
        "saved_at": datetime.now(UTC).replace(tzinfo=None),
        "metrics_sha256": metrics_hash(scored.task),
        "where_expression": chosen.where,
        "where_fingerprint": chosen.where_fingerprint,
        **state,
    }
    # By name: an older file has its columns in another order.
    marks = ", ".join("?" for _ in values)
    con.execute(f"insert into runs ({', '.join(values)}) values ({marks})", [*values.values()])
    numbers = [
        (run, place, m.threshold, m.slice, m.name, m.value, m.official, m.best, m.worst, m.count, m.of, m.low, m.high)
        for place, m in enumerate(scored.metrics)
    ]
    insert(con, "metrics", numbers)


def saved(warehouse: Path, task: str | None = None, settings: Settings = NO_SETTINGS) -> list[dict[str, Any]]:
    """Return the saved runs, those of one task or all, each with its metrics; comparable ones are side by side."""
    path = path_for(warehouse)
    if not os.path.lexists(path):
        return []
    with open_saved(path, settings) as con:
        where = "" if task is None else f"where task = {literal(task)}"
        runs = dicts(con.execute(f"from main.runs {where} order by saved_at, run"))
        for run in runs:
            # Older files have none of these.
            run.update({name: run.get(name) for name in ("where_expression", "where_fingerprint", *HASHES)})
            columns = "* exclude (run, position) rename (metric as name)"
            rows = con.execute(f"select {columns} from main.metrics where run = ? order by position", [run["run"]])
            # The SQL of a plugin may give what is no number.
            run["metrics"] = [
                {
                    name: None if isinstance(value, float) and not isfinite(value) else value
                    for name, value in row.items()
                }
                for row in dicts(rows)
            ]
    return sorted(runs, key=comparable)


def comparable(run: dict[str, Any]) -> tuple[str, str, list[str], str, str]:
    """Return what runs must have in common to be compared; of older ones the content is not known."""
    same = run["task"], run["view_fingerprint"], run["subsets"], run["where_fingerprint"] or ""
    return *same, run["content_hash"] or ""


EXAMPLES, ANSWERS = "examples", "answers"
"""Schemas of ``scores.duckdb`` with a table for each run, named like it; older runs have none of answers."""

_MEANINGS = {
    EXAMPLES: "What each example of the run scored.",
    ANSWERS: "How sure the run is of each answer, its text, and the candidate that it puts first.",
}


def _save_rows(
    workspace: ScoringWorkspace, schema: str, rows_of: str, run: str, into: duckdb.DuckDBPyConnection
) -> None:
    """Write the rows of a query into another database as the table of a run."""
    order = "threshold desc, release, split, example_index"
    with workspace.con.sql(f"from ({rows_of}) order by {order}").to_arrow_reader() as rows:
        into.register("saved_rows", rows)
        into.execute(f"create schema if not exists {schema}")
        into.execute(f"create table {schema}.{quoted(run)} as from saved_rows")
        into.execute(f"comment on table {schema}.{quoted(run)} is {literal(_MEANINGS[schema])}")
        into.unregister("saved_rows")


def _table_names(con: duckdb.DuckDBPyConnection, schema: str) -> list[str]:
    """Return the names of the tables of a schema; what is not a table is none."""
    rows = con.execute(
        "select table_name from system.main.duckdb_tables() "
        f"where database_name = system.main.current_database() and schema_name = '{schema}'"
    )
    return [name for (name,) in rows.fetchall()]


def load_rows(
    con: duckdb.DuckDBPyConnection, schema: str, run: str, into: ScoringWorkspace, most: int
) -> ScoringTable | None:
    """Create a table of what each example of a run scored, or of what it answers.

    None where there is no table of them, or one of more rows than ``most``: the file may have been changed.
    """
    if run not in _table_names(con, schema):
        return None
    source = f"{schema}.{quoted(run)}"
    ((count,),) = con.execute(f"select count(*) from {source}").fetchall()
    if count > most:
        return None
    with con.sql(f"from {source}").to_arrow_reader() as rows:
        return into.create_arrow("saved", rows)


def metrics_hash(task: ScoredTask) -> str:
    """Return the SHA-256 of the SQL of a task's metrics: rows that other SQL made may have other columns."""
    macros = [macro.sql for macro in task.macros]
    return sha256(
        "\0".join([task.query.sql, *(summary.sql for summary in task.summaries), *macros]).encode()
    ).hexdigest()
