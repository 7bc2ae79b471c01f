"""What rows say of their dialogue, and what the columns of the tables don't give back of rows and records."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.ingest.declared.rows.columns import (
    DIALOGUE_TEXTS,
    ID,
    OF_DIALOGUE,
    ROLE,
    SPEAKER,
    SPLIT,
    STARTED_AT,
    TEXT,
    TIMES,
    Hole,
    RowColumns,
)
from talkhouse.ingest.declared.rows.frames import HOW, KEY, joined, members
from talkhouse.ingest.declared.rows.replies import TURN_INDEX
from talkhouse.ingest.declared.rows.spool import NUMBER
from talkhouse.ingest.declared.shapes import alias
from talkhouse.ingest.decode import pointer


class Kept:
    """The members of ``extra`` of some rows, column by column."""

    def __init__(self, rows: pl.DataFrame, columns: RowColumns, *, is_csv: bool) -> None:
        self._rows, self._columns, self.is_csv = rows, columns, is_csv
        self._keepers = columns.keepers
        self._pieces = [rows["rest"]]

    def is_keeper(self, hole: Hole) -> bool:
        """Whether a hole is the one that gives back its column's cells."""
        return any(self._keepers.get(name) == hole for name in self._columns.holes.get(hole, ()))

    def keep(self, hole: Hole, where: pl.Series) -> None:
        """Keep the cells of a hole where columns don't give them back; null is a cell only in CSV, an empty one."""
        if self.is_keeper(hole):
            is_cell = where if self.is_csv else where & self._rows[hole].is_not_null()
            if is_cell.any():
                self._pieces.append(self.members(hole, is_cell))

    def members(self, hole: Hole, where: pl.Series) -> pl.Series:
        """Write the cells of a hole as members of an object where a mask says so, else null."""
        written = pl.DataFrame([self._keys(hole), self.literals(hole)])
        return written.select(pl.when(where).then(pl.concat_str("key", pl.lit(":"), "literal"))).to_series()

    def literals(self, hole: Hole) -> pl.Series:
        """Return the cells of a hole as the JSON that the file has, or would have."""
        texts = self._rows[hole].fill_null("")
        literal = members({"x": texts}).str.strip_prefix('"x":').alias("literal")
        if "numbers" not in self._rows.columns:
            return literal
        is_number = (" " + self._rows["numbers"].fill_null("") + " ").str.contains(f" {hole} ", literal=True)
        return pl.select(pl.when(is_number).then(texts).otherwise(literal).alias("literal")).to_series()

    def _keys(self, hole: Hole) -> pl.Series:
        keys = [msgspec.json.encode(alias(name)).decode() for name in self._columns.holes[hole]]
        if hole + KEY not in self._rows.columns:
            return pl.repeat(keys[0], len(self._rows), eager=True).alias("key")
        known = dict(zip(self._columns.holes[hole], keys, strict=True))
        return self._rows[hole + KEY].replace_strict(known, default=keys[0]).alias("key")

    def column(self, hole: Hole, row: int) -> str:
        """Return the column of a hole in a row."""
        key = self._rows[hole + KEY][row] if hole + KEY in self._rows.columns else None
        return key or self._columns.holes[hole][0]

    def path(self, hole: Hole, row: int) -> JsonPath:
        """Return where a row has the cell of a hole."""
        return self._columns.path(hole, self.column(hole, row))

    def extra(self) -> pl.Series:
        """Return ``turns.extra``."""
        return "{" + joined(self._pieces, len(self._rows)) + "}"


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
