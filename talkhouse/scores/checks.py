"""What no metric can take: wrong values, labels that nobody declared, the fingerprint of other examples."""

from collections.abc import Iterable

import duckdb

from talkhouse.schema.sql import literal, quoted
from talkhouse.scores.refusals import first_rows, refusal, refuse, row_text, rows_text
from talkhouse.scores.tasks import Task


def check_values(con: duckdb.DuckDBPyConnection, task: Task, *, unknown: str, as_printed: bool) -> list[str]:
    """Raise BadPredictions for values that no metric can take, and return what is only worth a warning."""
    warnings = []
    for column in task.columns:
        name = column.name
        is_unknown = name == "label" and (as_printed or unknown == "wrong")  # null is a label that nobody declared
        if not column.is_optional and not is_unknown:
            refuse(
                con,
                f"select {row_text()} from given where {quoted(name)} is null"
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
            count, first = first_rows(con, f"select {row_text()} from given where {name} < 0 or {name} > 1")
            if count:
                warnings.append(f"{count:,} values of {name} are not between 0 and 1: {'; '.join(first)}")
    if not as_printed:
        warnings += _check_sums(con, [one.name for one in task.columns if one.name.startswith("prob_")])
    warnings += _check_labels(con, task, unknown="wrong" if as_printed else unknown)
    odd = "select distinct warning from given where warning is not null order by all"
    for (warning,) in con.execute(odd).fetchall():
        count, first = first_rows(con, f"select {row_text()} from given where warning = {literal(warning)}")
        warnings.append(f"{rows_text(count)}: {warning}: {'; '.join(first)}")
    return warnings


def _refuse_numbers(con: duckdb.DuckDBPyConnection, condition: str, name: str) -> None:
    refuse(
        con,
        f"select {row_text()} from given where {condition}",
        f"rows whose '{name}' is or has what is not a finite number",
        expected="numbers; in scores, -Infinity for a candidate that was not ranked",
        next_step="find out where the model overflows",
    )


def _check_sums(con: duckdb.DuckDBPyConnection, names: list[str]) -> list[str]:
    if not names:
        return []
    total = " + ".join(names)
    count, first = first_rows(con, f"select {row_text()} || ': ' || ({total}) from given where abs({total} - 1) > 1e-6")
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
    if unknown == "stop":
        raise refusal(
            len(rows),
            shown,
            f"labels that {task.name} does not have",
            expected=f"one of: {', '.join(known)}",
            next_step="write the labels as published, or count these as wrong with --unknown wrong",
        )
    total = sum(count for _, count in rows)
    return [f"{total:,} labels that {task.name} does not have count as wrong: {'; '.join(shown)}"]


def _near(label: str, count: int, known: Iterable[str]) -> str:
    near = next((one for one in known if one.strip().casefold() == label.strip().casefold()), None)
    hint = f", near '{near}', which is another label" if near else ""
    return f"'{label}' ({rows_text(count)}{hint})"


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
