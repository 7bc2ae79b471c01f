"""95 % intervals of metrics by the percentile bootstrap."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import quantiles
from typing import Any

import duckdb

from talkhouse.schema.sql import literal
from talkhouse.scores.metrics import Metric
from talkhouse.scores.resampling import RESAMPLES, SEED, Values, bootstrap, create_drawable
from talkhouse.scores.tasks import Task

LEVEL = 0.95
_PARTS = 40
"""The first and last fortieth are left out."""


def with_intervals(con: duckdb.DuckDBPyConnection, task: Task, numbers: Sequence[Metric], sliced: str) -> list[Metric]:
    """Return metrics with the intervals of their values; ``sliced`` is the query that they are of."""
    con.execute(f"create or replace temp table whole as {sliced}")
    values = {part: _of_slice(con, task, part) for part in dict.fromkeys(one.slice for one in numbers)}
    found = []
    for one in numbers:
        low, high = interval(values[one.slice].get(one.name, []))
        found.append(replace(one, low=low, high=high))
    return found


def _of_slice(con: duckdb.DuckDBPyConnection, task: Task, part: str | None) -> Values:
    """Return the values of the resamples of a slice of ``whole``."""
    name = "null" if part is None else literal(part)
    rows = f"select * exclude (slice) from whole where slice is not distinct from {name}"
    (values,) = bootstrap(con, create_drawable(con, task, [rows]))
    return values


def described(dialogues: int) -> dict[str, Any]:
    """Say how intervals are made, for who reports them."""
    drawn = {"resamples": RESAMPLES, "seed": SEED, "unit": "dialogue", "units": dialogues}
    return {"level": LEVEL, "method": "percentile bootstrap", **drawn}


def interval(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return the ends of the middle 95 %, by linear interpolation; resamples without a value are left out."""
    known = [one for one in values if one is not None]
    if len(known) < 2:
        return None, None
    cuts = quantiles(known, n=_PARTS, method="inclusive")
    return cuts[0], cuts[-1]
