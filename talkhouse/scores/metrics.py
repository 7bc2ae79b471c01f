"""What each example scores, and the metrics over it: the SQL of a task."""

from dataclasses import dataclass

import duckdb

from talkhouse.scores import bleu
from talkhouse.scores.refusals import refuse
from talkhouse.scores.tasks import Task

ALL = "select null::varchar as slice, * from scored"
"""All that was scored, as one slice."""


@dataclass(frozen=True)
class Metric:
    """A number, of all that was scored or of a slice."""

    name: str
    value: float | None
    official: bool
    """Whether it is what the publisher's own program gives."""
    slice: str | None
    """``column=value``; None for all."""
    best: float | None
    """The value if all ties were broken in favour of the prediction; None where nothing is tied."""
    worst: float | None
    count: int | None
    """Numerator of a share."""
    of: int | None
    """Denominator of a share; for a mean, how many examples have a value."""
    is_mean: bool
    """Whether it is a mean or a share: then numerators and denominators of parts add up."""
    threshold: float | None = None
    low: float | None = None
    """The ends of its interval; None where none was asked for, and for a count."""
    high: float | None = None

    @property
    def is_count(self) -> bool:
        """Whether it is a number that stands beside the metrics."""
        return self.of is None and self.count is not None


def set_threshold(con: duckdb.DuckDBPyConnection, threshold: float | None) -> None:
    """Let the SQL of a task see this threshold of its gold label."""
    if threshold is not None:
        con.execute(f"set variable threshold = {threshold!r}::double")


def score_at(con: duckdb.DuckDBPyConnection, wanted: Task, threshold: float | None) -> None:
    """Create ``scored``: what each example scores, from ``predicted``."""
    set_threshold(con, threshold)
    con.execute(f"create or replace temp table scored as {wanted.query.sql}")
    names = _columns(con)
    if "problem" in names:
        refuse(
            con,
            "select concat_ws(' ', release, split, 'example_index ' || example_index) || ': ' || problem "
            "from scored where problem is not null order by release, split, example_index",
            "predictions can't be scored",
            next_step="give what the task declares: see docs/scores.md",
        )
    if "guess" in names:
        bleu.add_columns(con)


def metrics(con: duckdb.DuckDBPyConnection, wanted: Task, sliced: str = ALL) -> list[Metric]:
    """Run the metrics of a task over a query of ``scored`` with a column ``slice``; null stands for all."""
    con.execute(f"create or replace temp view sliced as {sliced}")
    official = wanted.official
    found: dict[tuple[str | None, str], Metric] = {}
    for summary in wanted.summaries:
        for name, results in con.execute(f"from ({summary.sql}) order by slice").fetchall():
            for one in results:
                is_official = one["official"] and (official is None or one["name"] in official)
                found.setdefault((name, one["name"]), Metric(**one | {"slice": name, "official": is_official}))
    return list(found.values())


def tied(con: duckdb.DuckDBPyConnection) -> int:
    """Return how many examples have a candidate with the score of the right one."""
    if "tied" not in _columns(con):
        return 0
    return int(con.execute("select count_if(tied > 1) from scored").fetchall()[0][0])


def _columns(con: duckdb.DuckDBPyConnection) -> set[str]:
    return {row[0] for row in con.execute("describe scored").fetchall()}
