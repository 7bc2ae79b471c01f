"""What rows say of their dialogue, and what the columns of the tables don't give back of rows and records."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.ingest.declared.rows import columns as row_columns
from talkhouse.ingest.declared.rows.frames import joined, members
from talkhouse.ingest.declared.rows.replies import TURN_INDEX
from talkhouse.ingest.declared.rows.spool import NUMBER
from talkhouse.ingest.declared.shapes import alias
from talkhouse.ingest.decode import pointer


class RowExtras:
    """The members of ``extra`` of some rows, column by column."""

    def __init__(self, rows: pl.DataFrame, columns: row_columns.RowColumns, *, is_csv: bool) -> None:
        self._rows, self._columns, self.is_csv = rows, columns, is_csv
        self._keepers = columns.keepers
        self._pieces = [rows["rest"]]

    def is_keeper(self, placeholder: row_columns.Placeholder) -> bool:
        """Whether a placeholder is the one that gives back its column's cells."""
        return any(self._keepers.get(name) == placeholder for name in self._columns.placeholders.get(placeholder, ()))

    def keep(self, placeholder: row_columns.Placeholder, where: pl.Series) -> None:
        """Keep the cells that columns don't restore; null is a cell only in CSV, an empty one."""
        if self.is_keeper(placeholder):
            is_cell = where if self.is_csv else where & self._rows[placeholder].is_not_null()
            if is_cell.any():
                self._pieces.append(self.members(placeholder, is_cell))

    def members(self, placeholder: row_columns.Placeholder, where: pl.Series) -> pl.Series:
        """Write the cells of a placeholder as members of an object where a mask says so, else null."""
        written = pl.DataFrame([self._keys(placeholder), self.literals(placeholder)])
        return written.select(pl.when(where).then(pl.concat_str("key", pl.lit(":"), "literal"))).to_series()

    def literals(self, placeholder: row_columns.Placeholder) -> pl.Series:
        """Return the cells of a placeholder as the JSON that the file has, or would have."""
        texts = self._rows[placeholder].fill_null("")
        literal = members({"x": texts}).str.strip_prefix('"x":').alias("literal")
        if "numbers" not in self._rows.columns:
            return literal
        is_number = (" " + self._rows["numbers"].fill_null("") + " ").str.contains(f" {placeholder} ", literal=True)
        return pl.select(pl.when(is_number).then(texts).otherwise(literal).alias("literal")).to_series()

    def _keys(self, placeholder: row_columns.Placeholder) -> pl.Series:
        keys = [msgspec.json.encode(alias(name)).decode() for name in self._columns.placeholders[placeholder]]
        if row_columns.filled_by(placeholder) not in self._rows.columns:
            return pl.repeat(keys[0], len(self._rows), eager=True).alias("key")
        known = dict(zip(self._columns.placeholders[placeholder], keys, strict=True))
        return self._rows[row_columns.filled_by(placeholder)].replace_strict(known, default=keys[0]).alias("key")

    def column(self, placeholder: row_columns.Placeholder, row: int) -> str:
        """Return the column of a placeholder in a row."""
        name = row_columns.filled_by(placeholder)
        key = self._rows[name][row] if name in self._rows.columns else None
        return key or self._columns.placeholders[placeholder][0]

    def path(self, placeholder: row_columns.Placeholder, row: int) -> JsonPath:
        """Return the path to the cell of a placeholder in a row."""
        return self._columns.path(placeholder, self.column(placeholder, row))

    def extra(self) -> pl.Series:
        """Return ``turns.extra``."""
        return "{" + joined(self._pieces, len(self._rows)) + "}"


_TIMES = row_columns.TimeColumns.of(row_columns.STARTED_AT)

OWNER = "owner"
"""The place of a row's dialogue among those of the frame."""


class Differing(NamedTuple):
    """A cell that says something else of the dialogue than the first that says something."""

    row: int
    placeholder: str
    literal: str
    is_contradiction: bool
    """Whether it says something at all: GF-18."""
    is_lost: bool
    """Whether nothing else has the cell."""


def facts_of(rows: pl.DataFrame, columns: row_columns.RowColumns) -> pl.DataFrame:
    """Return for each dialogue what its rows say of it, a column for each placeholder of dialogues."""
    missing = {label.placeholder: list(label.missing) for label in columns.labels}
    firsts = []
    for placeholder in columns.placeholders:
        if placeholder in row_columns.DIALOGUE_TEXTS or placeholder == row_columns.STARTED_AT:
            values = pl.col(_TIMES.value if placeholder == row_columns.STARTED_AT else placeholder)
        elif placeholder.startswith(row_columns.OF_DIALOGUE):
            values = pl.col(placeholder).filter(~pl.col(placeholder).is_in(missing[placeholder]))
        else:
            continue
        firsts.append(values.drop_nulls().first().alias(placeholder))
    return rows.group_by(NUMBER, maintain_order=True).agg(firsts)


def differing(
    rows: pl.DataFrame, facts: pl.DataFrame, columns: row_columns.RowColumns, extras: RowExtras, split: str
) -> Iterator[Differing]:
    """Find the cells that say something else than is known of their dialogue; ``split``: where no row says one."""
    nothing = {label.placeholder: label.missing for label in columns.labels} | {row_columns.SPLIT: (split,)}
    for placeholder in facts.columns:
        is_known = extras.is_keeper(placeholder) or placeholder in columns.inside or placeholder in columns.fallbacks
        if placeholder == NUMBER or not is_known:
            continue
        values = rows[_TIMES.value if placeholder == row_columns.STARTED_AT else placeholder]
        missing = nothing.get(placeholder, ())
        counting = facts[placeholder].fill_null(missing[0]) if missing and missing[0] else facts[placeholder]
        mask = values.ne_missing(counting.gather(rows[OWNER]))
        if placeholder == row_columns.STARTED_AT or not extras.is_csv:
            mask &= values.is_not_null()
        places = mask.arg_true()
        if len(places):
            literals = extras.literals(placeholder).gather(places)
            is_lost = extras.is_keeper(placeholder)
            for row, literal, value in zip(places, literals, values.gather(places), strict=True):
                is_said = value is not None and (placeholder == row_columns.SPLIT or value not in missing)
                yield Differing(row, placeholder, literal, is_said, is_lost)


_SAID = (row_columns.ID, row_columns.TEXT, row_columns.SPEAKER)
"""Holes of which the words of a dialogue are made, or its key: they are the same in each of its records."""


def record_extra(
    rows: pl.DataFrame,
    dialogues: pl.DataFrame,
    columns: row_columns.RowColumns,
    extras: RowExtras,
    differing: Iterable[Differing],
) -> pl.Series:
    """Return ``records.extra`` of dialogues; null where there is nothing to say."""
    differs: defaultdict[int, dict[str, Raw]] = defaultdict(dict)
    for cell in (cell for cell in differing if cell.is_lost):
        at = pointer(rows[TURN_INDEX][cell.row], extras.column(cell.placeholder, cell.row))
        differs[rows[OWNER][cell.row]][at] = Raw(cell.literal.encode())
    if not dialogues["is_same"].all():
        _restate(rows.filter(~rows["is_same"]), columns, differs, is_csv=extras.is_csv)
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
    rows: pl.DataFrame, columns: row_columns.RowColumns, differs: defaultdict[int, dict[str, Raw]], *, is_csv: bool
) -> None:
    """Note the whole rows of dialogues that an earlier record has, where they say anything else."""
    whole = RowExtras(rows, columns, is_csv=is_csv)
    everywhere = pl.repeat(True, len(rows), dtype=pl.Boolean, eager=True)
    for placeholder in columns.placeholders:
        if placeholder in rows.columns and placeholder not in (*_SAID, *columns.id_parts):
            where = everywhere
            if placeholder == row_columns.ROLE:
                where = ~rows["role.back"]
            elif (how := row_columns.TimeColumns.of(placeholder).how) in rows.columns:
                # Those that no column gives back are there already.
                where = rows[placeholder].is_null() | rows[how].is_not_null()
            whole.keep(placeholder, where)
    for owner, index, extra in zip(rows[OWNER], rows[TURN_INDEX], whole.extra(), strict=True):
        differs[owner][pointer(index)] = Raw((extra or "{}").encode())
