"""What no metric can take: wrong values, labels that nobody declared, the fingerprint of other examples."""

from collections.abc import Iterable

import duckdb

from talkhouse.schema.sql import literal, quoted
from talkhouse.scores.tasks.refusals import first_rows, refusal, refuse, row_text, rows_text
from talkhouse.scores.tasks.task import Task
from talkhouse.scores.tasks.workspace import Table


def check_values(
    con: duckdb.DuckDBPyConnection, task: Task, typed: Table, *, unknown: str, as_printed: bool
) -> list[str]:
    """Raise BadPredictions for values that no metric can take, and return what is only worth a warning."""
    warnings = []
    for column in task.columns:
        name = column.name
        is_unknown = name == "label" and (as_printed or unknown == "wrong")  # null is a label that nobody declared
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


def _refuse_numbers(con: duckdb.DuckDBPyConnection, typed: Table, condition: str, name: str) -> None:
    refuse(
        con,
        f"select {row_text()} from {typed} where {condition}",
        f"rows whose '{name}' is or has what is not a finite number",
        expected="numbers; in scores, -Infinity for a candidate that was not ranked",
        next_step="find out where the model overflows",
    )


def _check_sums(con: duckdb.DuckDBPyConnection, typed: Table, names: list[str]) -> list[str]:
    if not names:
        return []
    total = " + ".join(names)
    count, first = first_rows(
        con, f"select {row_text()} || ': ' || ({total}) from {typed} where abs({total} - 1) > 1e-6"
    )
    return [f"{count:,} distributions do not sum to 1 and are used as they are: {'; '.join(first)}"] if count else []


def _check_labels(con: duckdb.DuckDBPyConnection, task: Task, typed: Table, *, unknown: str) -> list[str]:
    """Refuse labels that nobody declared, or say that they count as wrong; near ones are named, never repaired."""
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
    return f"'{label}' ({rows_text(count)}{hint})"


def check_fingerprint(con: duckdb.DuckDBPyConnection, typed: Table, known: Iterable[str]) -> None:
    """Refuse predictions that carry the fingerprint of another split or build."""
    names = ", ".join(literal(fingerprint) for fingerprint in known)
    refuse(
        con,
        f"select distinct view_fingerprint from {typed} where view_fingerprint not in ({names})",
        "fingerprints of other examples: the predictions are of another split, or of another build",
        expected=f"one of: {names}",
        next_step="export the split again from this warehouse, and predict that",
    )
