"""The order of turns whose lines have none: what is answered before its answers, else by time, else by line."""

from collections import defaultdict
from heapq import heappop, heappush

import polars as pl

from talkhouse.ingest.declared.rows.columns import SAID_AT
from talkhouse.ingest.declared.rows.replies import TURN_INDEX, replies
from talkhouse.ingest.declared.rows.spool import NUMBER


def by_time(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort the turns of each dialogue in which all have a time."""
    time = f"{SAID_AT}.value"
    if time not in rows.columns:
        return rows
    is_known = pl.col(time).is_not_null().all().over(NUMBER)
    return rows.sort(NUMBER, pl.when(is_known).then(time), maintain_order=True)


def places_by_replies(rows: pl.DataFrame) -> pl.Series | None:
    """Return the places of numbered turns in which each is behind what it replies to; None where all are so."""
    targets = replies(rows).targets
    is_forward = targets > rows[TURN_INDEX]
    if not is_forward.any():
        return None
    turned = set(rows[NUMBER].filter(is_forward))
    places: list[int] = []
    for (number,), group in rows.select(NUMBER, target=targets).group_by(NUMBER, maintain_order=True):
        places += _places(group["target"].to_list()) if number in turned else range(len(group))
    return pl.Series("place", places, pl.Int32)


def _places(targets: list[int | None]) -> list[int]:
    """Return the place of each turn; they stay in their order but for those that have to wait."""
    answers = defaultdict[int | None, list[int]](list)
    for turn, target in enumerate(targets):
        answers[target].append(turn)
    free = answers[None]
    places: dict[int, int] = {}
    while free:
        turn = heappop(free)
        places[turn] = len(places)
        for answer in answers[turn]:
            heappush(free, answer)
    return [places[turn] for turn in range(len(targets))]
