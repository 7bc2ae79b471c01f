"""One row per example with its own value of each metric, for error analysis; and an empty table of predictions."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from talkhouse.query.export import format_of
from talkhouse.query.row_stream import Rows
from talkhouse.query.writers import write
from talkhouse.relations import columns_of
from talkhouse.schema.sql import identifier, literal, quoted
from talkhouse.scores.metrics import metrics
from talkhouse.scores.tasks import Task
from talkhouse.system.atomic_output import check_free, move_into_place, private_folder
from talkhouse.system.output_links import target_of

_OWN = ("release", "split", "example_index", "record_id", "turn_index")


def check_output(con: duckdb.DuckDBPyConnection, output: Path, *, force: bool = False) -> None:
    """Raise UsageError where the file exists already (unless ``force``) or its ending shows no format."""
    format_of(output)
    check_free(con, (output,), force=force)


def write_rows(con: duckdb.DuckDBPyConnection, query: str, output: Path, *, force: bool = False) -> int:
    """Write the rows of a query to a file in the format of its ending, whole or not at all; return their number.

    Raises UsageError where the file exists already (unless ``force``) or its ending shows no format.
    """
    check_output(con, output, force=force)
    file_format = format_of(output)
    with private_folder(output) as folder:
        rows = Rows(con.sql(query))
        with (folder / "rows").open("w", encoding="utf-8", newline="") as stream:
            write(rows, file_format, stream)
        move_into_place(folder / "rows", target_of(output))
    return rows.count


def examples_query(con: duckdb.DuckDBPyConnection, task: Task) -> str:
    """Return the query of what each example scores, with its keys and the columns of the task's view."""
    names = [one.name for one in metrics(con, task)]
    con.execute("create or replace temp view sliced as select rowid::varchar as slice, * from scored")
    con.execute(f"create or replace temp table each_example as {_each(task, names)}")
    view = f"{identifier(task.query.schema)}.{identifier(task.query.name)}"
    known = [column["name"] for column in columns_of(con, task.query.schema, task.query.name)]
    same = ["example_index", "split", *(["release"] if "release" in known else [])]
    on = " and ".join(f"gold.{name} is not distinct from scored.{name}" for name in same)
    gold = ", ".join(f"gold.{quoted(name)}" for name in known if name not in _OWN)
    return (
        f"select scored.release, scored.split, scored.example_index, scored.record_id, "
        f"each_example.* exclude (slice), {gold} "
        f"from scored inner join each_example on each_example.slice = scored.rowid::varchar "
        f"inner join {view} as gold on {on} order by scored.release nulls first, scored.split, scored.example_index"
    )


def _each(task: Task, names: Sequence[str]) -> str:
    """Return the query of a row per slice with a column per metric."""
    parts = " union all ".join(
        f"select slice, unnest(results, recursive := true) from ({summary.sql})" for summary in task.summaries
    )
    columns = ", ".join(f"max(value) filter (where name = {literal(name)}) as {quoted(name)}" for name in names)
    return f"select slice, {columns} from ({parts}) group by slice"
