"""Replies by the ids of turns, and the order of turns: by their column, or what is answered before its answers."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from talkhouse.ingest.declared.parsed_dialogue import in_loops, places_behind
from talkhouse.ingest.declared.rows.columns import ORDER, REPLY_TO, SAID_AT, TURN_ID, RowColumns, TimeColumns
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
    own: pl.Series
    """Whether a turn names itself, as the first of a thread does in Slack: no reply."""


def replies(rows: pl.DataFrame) -> Replies:
    """Look up the turns that turns reply to; a turn without an id of its own is known by its index."""
    height = len(rows)
    nothing = pl.repeat(False, height, dtype=pl.Boolean, eager=True)
    none = pl.repeat(None, height, dtype=pl.Int32, eager=True)
    if TURN_ID not in rows.columns and REPLY_TO not in rows.columns:
        return Replies(none, nothing.arg_true(), nothing, nothing, nothing)
    own = pl.col(TURN_ID) if TURN_ID in rows.columns else pl.col(TURN_INDEX).cast(pl.String)
    ids = rows.select(NUMBER, TURN_INDEX, id=own)
    is_first = ids.select(pl.struct(NUMBER, "id").is_first_distinct()).to_series()
    is_repeated = ~is_first & ids["id"].is_not_null()
    if REPLY_TO not in rows.columns:
        return Replies(none, is_repeated.arg_true(), nothing, nothing, nothing)
    firsts = ids.filter(is_first & ids["id"].is_not_null())
    is_own = (rows[REPLY_TO] == ids["id"]).fill_null(value=False)
    asked = rows.select(NUMBER, TURN_INDEX, id=pl.when(~is_own).then(REPLY_TO))
    targets = asked.join(firsts, on=[NUMBER, "id"], how="left", maintain_order="left")[f"{TURN_INDEX}_right"]
    lost = asked["id"].is_not_null() & targets.is_null()
    looped = nothing
    forward = (targets >= rows[TURN_INDEX]).fill_null(value=False)
    if forward.any():
        places = targets - rows.select(pl.col(TURN_INDEX).first().over(NUMBER)).to_series()
        by_dialogue = rows.select(NUMBER, target=places).group_by(NUMBER, maintain_order=True)
        is_looped = (flag for _, turns in by_dialogue for flag in in_loops(turns["target"].to_list()))
        looped = pl.Series(list(is_looped), dtype=pl.Boolean)
        targets = pl.select(pl.when(~looped).then(targets)).to_series()
    return Replies(targets.cast(pl.Int32), is_repeated.arg_true(), lost, looped, is_own)


def by_time(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort the turns of each dialogue in which all have a time."""
    time = TimeColumns.of(SAID_AT).value
    if time not in rows.columns:
        return rows
    is_known = pl.col(time).is_not_null().all().over(NUMBER)
    return rows.sort(NUMBER, pl.when(is_known).then(time), maintain_order=True)


def places_by_replies(rows: pl.DataFrame) -> pl.Series | None:
    """Return the places of numbered turns so that each follows what it replies to, or None if all do already."""
    targets = replies(rows).targets
    is_forward = targets > rows[TURN_INDEX]
    if not is_forward.any():
        return None
    turned = set(rows[NUMBER].filter(is_forward))
    places: list[int] = []
    for (number,), group in rows.select(NUMBER, target=targets).group_by(NUMBER, maintain_order=True):
        places += places_behind(group["target"].to_list()) if number in turned else range(len(group))
    return pl.Series("place", places, pl.Int32)


VALUE, WHOLE = f"{ORDER}.value", f"{ORDER}.whole"
"""Columns of the places as numbers, and as whole numbers, which alone tell those above 2^53 apart."""


def with_order(frames: Iterator[pl.DataFrame], columns: RowColumns) -> Iterator[pl.DataFrame]:
    """Read the places, where there are some; null for one that is no number."""
    for frame in frames:
        if ORDER not in columns.placeholders:
            yield frame
            continue
        places = frame[ORDER].cast(pl.Float64, strict=False)
        places = pl.select(pl.when(places.is_finite()).then(places)).to_series()
        whole = frame[ORDER].cast(pl.Int64, strict=False)
        yield frame.with_columns(places.alias(VALUE), whole.alias(WHOLE))


def by_places(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort the turns of each dialogue in which all have a place."""
    if not rows[VALUE].has_nulls():
        return rows.sort(NUMBER, VALUE, WHOLE, maintain_order=True)
    is_known = pl.col(VALUE).is_not_null().all().over(NUMBER)
    keys = (pl.when(is_known).then(name) for name in (VALUE, WHOLE))
    return rows.sort(NUMBER, *keys, maintain_order=True)
