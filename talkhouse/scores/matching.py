"""Each key of the split with its prediction; what is missing, doubled or for another example is refused."""

import duckdb

from talkhouse.schema.sql import identifier, quoted
from talkhouse.scores.predictions import Columns
from talkhouse.scores.refusals import BadPredictions, first_rows, key_text, refusal, refuse, row_text
from talkhouse.scores.tasks import Task


def match(con: duckdb.DuckDBPyConnection, task: Task, columns: Columns, *, missing: str, as_printed: bool) -> int:
    """Create ``predicted``: each key with its prediction; return how many have none.

    Raises BadPredictions for missing keys (unless ``missing`` is ``wrong``), for others, and for keys given twice.
    """
    by_index = "example_index" in columns.types
    same = ["given.example_index = keys.example_index"] if by_index else ["given.record_id = keys.record_id"]
    if not by_index and "turn_index" in columns.types:
        same.append("given.turn_index is not distinct from keys.turn_index")
    same += [f"given.{name} is not distinct from keys.{name}" for name in ("release", "split") if name in columns.types]
    on = " and ".join(same)
    con.execute(f"delete from given where exists (select 1 from other_keys as keys where {on})")
    if as_printed:
        con.execute(f"delete from given where not exists (select 1 from keys where {on})")
    if "ranking" in columns.types:
        _score_rankings(con, task, on)
    names = ", ".join(f"given.{quoted(one.name)}" for one in task.columns)
    con.execute(
        f"create or replace temp table predicted as select keys.*, {names}, given.rowid is null as is_missing "
        f"from keys left join given on {on}"
    )
    counts = "(select count(*) from keys), (select count(*) from given), count(*), count_if(is_missing)"
    ((wanted, given, rows, lost),) = con.execute(f"select {counts} from predicted").fetchall()
    if given != wanted or rows != wanted or lost:
        _explain(con, on, rows=rows, wanted=wanted, by_index=by_index)
    if by_index and "record_id" in columns.types:
        _check_agreement(con, on, columns)
    if lost and missing == "stop":
        raise _missing(con, lost)
    return int(lost)


def _score_rankings(con: duckdb.DuckDBPyConnection, task: Task, on: str) -> None:
    """Fill the scores of ``given`` from rankings: the first position has the highest, what is not listed -Infinity."""
    view = f"{identifier(task.query.schema)}.{identifier(task.query.name)}"
    con.execute(
        f"create or replace temp table sizes as select keys.*, {task.query.counts} as candidates "
        f"from keys inner join {view} as gold on gold.example_index = keys.example_index and gold.split = keys.split"
    )
    con.execute(
        "create or replace temp table ranked as select given.rowid as place, given.ranking, keys.candidates, "
        f"{row_text('given.')} as row from given inner join sizes as keys on {on} where given.ranking is not null"
    )
    refuse(
        con,
        "select row || ': ' || ranking::varchar from ranked where len(list_distinct(ranking)) < len(ranking) "
        "or coalesce(list_min(ranking), 0) < 0 or coalesce(list_max(ranking), 0) >= candidates",
        "rankings with a position twice, null or beyond the candidates",
        expected="0-based positions of candidates, the best first; in a log, texts of candidates",
        next_step="rank each candidate once; those left out count as ranked below all others",
    )
    con.execute(
        "update given set scores = list_transform(range(ranked.candidates), lambda one: "
        "coalesce(-list_position(ranked.ranking, one)::double, '-inf'::double)) "
        "from ranked where ranked.place = given.rowid"
    )


def _explain(con: duckdb.DuckDBPyConnection, on: str, *, rows: int, wanted: int, by_index: bool) -> None:
    """Refuse predictions for what is not there, and those that are there twice."""
    refuse(
        con,
        f"select {row_text('given.')} from given where not exists (select 1 from keys where {on})",
        "predictions for examples that are not in what is scored",
        next_step="predict just the examples of this split and release, as this build has them: --template lists them",
    )
    if rows > wanted:
        key = "split, example_index" if by_index else "record_id, turn_index"
        refuse(
            con,
            f"select {key_text()} from (select release, split, example_index, record_id, turn_index from predicted "
            f"group by all having count(*) > 1 order by release, {key})",
            "examples have more than one prediction",
            next_step="give each example one row, by example_index or by record_id and turn_index",
        )


def _check_agreement(con: duckdb.DuckDBPyConnection, on: str, columns: Columns) -> None:
    differs = "given.record_id <> keys.record_id"
    if "turn_index" in columns.types:
        differs += " or given.turn_index is distinct from keys.turn_index"
    refuse(
        con,
        f"select {row_text('given.')} || ' is ' || keys.record_id || coalesce(' turn_index ' || keys.turn_index, '') "
        f"from given inner join keys on {on} where {differs}",
        "rows whose record_id and turn_index are not those of their example_index",
        next_step="export the split again from this warehouse: the numbers move when files come or go",
    )


def _missing(con: duckdb.DuckDBPyConnection, lost: int) -> BadPredictions:
    _, first = first_rows(
        con, f"select {key_text()} from (from predicted where is_missing order by release, split, example_index)"
    )
    return refusal(
        lost,
        first,
        "examples have no prediction",
        next_step="predict them, score one folder with --subset, or count them as wrong with --missing wrong",
    )
