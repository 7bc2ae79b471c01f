"""Predictions as one table: of the types that the task declares, checked, and joined with the keys of the split."""

from collections.abc import Iterable
from typing import NamedTuple

import duckdb

from schema.errors import UsageError
from schema.sql import identifier, literal, quoted
from talkhouse.scores.refusals import BadPredictions, first_rows, refusal, refuse
from talkhouse.scores.tasks import Task

_KEY_TYPES = {
    "release": "varchar",
    "split": "varchar",
    "example_index": "integer",
    "record_id": "varchar",
    "turn_index": "integer",
    "view_fingerprint": "varchar",
    "key": "varchar",
    "warning": "varchar",
}
"""Columns that any prediction may have; a layout names its own row in ``key`` and says in ``warning`` what is odd."""

_ALSO = {"scores": ("ranking", "position"), "labels": ("label",)}
"""Other ways to give a column: positions, best first; rows of position and score; one label."""


class Columns(NamedTuple):
    """The columns that the predictions have, by name, with their types."""

    types: dict[str, str]

    def has(self, name: str) -> bool:
        """Whether the predictions have this column, or another that says the same."""
        return any(one in self.types for one in (name, *_ALSO.get(name, ())))


def columns_of_raw(con: duckdb.DuckDBPyConnection, task: Task) -> Columns:
    """Return the columns of ``raw``; UsageError where there is no key, or nothing that the task scores."""
    columns = Columns({row[0]: row[1] for row in con.execute("describe raw").fetchall()})
    if not columns.types.keys() & {"example_index", "record_id"}:
        raise UsageError(
            "the predictions have no key",
            expected="a column 'example_index', or 'record_id' and 'turn_index'",
            found=f"the columns {', '.join(columns.types)}",
            next_step=f"start from an empty table: talkhouse score {task.name} --template FILE",
        )
    missing = [one.name for one in task.columns if not one.is_optional and not columns.has(one.name)]
    if missing or not any(columns.has(one.name) for one in task.columns):
        needed = ", ".join(_forms(one.name) for one in task.columns)
        raise UsageError(
            f"the predictions have no column '{(missing or [task.columns[0].name])[0]}'",
            expected=f"the columns {needed}",
            found=f"the columns {', '.join(columns.types)}",
            next_step="rename the columns, or name the layout with --format",
        )
    return columns


def _forms(name: str) -> str:
    also = {"scores": "scores (or ranking, or rows of position and score)", "labels": "labels (or label)"}
    return also.get(name, name)


def named_splits(con: duckdb.DuckDBPyConnection) -> list[tuple[str | None, str | None]]:
    """Return the releases and splits that the rows of ``raw`` name; empty where it has neither column."""
    known = {row[0] for row in con.execute("describe raw").fetchall()}
    if not known & {"release", "split"}:
        return []
    parts = [f"{name}::varchar" if name in known else "null" for name in ("release", "split")]
    return con.execute(f"select distinct {', '.join(parts)} from raw").fetchall()


def create_given(con: duckdb.DuckDBPyConnection, task: Task, columns: Columns) -> None:
    """Create the table ``given``: the predictions with the types of the task, a row for each key."""
    if "position" in columns.types and not {"scores", "ranking"} & columns.types.keys():
        _join_positions(con, columns)
    wanted = {name: kind for name, kind in _KEY_TYPES.items() if name in columns.types}
    wanted |= {one.name: one.type for one in task.columns if one.name in columns.types}
    if "ranking" in columns.types:
        wanted["ranking"] = "integer[]"
    if "labels" not in columns.types and any(one.name == "labels" for one in task.columns):
        wanted["label"] = "varchar"
    selected = [f"{_cast(name, kind, columns.types[name])} as {quoted(name)}" for name, kind in wanted.items()]
    con.execute(f"create or replace temp table given as select {', '.join(selected)} from raw")
    for name, kind in wanted.items():
        if kind != "varchar" and columns.types[name] != kind:
            _refuse_casts(con, name, kind, columns.types[name])
    names = [one.name for one in task.columns]
    if "labels" in names and "labels" not in columns.types:
        con.execute("alter table given add column labels varchar[]")
        con.execute("update given set labels = [label]")
    for name, kind in {**_KEY_TYPES, "ranking": "integer[]", **{one.name: one.type for one in task.columns}}.items():
        con.execute(f"alter table given add column if not exists {quoted(name)} {kind}")


def _join_positions(con: duckdb.DuckDBPyConnection, columns: Columns) -> None:
    """Make lists of rows of position and score."""
    keys = [name for name in _KEY_TYPES if name in columns.types]
    names = ", ".join(quoted(name) for name in keys)
    con.execute(
        f"create or replace temp table joined as select {names}, "
        "list(try_cast(score as double) order by place) as scores, list(place order by place) as places "
        "from (select *, try_cast(position as integer) as place from raw) "
        f"group by {names}"
    )
    refuse(
        con,
        f"select concat_ws(' ', {names}) || ': positions ' || places::varchar from joined "
        "where places <> range(len(places))::integer[] or list_contains(places, null) or len(places) <> len(scores)",
        "lists whose positions are not 0, 1, 2 ... without a gap",
        next_step="give each candidate of each example one row",
    )
    con.execute("create or replace temp view raw as select * exclude (places) from joined")
    del columns.types["position"]
    columns.types["scores"] = "DOUBLE[]"


def _cast(name: str, kind: str, given: str) -> str:
    column = quoted(name)
    if given == kind.upper():
        return column
    if kind == "integer" and given == "VARCHAR":
        return f"case when regexp_full_match({column}, '[+-]?[0-9]+') then try_cast({column} as integer) end"
    if kind == "integer" and given in ("DOUBLE", "FLOAT"):
        return f"case when {column} = floor({column}) then try_cast({column} as integer) end"
    if kind.endswith("[]") and given == "VARCHAR":
        return f"try_cast(try_cast({column} as json) as {kind})"
    return f"try_cast({column} as {kind})"


def _refuse_casts(con: duckdb.DuckDBPyConnection, name: str, kind: str, given: str) -> None:
    """Refuse values that are not of their type; nothing is guessed from them."""
    column = quoted(name)
    if con.execute(f"select (select count({column}) from raw) = (select count({column}) from given)").fetchall()[0][0]:
        return
    what = {"integer": "whole numbers", "double": "numbers", "double[]": "lists of numbers"}.get(kind, "lists")
    refuse(
        con,
        f"select {column}::varchar from raw where {column} is not null and {_cast(name, kind, given)} is null",
        f"values of '{name}' that are not {what}",
        next_step="write them as JSON has them, with a point and without units",
    )


_ROW = (
    "coalesce(key, concat_ws(' ', release, split, 'example_index ' || example_index, record_id, "
    "'turn_index ' || turn_index))"
)
"""How a message names a row of ``given`` or ``keys``."""
_KEY_ROW = "concat_ws(' ', release, split, 'example_index ' || example_index, record_id, 'turn_index ' || turn_index)"


def check_values(con: duckdb.DuckDBPyConnection, task: Task, *, unknown: str, as_printed: bool) -> list[str]:
    """Raise BadPredictions for values that no metric can take, and return what is only worth a warning."""
    warnings = []
    for column in task.columns:
        name = column.name
        if not column.is_optional and not as_printed:
            refuse(
                con,
                f"select {_ROW} from given where {quoted(name)} is null"
                + (" and ranking is null" if name == "scores" else ""),
                f"rows without a '{name}'",
                next_step="predict each example, or leave its row out and add --missing wrong",
            )
        if name == "scores":
            bad = "list_filter(scores, lambda one: one is null or isnan(one) or one = 'inf'::double)"
            _refuse_numbers(con, f"len({bad}) > 0", name)
        elif name == "score":
            _refuse_numbers(con, "isnan(score) or score = 'inf'::double", name)
        elif name.startswith("prob_") and not as_printed:
            _refuse_numbers(con, f"not isfinite({name})", name)
            count, first = first_rows(con, f"select {_ROW} from given where {name} < 0 or {name} > 1")
            if count:
                warnings.append(f"{count:,} values of {name} are not between 0 and 1: {'; '.join(first)}")
    if not as_printed:
        warnings += _check_sums(con, [one.name for one in task.columns if one.name.startswith("prob_")])
    warnings += _check_labels(con, task, unknown="wrong" if as_printed else unknown)
    count, first = first_rows(con, f"select {_ROW} || ': ' || warning from given where warning is not null")
    if count:
        warnings.append(f"{count:,} rows: {'; '.join(first)}")
    return warnings


def _refuse_numbers(con: duckdb.DuckDBPyConnection, condition: str, name: str) -> None:
    refuse(
        con,
        f"select {_ROW} from given where {condition}",
        f"rows whose '{name}' is or has what is not a finite number",
        expected="numbers; in scores, -Infinity for a candidate that was not ranked",
        next_step="find out where the model overflows",
    )


def _check_sums(con: duckdb.DuckDBPyConnection, names: list[str]) -> list[str]:
    if not names:
        return []
    total = " + ".join(names)
    count, first = first_rows(con, f"select {_ROW} || ': ' || ({total}) from given where abs({total} - 1) > 1e-6")
    return [f"{count:,} distributions do not sum to 1 and are used as they are: {'; '.join(first)}"] if count else []


def _check_labels(con: duckdb.DuckDBPyConnection, task: Task, *, unknown: str) -> list[str]:
    """Refuse labels that nobody declared, or say that they count as wrong; near ones are named, never repaired."""
    column = next((one.name for one in task.columns if one.name in ("label", "labels")), None)
    known = task.labels(con)
    if column is None or not known:
        return []
    each = "unnest(labels)" if column == "labels" else "label"
    rows = con.execute(
        f"select one, count(*) as rows from (select {each} as one from given) "
        "where one is not null and not list_contains(?::varchar[], one) group by one order by rows desc, one",
        [known],
    ).fetchall()
    if not rows:
        return []
    shown = [_near(label, count, known) for label, count in rows[:5]]
    total = sum(count for _, count in rows)
    if unknown == "stop":
        raise refusal(
            total,
            shown,
            f"labels that {task.name} does not have",
            expected=f"one of: {', '.join(known)}",
            next_step="write the labels as published, or count these as wrong with --unknown wrong",
        )
    return [f"{total:,} labels that {task.name} does not have count as wrong: {'; '.join(shown)}"]


def _near(label: str, count: int, known: Iterable[str]) -> str:
    near = next((one for one in known if one.strip().casefold() == label.strip().casefold()), None)
    hint = f", near '{near}', which is another label" if near else ""
    return f"'{label}' ({count:,} rows{hint})"


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
        f"create or replace temp table sizes as select keys.*, {task.query.facts['counts']} as candidates "
        f"from keys inner join {view} as gold on gold.example_index = keys.example_index and gold.split = keys.split"
    )
    con.execute(
        "create or replace temp table ranked as select given.rowid as place, given.ranking, keys.candidates, "
        f"{_given_row()} as row from given inner join sizes as keys on {on} where given.ranking is not null"
    )
    refuse(
        con,
        "select row || ': ' || ranking::varchar from ranked where len(list_distinct(ranking)) < len(ranking) "
        "or coalesce(list_min(ranking), 0) < 0 or coalesce(list_max(ranking), 0) >= candidates",
        "rankings with a position twice, null or beyond the candidates",
        expected="0-based positions of candidates, the best first",
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
        f"select {_given_row()} from given where not exists (select 1 from keys where {on})",
        "predictions for examples that are not in what is scored",
        next_step="predict the split, release and subset that you name, of this build; see --template and --subset",
    )
    if rows > wanted:
        key = "split, example_index" if by_index else "record_id, turn_index"
        refuse(
            con,
            f"select {_KEY_ROW} from (select release, split, example_index, record_id, turn_index from predicted "
            f"group by all having count(*) > 1 order by release, {key})",
            "examples have more than one prediction",
            next_step="give each example one row, by example_index or by record_id and turn_index",
        )


def _given_row() -> str:
    parts = [
        "given.release",
        "given.split",
        "'example_index ' || given.example_index",
        "given.record_id",
        "'turn_index ' || given.turn_index",
    ]
    return f"coalesce(given.key, concat_ws(' ', {', '.join(parts)}))"


def _check_agreement(con: duckdb.DuckDBPyConnection, on: str, columns: Columns) -> None:
    differs = "given.record_id <> keys.record_id"
    if "turn_index" in columns.types:
        differs += " or given.turn_index is distinct from keys.turn_index"
    refuse(
        con,
        f"select {_given_row()} || ' is ' || keys.record_id || coalesce(' turn_index ' || keys.turn_index, '') "
        f"from given inner join keys on {on} where {differs}",
        "rows whose record_id and turn_index are not those of their example_index",
        next_step="export the split again from this warehouse: the numbers move when files come or go",
    )


def _missing(con: duckdb.DuckDBPyConnection, lost: int) -> BadPredictions:
    _, first = first_rows(
        con, f"select {_KEY_ROW} from (from predicted where is_missing order by release, split, example_index)"
    )
    return refusal(
        lost,
        first,
        "examples have no prediction",
        next_step="predict them, score one folder with --subset, or count them as wrong with --missing wrong",
    )


def check_fingerprint(con: duckdb.DuckDBPyConnection, known: Iterable[str]) -> None:
    """Refuse predictions that carry the fingerprint of another split or build."""
    names = ", ".join(literal(one) for one in known)
    refuse(
        con,
        f"select distinct view_fingerprint from given where view_fingerprint not in ({names})",
        "fingerprints of other examples: the predictions are of another split, or of another build",
        expected=f"one of: {names}",
        next_step="export the split again from this warehouse, and predict that",
    )
