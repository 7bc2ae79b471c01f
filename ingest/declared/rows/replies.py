"""Replies by the ids of turns: which turn of the dialogue is meant."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from talkhouse.ingest.declared.rows.columns import REPLY_TO, TURN_ID
from talkhouse.ingest.declared.rows.spool import NUMBER

TURN_INDEX = "turn_index"


class Replies(NamedTuple):
    """The replies of some rows."""

    targets: pl.Series
    """The index of the turn that is replied to, or null."""
    repeated: pl.Series
    """Row numbers of turns with an id that an earlier turn of the dialogue has."""
    lost: pl.Series
    """Whether a reply is to no turn that is there."""
    looped: pl.Series
    """Whether it is to one that replies to it in the end."""


def replies(rows: pl.DataFrame) -> Replies:
    """Look up the turns that turns reply to; a turn without an id of its own is known by its index."""
    height = len(rows)
    own = pl.col(TURN_ID) if TURN_ID in rows.columns else pl.col(TURN_INDEX).cast(pl.String)
    ids = rows.select(NUMBER, TURN_INDEX, id=own)
    is_first = ids.select(pl.struct(NUMBER, "id").is_first_distinct()).to_series()
    is_repeated = ~is_first & ids["id"].is_not_null()
    nothing = pl.repeat(False, height, dtype=pl.Boolean, eager=True)
    if REPLY_TO not in rows.columns:
        none = pl.repeat(None, height, dtype=pl.Int32, eager=True)
        return Replies(none, is_repeated.arg_true(), nothing, nothing)
    firsts = ids.filter(is_first & ids["id"].is_not_null())
    asked = rows.select(NUMBER, TURN_INDEX, id=REPLY_TO)
    targets = asked.join(firsts, on=[NUMBER, "id"], how="left", maintain_order="left")[f"{TURN_INDEX}_right"]
    lost = asked["id"].is_not_null() & targets.is_null()
    looped = nothing
    forward = (targets >= rows[TURN_INDEX]).fill_null(value=False)
    if forward.any():
        looped = pl.Series(list(_looped(rows, targets, forward)), dtype=pl.Boolean)
        targets = pl.select(pl.when(~looped).then(targets)).to_series()
    return Replies(targets.cast(pl.Int32), is_repeated.arg_true(), lost, looped)


def _looped(rows: pl.DataFrame, targets: pl.Series, forward: pl.Series) -> Iterator[bool]:
    """Tell of each row whether its reply is part of a loop, which has some reply to a later turn."""
    suspects = set(rows[NUMBER].filter(forward))
    frame = rows.select(NUMBER).with_columns(target=targets)
    for (number,), group in frame.group_by(NUMBER, maintain_order=True):
        if number not in suspects:
            yield from [False] * len(group)
            continue
        replied = group["target"].to_list()
        yield from _in_loops(replied)


def _in_loops(targets: list[int | None]) -> list[bool]:
    """Find the turns from which following the replies leads back to them, in time that grows with their number."""
    in_loop = [False] * len(targets)
    seen_from = [-1] * len(targets)
    for start in range(len(targets)):
        turn: int | None = start
        while turn is not None and seen_from[turn] < 0:
            seen_from[turn] = start
            turn = targets[turn]
        if turn is not None and seen_from[turn] == start:
            while turn is not None and not in_loop[turn]:
                in_loop[turn] = True
                turn = targets[turn]
    return in_loop
