"""Saved runs: ``scores.duckdb`` next to the warehouse, which builds never touch."""

import os
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from math import isfinite
from pathlib import Path
from typing import Any

import duckdb
from pyarrow import lib as pa

from talkhouse.schema.contents import strange
from talkhouse.schema.errors import UsageError, check_unicode, described
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql import column_types, dicts, insert, literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.scores.score import Scored, answers_query, scored_rows
from talkhouse.scores.task import ScoredTask
from talkhouse.scores.workspace import ScoringTable, ScoringWorkspace
from talkhouse.settings import version
from talkhouse.warehouse import sidecar
from talkhouse.warehouse.content_ids import known_ids
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.rows_hash import joined, task_hashes

FILE = "scores.duckdb"

FORMAT = 4
"""Number of the format; files of before there were numbers have none."""

HASHES = ("release", "content_id", "content_hash", "rows_hash")
"""What a run says of the state of its examples."""

_ADDED = {"metrics_sha256", "low", "high", "where_expression", "where_fingerprint", *HASHES}
"""Columns that older files do not have."""


def path_for(warehouse: Path) -> Path:
    """Return the path of a warehouse's saved runs: next to it, or for a release next to the local warehouse."""
    return sidecar.of_here(warehouse).with_name(FILE)


_not_ours = sidecar.not_ours("a file of saved runs", "move it away: saved runs have this name")


def open_saved(path: Path, settings: Settings = NO_SETTINGS) -> duckdb.DuckDBPyConnection:
    """Open a file of saved runs read-only, in a database of its own.

    Raises UsageError for what is none, WarehouseLocked where another process has it open for writing, and
    SchemaMismatch for one of a newer Talkhouse.
    """
    return sidecar.open_beside(path, _check_content, _VALUES, _not_ours, settings)


def _check_content(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise UsageError where the tables are not those that Talkhouse makes."""
    tables = sidecar.columns_of_tables(con)
    if "format" in tables:
        sidecar.check_format(con, path, FORMAT, _not_ours)
    for table in ("runs", "metrics"):
        there = tables.get(table, {})
        if there != {
            name: kind
            for name, kind in sidecar.columns_of_schema(_SCHEMA)[table].items()
            if name not in _ADDED - there.keys()
        }:
            raise _not_ours(path, f"a database without the table {table} that Talkhouse makes")
    if "comparison" in tables:
        raise _not_ours(path, "a table comparison, which is a view in ours")
    if what := strange(con):
        raise _not_ours(path, what)


_LONGEST = 200
"""Characters of a run's name."""

_SCHEMA = sql_of(__file__, "saved_runs", format=FORMAT)

_VALUES: sidecar.Values = {
    "runs": {
        sidecar.ONCE: ["run"],
        sidecar.SOME: ["task", "view_fingerprint", "talkhouse_version"],
        "{0} in (select run from main.metrics where slice is null)": ["run"],
        sidecar.FULL: ["splits", "releases", "subsets", "predictions_sha256"],
        sidecar.COUNT: ["examples", "missing", "tied"],
        sidecar.TIME: ["saved_at"],
    },
    "metrics": {
        sidecar.SOME: ["run", "position", "metric", "official"],
        sidecar.or_null(sidecar.FINITE): ["threshold"],
        sidecar.or_null(sidecar.COUNT): ["numerator", "denominator"],
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
            sidecar.check_writable(path)
            _check_free(con, run, path)


def _check_free(con: duckdb.DuckDBPyConnection, run: str, path: Path) -> None:
    """Raise UsageError where there is a run of that name."""
    # Names that differ in small and capital letters alone would be mistaken for each other.
    if run.lower() in {name.lower() for (name,) in con.execute("select run from main.runs").fetchall()}:
        raise UsageError(
            f"there is a run '{run}' already", where=path, next_step="save it under another name; see: talkhouse scores"
        )


def save(workspace: ScoringWorkspace, scored: Scored, run: str, warehouse: Path) -> Path:
    """Save a run that was scored, whole or not at all.

    Waits for another process that saves one. Raises UsageError where there is one of that name, or another has it, and
    what ``open_saved`` raises.
    """
    check_run(run, warehouse)
    with sidecar.changed_beside(path_for(warehouse), warehouse, open_saved, _SCHEMA) as into:
        _check_free(into, run, path_for(warehouse))
        _share_tables(into, path_for(warehouse))
        _insert(into, as_run(scored, run, state_of(workspace, scored, warehouse)))
        for kind, query in ((EXAMPLES, scored_rows(scored)), (ANSWERS, answers_query(workspace, scored))):
            _save_rows(workspace, kind, scored.task.name, query, run, into)
    return path_for(warehouse)


def state_of(workspace: ScoringWorkspace, scored: Scored, path: Path) -> dict[str, str | None]:
    """Return the release of the examples, and the hashes of their splits, whether or not all were scored."""
    opened = Warehouse(workspace.con)
    wanted = {(split.release, split.split) for split in scored.chosen.splits}
    tasks = task_hashes(workspace.con, opened.database, tasks=[scored.task.name])
    chosen = [task for task in tasks if (task.release, task.split) in wanted]
    ids = known_ids(workspace.con, opened.database, path)
    hashes = joined(task.content_hash for task in chosen), joined(task.hash for task in chosen)
    return dict(zip(HASHES, (*ids, *hashes), strict=True))


_METRIC = ("threshold", "slice", "name", "value", "official", "best", "worst", "count", "of", "low", "high")
"""What is kept of a metric, in the order of the columns."""
_KEPT_AS = {"count": "numerator", "of": "denominator"}


def as_run(scored: Scored, run: str, state: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the values that are kept of a run, and its ``metrics``; ``state``: of which contents its examples are."""
    chosen = scored.chosen
    metrics = [{_KEPT_AS.get(name, name): getattr(metric, name) for name in _METRIC} for metric in scored.metrics]
    return {
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
        "metrics": metrics,
    }


def _insert(con: duckdb.DuckDBPyConnection, values: dict[str, Any]) -> None:
    metrics = values.pop("metrics")
    # By name: an older file has its columns in another order.
    marks = ", ".join("?" for _ in values)
    con.execute(f"insert into runs ({', '.join(values)}) values ({marks})", [*values.values()])
    insert(con, "metrics", [(values["run"], place, *metric.values()) for place, metric in enumerate(metrics)])


def saved(warehouse: Path, task: str | None = None, settings: Settings = NO_SETTINGS) -> list[dict[str, Any]]:
    """Return the saved runs, those of one task or all, each with its metrics; comparable ones are side by side."""
    path = path_for(warehouse)
    if not os.path.lexists(path):
        return []
    metrics: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    with open_saved(path, settings) as con:
        where = "" if task is None else f"where task = {literal(task)}"
        runs = dicts(con.execute(f"from main.runs {where} order by saved_at, run"))
        for row in dicts(
            con.execute(
                "select * exclude (position) rename (metric as name) from main.metrics "
                f"where run in (select run from main.runs {where}) order by run, position"
            )
        ):
            # The SQL of a plugin may give what is no number.
            metrics[row.pop("run")].append(
                {name: None if isinstance(cell, float) and not isfinite(cell) else cell for name, cell in row.items()}
            )
        for run in runs:
            # Older files have none of these.
            run.update({name: run.get(name) for name in ("where_expression", "where_fingerprint", *HASHES)})
            run["metrics"] = metrics[run["run"]]
    return sorted(runs, key=comparable)


def comparable(run: dict[str, Any]) -> tuple[str, str, list[str], str, str]:
    """Return the values that comparable runs share; the content of older runs is unknown."""
    same = run["task"], run["view_fingerprint"], run["subsets"], run["where_fingerprint"] or ""
    return *same, run["content_hash"] or ""


EXAMPLES, ANSWERS = "examples", "answers"
"""How the names of tables with rows of runs begin; older runs have none of answers."""

ORDER = "threshold desc, release, split, example_index"
"""The order in which the rows of a run are kept."""

_MEANINGS = {
    EXAMPLES: "What each example of the runs of a task scored.",
    ANSWERS: "How sure a run is of each answer, its text, and the candidate that it puts first.",
}


def _save_rows(
    workspace: ScoringWorkspace, kind: str, task: str, query: str, run: str, into: duckdb.DuckDBPyConnection
) -> None:
    """Write the rows of a query into another database as those of a run."""
    with workspace.con.sql(f"from ({query}) order by {ORDER}").to_arrow_reader() as rows:
        into.register("saved_rows", pa.RecordBatchReader.from_batches(rows.schema, []))  # rows can be read once only
        table = _shared_table(into, kind, task, "saved_rows")
        into.register("saved_rows", rows)
        into.execute(f"insert into {table} select $1, * from saved_rows", [run])
        into.unregister("saved_rows")


def _shared_table(con: duckdb.DuckDBPyConnection, kind: str, task: str, rows: str) -> str:
    """Return the table that all runs of a task share whose rows have the same columns; it is created if need be."""
    select = f"select * from (select ''::varchar as saved_run, * from {rows})"
    columns = column_types(con, select)
    before = sidecar.columns_of_tables(con)
    for number in count(1):
        name = "_".join((kind, *task.split("."), *([] if number == 1 else [str(number)])))
        table = f"main.{quoted(name)}"
        if before.get(name) == columns:
            return table
        if name not in before:
            con.execute(f"create table if not exists {table} as {select} limit 0")
            if name in sidecar.columns_of_tables(con):  # where a view of the user's has the name there is none
                break
    con.execute(f"comment on table {table} is {literal(_MEANINGS[kind])}")
    con.execute(f"comment on column {table}.saved_run is 'The run, see runs.'")
    return table


def _share_tables(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Move the rows of runs that have a table each, as before format 4, into the tables that runs share."""
    tasks = dict(con.execute("select run, task from main.runs").fetchall())
    shared: dict[tuple[object, ...], str] = {}
    try:
        con.execute("begin")  # a transaction for each statement would take half a minute for 1,000 runs
        for kind in _MEANINGS:
            for run, columns in sidecar.columns_of_tables(con, kind).items():
                if run in tasks:
                    own, known = f"{kind}.{quoted(run)}", (kind, tasks[run], *columns.items())
                    table = shared[known] = shared.get(known) or _shared_table(con, kind, tasks[run], own)
                    con.execute(f"insert into {table} select $1, * from {own}", [run])
                    con.execute(f"drop table {own}")
        con.execute("commit")
    except (duckdb.ProgrammingError, duckdb.DependencyException) as error:
        raise _not_ours(path, described(error)) from error


def _rows_of(con: duckdb.DuckDBPyConnection, kind: str, run: str) -> str | None:
    """Return the query of the rows of a run, or None if there are none."""
    for table, columns in sidecar.columns_of_tables(con).items():
        if table.startswith(f"{kind}_") and "saved_run" in columns:
            rows = f"from main.{quoted(table)} where saved_run = {literal(run)}"
            if con.execute(f"select 1 {rows} limit 1").fetchall():
                return f"select * exclude (saved_run) {rows}"
    return f"from {kind}.{quoted(run)}" if run in sidecar.columns_of_tables(con, kind) else None


def load_rows(
    con: duckdb.DuckDBPyConnection, kind: str, run: str, into: ScoringWorkspace, most: int
) -> ScoringTable | None:
    """Create a table of what each example of a run scored, or of what it answers.

    None if there is none of them, or more rows than ``most``: the file may have been changed.
    """
    query = _rows_of(con, kind, run)
    if query is None or con.execute(f"select count(*) from ({query})").fetchall()[0][0] > most:
        return None
    with con.sql(query).to_arrow_reader() as rows:
        return into.create_arrow("saved", rows)


def metrics_hash(task: ScoredTask) -> str:
    """Return the SHA-256 of the SQL of a task's metrics: rows that other SQL made may have other columns."""
    macros = [macro.sql for macro in task.macros]
    return sha256(
        "\0".join([task.query.sql, *(summary.sql for summary in task.summaries), *macros]).encode()
    ).hexdigest()
