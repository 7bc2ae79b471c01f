"""What turns don't give back of a record: the lines of its rows, and where they say something else.

``differs`` has JSON pointers: ``/3/room`` is the cell of the fourth row that says otherwise than the first that says
something; ``/3`` is, of a dialogue that an earlier record has, all of the fourth row that its words don't say.
"""

from collections import defaultdict
from collections.abc import Iterable

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.rows.columns import ID, ROLE, SPEAKER, TEXT, TIMES, RowColumns
from talkhouse.ingest.declared.rows.facts import OWNER, Differing
from talkhouse.ingest.declared.rows.frames import HOW
from talkhouse.ingest.declared.rows.kept import Kept
from talkhouse.ingest.declared.rows.replies import TURN_INDEX
from talkhouse.ingest.decode import pointer

_SAID = (ID, TEXT, SPEAKER)
"""Holes of which the words of a dialogue are made, or its key: they are the same in each of its records."""


def record_extra(
    rows: pl.DataFrame, dialogues: pl.DataFrame, columns: RowColumns, kept: Kept, differing: Iterable[Differing]
) -> pl.Series:
    """Return ``records.extra`` of dialogues; null where there is nothing to say."""
    differs: defaultdict[int, dict[str, Raw]] = defaultdict(dict)
    for cell in (cell for cell in differing if cell.is_lost):
        at = pointer(rows[TURN_INDEX][cell.row], kept.column(cell.hole, cell.row))
        differs[rows[OWNER][cell.row]][at] = Raw(cell.literal.encode())
    if not dialogues["is_same"].all():
        _restate(rows.filter(~rows["is_same"]), columns, differs, is_csv=kept.is_csv)
    lines = pl.lit('"lines":[') + pl.col("lines").cast(pl.List(pl.String)).list.join(",") + "]"
    extra = dialogues.select(lines=lines)
    if differs:
        texts = [
            f'"differs":{msgspec.json.encode(differs[owner]).decode()}' if owner in differs else None
            for owner in range(len(dialogues))
        ]
        extra = extra.with_columns(pl.Series("differs", texts, pl.String))
    inner = extra.select(pl.concat_str(pl.all(), separator=",", ignore_nulls=True)).to_series()
    return pl.select(pl.when(inner != "").then("{" + inner + "}")).to_series()


def _restate(
    rows: pl.DataFrame, columns: RowColumns, differs: defaultdict[int, dict[str, Raw]], *, is_csv: bool
) -> None:
    """Note the whole rows of dialogues that an earlier record has, where they say anything else."""
    whole = Kept(rows, columns, is_csv=is_csv)
    everywhere = pl.repeat(True, len(rows), dtype=pl.Boolean, eager=True)
    for hole in columns.holes:
        if hole in rows.columns and hole not in _SAID:
            where = everywhere
            if hole == ROLE:
                where = ~rows["role.back"]
            elif hole in TIMES:  # those that no column gives back are there already
                where = rows[hole].is_null() | rows[hole + HOW].is_not_null()
            whole.keep(hole, where)
    for owner, index, extra in zip(rows[OWNER], rows[TURN_INDEX], whole.extra(), strict=True):
        differs[owner][pointer(index)] = Raw((extra or "{}").encode())
