"""Predictions as one table, with the columns that the task declares, in their types; and what no metric can take."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

import duckdb

from talkhouse.schema.sql import literal, quoted
from talkhouse.scores.task import ScoredTask
from talkhouse.scores.workspace import (
    MOST_LETTERS,
    BadPredictions,
    ScoringTable,
    ScoringWorkspace,
    first_rows,
    refusal,
    refuse,
    row_text,
    rows_text,
)

_KEY_TYPES = {
    "release": "varchar",
    "split": "varchar",
    "example_index": "integer",
    "record_id": "varchar",
    "turn_index": "integer",
    "item_index": "integer",
    "view_fingerprint": "varchar",
    "key": "varchar",
    "warning": "varchar",
}
"""Columns that any prediction may have; a layout names its own row in ``key`` and says in ``warning`` what is odd."""

KEYS = frozenset({"example_index", "record_id"})
"""Of these columns predictions have one, or both."""

_ALSO = {"scores": ("ranking", "position"), "labels": ("label",)}
"""Other ways to give a column: positions, best first; rows of position and score; one label."""

_SHOWN = 50
"""Columns that are named in a message."""


@dataclass(frozen=True)
class RawPredictions:
    """Predictions as they are given."""

    table: ScoringTable
    types: Mapping[str, str]
    """Their columns, by name, with DuckDB's types."""


def raw(workspace: ScoringWorkspace, table: ScoringTable) -> RawPredictions:
    """Return a table as predictions, with the types of its columns."""
    return RawPredictions(table, workspace.columns(table))


def wanted_columns(task: ScoredTask) -> list[str]:
    """Return the names of all columns that are read of predictions."""
    names = [column.name for column in task.columns]
    also = [other for name in names for other in _ALSO.get(name, ())]
    return list(dict.fromkeys([*_KEY_TYPES, *names, *also, *(["score"] if "position" in also else [])]))


def check_columns(task: ScoredTask, names: Collection[str]) -> None:
    """Raise BadPredictions where there is no key among columns of these names, or nothing that the task scores."""
    if KEYS.isdisjoint(names):
        raise BadPredictions(
            "the predictions have no key",
            expected="a column 'example_index', or 'record_id', 'turn_index' and, below the turn, 'item_index'",
            found=_named(names),
            next_step=f"start from an empty table: talkhouse score {task.name} --template FILE",
        )
    there = [
        column for column in task.columns if any(name in names for name in (column.name, *_ALSO.get(column.name, ())))
    ]
    missing = [column.name for column in task.columns if not column.is_optional and column not in there]
    if missing or not there:
        needed = ", ".join(_forms(column.name) for column in task.columns)
        raise BadPredictions(
            f"the predictions have no column '{(missing or [task.columns[0].name])[0]}'",
            expected=f"the columns {needed}",
            found=_named(names),
            next_step="rename the columns, or name the layout with --format",
        )


def _named(names: Collection[str]) -> str:
    more = len(names) - _SHOWN
    return f"the columns {', '.join(islice(names, _SHOWN))}" + (f" and {more:,} more" if more > 0 else "")


def _forms(name: str) -> str:
    also = {"scores": "scores (or ranking, or rows of position and score)", "labels": "labels (or label)"}
    return also.get(name, name)


def named_splits(workspace: ScoringWorkspace, predictions: RawPredictions) -> list[tuple[str | None, str | None]]:
    """Return the publisher's releases and splits that predictions name; empty where they have neither column."""
    if not predictions.types.keys() & {"release", "split"}:
        return []
    parts = [f"{name}::varchar" if name in predictions.types else "null" for name in ("release", "split")]
    return workspace.con.execute(f"select distinct {', '.join(parts)} from {predictions.table}").fetchall()


def with_types(workspace: ScoringWorkspace, task: ScoredTask, predictions: RawPredictions) -> ScoringTable:
    """Create a table of predictions with all columns that any may have, in their types, a row for each key.

    Raises BadPredictions for values that are not of their type.
    """
    if "position" in predictions.types and not {"scores", "ranking"} & predictions.types.keys():
        predictions = _join_positions(workspace, predictions)
    kinds = {**_KEY_TYPES, "ranking": "integer[]", **{column.name: column.type for column in task.columns}}
    is_single = "labels" in kinds and "labels" not in predictions.types
    kinds |= {"label": "varchar"} if is_single else {}
    found = {name: kind for name, kind in kinds.items() if name in predictions.types}
    selected = {name: f"null::{kind}" for name, kind in kinds.items()}
    selected |= {name: _cast(name, kind, predictions.types[name]) for name, kind in found.items()}
    if is_single:
        selected["labels"] = f"[{selected['label']}]"
    columns = ", ".join(f"{expression} as {quoted(name)}" for name, expression in selected.items())
    typed = workspace.create("typed", f"select {columns} from {predictions.table}")
    for name, kind in found.items():
        if kind != "varchar" and predictions.types[name] != kind:
            _refuse_casts(workspace, predictions, typed, name, kind)
    return typed


def _join_positions(workspace: ScoringWorkspace, predictions: RawPredictions) -> RawPredictions:
    names = ", ".join(quoted(name) for name in _KEY_TYPES if name in predictions.types)
    joined = workspace.create(
        "joined",
        f"select {names}, "
        "list(try_cast(score as double) order by place) as scores, list(place order by place) as places "
        f"from (select *, try_cast(position as integer) as place from {predictions.table}) "
        f"group by {names}",
    )
    refuse(
        workspace.con,
        f"select concat_ws(' ', {names}) || ': positions ' || places::varchar from {joined} "
        "where places <> range(len(places))::integer[] or list_contains(places, null) or len(places) <> len(scores)",
        "lists whose positions are not 0, 1, 2 ... without a gap",
        next_step="give each candidate of each example one row",
    )
    return raw(workspace, joined)


def _cast(name: str, kind: str, stored: str) -> str:
    """Return the SQL of a column as another type than it is given in; null where it has no such value."""
    column = quoted(name)
    if stored == kind.upper():
        return column
    if kind == "integer" and stored == "VARCHAR":
        return f"case when regexp_full_match({column}, '[+-]?[0-9]+') then try_cast({column} as integer) end"
    if kind == "integer" and stored in ("DOUBLE", "FLOAT"):
        return f"case when {column} = floor({column}) then try_cast({column} as integer) end"
    if kind.endswith("[]") and stored == "VARCHAR":
        return f"try_cast(try_cast({column} as json) as {kind})"
    return f"try_cast({column} as {kind})"


def _refuse_casts(
    workspace: ScoringWorkspace, predictions: RawPredictions, typed: ScoringTable, name: str, kind: str
) -> None:
    """Refuse values that are not of their type; nothing is guessed from them."""
    column = quoted(name)
    counts = f"(select count({column}) from {predictions.table}) = (select count({column}) from {typed})"
    if workspace.con.execute(f"select {counts}").fetchall()[0][0]:
        return
    what = {"integer": "whole numbers", "double": "numbers", "double[]": "lists of numbers"}.get(kind, "lists")
    # A layout names its rows in a column key.
    place = "key" if "key" in predictions.types else "'row ' || row_number() over ()"
    is_bad = f"{column} is not null and {_cast(name, kind, predictions.types[name])} is null"
    refuse(
        workspace.con,
        f"select place || ': ' || given from (select {place} as place, {column}::varchar as given, "
        f"{is_bad} as is_bad from {predictions.table}) where is_bad",
        f"values of '{name}' that are not {what}",
        next_step="write them as JSON has them, with a point and without units",
    )


def check_values(
    con: duckdb.DuckDBPyConnection, task: ScoredTask, typed: ScoringTable, *, unknown: str, as_printed: bool
) -> list[str]:
    """Raise BadPredictions for values that no metric can take, and return what merits only a warning."""
    warnings = []
    for column in task.columns:
        name = column.name
        is_unknown = name == "label" and (as_printed or unknown == "wrong")  # null is an undeclared label
        if not column.is_optional and not is_unknown:
            refuse(
                con,
                f"select {row_text()} from {typed} where {quoted(name)} is null"
                + (" and ranking is null" if name == "scores" else ""),
                f"rows without a '{name}'",
                next_step="predict each example, or leave its row out and add --missing wrong",
            )
        if name == "scores":
            bad = "list_filter(scores, lambda score: score is null or isnan(score) or score = 'inf'::double)"
            _refuse_numbers(con, typed, f"len({bad}) > 0", name)
        elif name == "score":
            _refuse_numbers(con, typed, "isnan(score) or score = 'inf'::double", name)
        elif name.startswith("prob_") and not as_printed:
            _refuse_numbers(con, typed, f"not isfinite({name})", name)
            count, first = first_rows(con, f"select {row_text()} from {typed} where {name} < 0 or {name} > 1")
            if count:
                warnings.append(f"{count:,} values of {name} are not between 0 and 1: {'; '.join(first)}")
    if not as_printed:
        warnings += _check_sums(con, typed, [column.name for column in task.columns if column.name.startswith("prob_")])
    warnings += _check_labels(con, task, typed, unknown="wrong" if as_printed else unknown)
    odd = f"select distinct warning from {typed} where warning is not null order by all"
    for (warning,) in con.execute(odd).fetchall():
        count, first = first_rows(con, f"select {row_text()} from {typed} where warning = {literal(warning)}")
        warnings.append(f"{rows_text(count)}: {warning}: {'; '.join(first)}")
    return warnings


def _refuse_numbers(con: duckdb.DuckDBPyConnection, typed: ScoringTable, condition: str, name: str) -> None:
    refuse(
        con,
        f"select {row_text()} from {typed} where {condition}",
        f"rows whose '{name}' is or has what is not a finite number",
        expected="numbers; in scores, -Infinity for a candidate that was not ranked",
        next_step="find out where the model overflows",
    )


_ROUNDED = 0.001
"""So much may be missing from the sum of probabilities that were written with three decimals or more."""


def _check_sums(con: duckdb.DuckDBPyConnection, typed: ScoringTable, names: list[str]) -> list[str]:
    if not names:
        return []
    total = " + ".join(names)
    count, first = first_rows(
        con, f"select {row_text()} || ': ' || round({total}, 6) from {typed} where abs({total} - 1) > {_ROUNDED}"
    )
    return [f"{count:,} distributions do not sum to 1 and are used as they are: {'; '.join(first)}"] if count else []


def _check_labels(con: duckdb.DuckDBPyConnection, task: ScoredTask, typed: ScoringTable, *, unknown: str) -> list[str]:
    """Refuse undeclared labels, or say that they count as wrong; near ones are named, never repaired."""
    column = next((column.name for column in task.columns if column.name in ("label", "labels")), None)
    known = task.labels(con)
    if column is None or not known:
        return []
    each = "unnest(labels)" if column == "labels" else "label"
    others = con.execute(
        f"select label, count(*) as rows from (select {each} as label from {typed}) "
        "where label is not null and not list_contains(?::varchar[], label) group by label order by rows desc, label",
        [known],
    ).fetchall()
    if not others:
        return []
    shown = [_near(label, count, known) for label, count in others[:5]]
    if unknown == "stop":
        raise refusal(
            len(others),
            shown,
            f"labels that {task.name} does not have",
            expected=f"one of: {', '.join(known)}",
            next_step="write the labels as published, or count these as wrong with --unknown wrong",
        )
    total = sum(count for _, count in others)
    return [f"{total:,} labels that {task.name} does not have count as wrong: {'; '.join(shown)}"]


def _near(label: str, count: int, known: Iterable[str]) -> str:
    near = next((name for name in known if name.strip().casefold() == label.strip().casefold()), None)
    hint = f", near '{near}', which is another label" if near else ""
    shown = label if len(label) <= MOST_LETTERS else f"{label[:MOST_LETTERS]} ..."
    return f"'{shown}' ({rows_text(count)}{hint})"


def check_fingerprint(con: duckdb.DuckDBPyConnection, typed: ScoringTable, known: Iterable[str]) -> None:
    """Refuse predictions that carry the fingerprint of another split or build."""
    names = ", ".join(literal(fingerprint) for fingerprint in known)
    refuse(
        con,
        f"select distinct view_fingerprint from {typed} where view_fingerprint not in ({names})",
        "fingerprints of other examples: the predictions are of another split, or of another build",
        expected=f"one of: {names}",
        next_step="export the split again from this warehouse, and predict that",
    )
