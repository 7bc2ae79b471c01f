"""What rows say of their dialogue: the first that says something counts; what others say otherwise is kept."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from talkhouse.ingest.declared.rows.columns import DIALOGUE_TEXTS, OF_DIALOGUE, SPLIT, STARTED_AT, RowColumns
from talkhouse.ingest.declared.rows.kept import Kept
from talkhouse.ingest.declared.rows.spool import NUMBER

OWNER = "owner"
"""The place of a row's dialogue among those of the frame."""


class Differing(NamedTuple):
    """A cell that says something else of the dialogue than the first that says something."""

    row: int
    hole: str
    literal: str
    is_contradiction: bool
    """Whether it says something at all: GF-18."""
    is_lost: bool
    """Whether nothing else has the cell."""


def facts_of(rows: pl.DataFrame, columns: RowColumns) -> pl.DataFrame:
    """Return for each dialogue what its rows say of it, a column for each hole of dialogues."""
    missing = {label.hole: list(label.missing) for label in columns.labels}
    firsts = []
    for hole in columns.holes:
        if hole in DIALOGUE_TEXTS or hole == STARTED_AT:
            said = pl.col(f"{hole}.value" if hole == STARTED_AT else hole)
        elif hole.startswith(OF_DIALOGUE):
            said = pl.col(hole).filter(~pl.col(hole).is_in(missing[hole]))
        else:
            continue
        firsts.append(said.drop_nulls().first().alias(hole))
    return rows.group_by(NUMBER, maintain_order=True).agg(firsts)


def differing(
    rows: pl.DataFrame, facts: pl.DataFrame, columns: RowColumns, kept: Kept, split: str
) -> Iterator[Differing]:
    """Find the cells that say something else than is known of their dialogue; ``split``: where no row says one."""
    nothing = {label.hole: label.missing for label in columns.labels} | {SPLIT: (split,)}
    for hole in facts.columns:
        if hole == NUMBER or not (kept.is_keeper(hole) or hole in columns.inside):
            continue
        values = rows[f"{hole}.value" if hole == STARTED_AT else hole]
        missing = nothing.get(hole, ())
        counting = facts[hole].fill_null(missing[0]) if missing and missing[0] else facts[hole]
        mask = values.ne_missing(counting.gather(rows[OWNER]))
        if hole == STARTED_AT or not kept.is_csv:
            mask &= values.is_not_null()
        places = mask.arg_true()
        if len(places):
            literals = kept.literals(hole).gather(places)
            is_lost = kept.is_keeper(hole)
            for row, literal, value in zip(places, literals, values.gather(places), strict=True):
                is_said = value is not None and (hole == SPLIT or value not in missing)
                yield Differing(row, hole, literal, is_said, is_lost)
