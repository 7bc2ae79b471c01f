"""Metrics of resamples, each by the metric's own formula over the rows that were drawn.

Rows are drawn by the dialogue, since turns of one dialogue are not independent; a row without a dialogue by its record.
A mean or share adds up from what its dialogues have; any other metric is computed by its SQL from the rows themselves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import duckdb

from talkhouse.scores.metrics import Metric, metrics
from talkhouse.scores.tasks import Task

SEED = 20_171_101
RESAMPLES = 1_000

DIALOGUE = "coalesce('dialogue ' || dialogue_id, 'record ' || record_id)"
"""SQL: what the rows of ``scored`` are drawn by."""

_AT_ONCE = 2_000_000
"""Rows that are drawn before the metrics of their resamples are computed."""

Values = dict[str, list[float | None]]
"""By the name of a metric, its value in each resample."""


@dataclass(frozen=True)
class Drawable:
    """The table ``drawable``: rows of ``scored`` with their ``part``, the rows of one dialogue in one run."""

    runs: int
    dialogues: int
    step: int
    """Resamples that are drawn at once."""
    others: Task
    """The task with those of its metrics alone that are no means, and what stands in one file with them."""


def create_drawable(con: duckdb.DuckDBPyConnection, task: Task, runs: Sequence[str]) -> Drawable:
    """Create ``drawable`` from queries with the columns of ``scored``, one for each run of the same examples."""
    each = [f"select {run}::bigint as part, * from ({sql})" for run, sql in enumerate(runs)]
    dialogue = f"(dense_rank() over (order by {DIALOGUE}) - 1)"
    con.execute(
        f"create or replace temp table drawable as select * replace ({dialogue} * {len(runs)} + part as part) "
        f"from ({' union all by name '.join(each)})"
    )
    ((rows, parts),) = con.execute("select count(*), coalesce(max(part) + 1, 0) from drawable").fetchall()
    _create_sums(con, task)
    every = "select null as slice, * from drawable"
    others = [one for one in task.summaries if not _is_additive(metrics(con, replace(task, summaries=(one,)), every))]
    step = max(1, _AT_ONCE // max(1, rows))
    return Drawable(len(runs), parts // len(runs), step, replace(task, summaries=tuple(others)))


def _is_additive(numbers: list[Metric]) -> bool:
    return all(one.is_mean or one.is_count for one in numbers)


def _create_sums(con: duckdb.DuckDBPyConnection, task: Task) -> None:
    """Create ``sums``: of each mean, numerators and denominators by the kind of a part.

    Parts in which all means have the same values are of one kind, in ``kinds``: 100,000 lists may have 51 ranks.
    """
    con.execute("create or replace temp view sliced as select part as slice, * exclude (part) from drawable")
    each = " union all ".join(
        f"select slice as part, unnest(results, recursive := true) from ({one.sql})" for one in task.summaries
    )
    con.execute(
        # A file may name a metric twice, such as recall at 1 and at a tenth of 10 candidates.
        "create or replace temp table of_part as select distinct on (part, name) part, name, "
        "count is not null as is_share, coalesce(count, value * of, 0)::double as numerator, of::double as denominator "
        f"from ({each}) where is_mean"
    )
    con.execute(
        "create or replace temp table kinds as select part, dense_rank() over (order by means) - 1 as kind from "
        "(select part, list((name, numerator, denominator) order by name) as means from of_part group by part)"
    )
    con.execute(
        """
        create or replace temp table sums as
        select
            names.name,
            names.is_share,
            list(coalesce(numerator, 0) order by kind) as numerators,
            list(coalesce(denominator, 0) order by kind) as denominators,
            list((of_part.part is not null)::integer::double order by kind) as presences,
        from (select distinct name, is_share from of_part) as names
        cross join (select kind, min(part) as part from kinds group by kind) as firsts
        left join of_part on of_part.part = firsts.part and of_part.name = names.name
        group by names.name, names.is_share
        """
    )


def bootstrap(con: duckdb.DuckDBPyConnection, of: Drawable) -> list[Values]:
    """Draw as many dialogues as there are, with replacement; return the values of each run over the same dialogues.

    There are none where all resamples would be the same: with one dialogue.
    """
    if of.dialogues < 2:
        return [{} for _ in range(of.runs)]
    # Twice: one hash of several values is an exclusive or, which only renames the dialogues where there are 2 ** n.
    number = f"(hash(hash({SEED}, resample, place)) % {of.dialogues})::bigint"
    return _values(con, of, f"{number} * {of.runs} + run")


def shuffled(con: duckdb.DuckDBPyConnection, of: Drawable) -> list[Values]:
    """Swap each dialogue between two runs, or not, by the toss of a coin; return the values of both."""
    coin = f"(hash(hash({SEED}, 'swap', resample, place)) % 2)::bigint"
    return _values(con, of, f"place * 2 + (run + {coin}) % 2")


def _values(con: duckdb.DuckDBPyConnection, of: Drawable, part: str) -> list[Values]:
    """Return by run the values of all resamples; ``part`` is the SQL of what is drawn at a place of a resample."""
    found: list[Values] = [{} for _ in range(of.runs)]
    for first in range(0, RESAMPLES, of.step):
        last = min(RESAMPLES, first + of.step)
        con.execute(
            f"create or replace temp table drawn as select resample * {of.runs} + run as sample, {part} as part, place "
            f"from range({first}, {last}) as r(resample) cross join range({of.dialogues}) as p(place) "
            f"cross join range({of.runs}) as t(run)"
        )
        for name, sample, value in (*_means(con, first * of.runs, last * of.runs), *_others(con, of)):
            found[sample % of.runs].setdefault(name, [None] * RESAMPLES)[sample // of.runs] = value
    return found


def _means(con: duckdb.DuckDBPyConnection, first: int, last: int) -> list[tuple[str, int, float | None]]:
    """Return the means of the resamples that are drawn: name, number, value."""
    return con.execute(
        f"""
        with
        counts as (select sample, kind, count(*) as times from drawn inner join kinds using (part) group by all),
        weights as (
            select sample, list(coalesce(times, 0)::double order by kind) as times,
            from range({first}, {last}) as s(sample)
            cross join (select distinct kind from kinds) as every
            left join counts using (sample, kind)
            group by sample
        )
        select
            name,
            sample,
            case
                when not is_share then list_inner_product(times, numerators) / nullif(total, 0)
                when list_inner_product(times, numerators) > 0 then list_inner_product(times, numerators) / total
                when list_inner_product(times, presences) > 0 then 0
            end,
        from (select *, list_inner_product(times, denominators) as total from weights cross join sums)
        """
    ).fetchall()


def _others(con: duckdb.DuckDBPyConnection, of: Drawable) -> Iterator[tuple[str, int, float | None]]:
    """Yield the metrics that are no means. A dialogue that is drawn twice is two, each named by its place."""
    if not of.others.summaries:
        return
    rows = (
        "select sample as slice, drawable.* exclude (part) "
        "replace (case when dialogue_id is not null then place end as dialogue_id) "
        "from drawn inner join drawable using (part)"
    )
    # Slices are numbers here, which are grouped much faster than texts.
    for one in metrics(con, of.others, rows):
        if not one.is_mean and not one.is_count:
            yield one.name, int(one.slice or 0), one.value
