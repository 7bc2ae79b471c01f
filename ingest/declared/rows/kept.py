"""What the tables' columns don't give back of a row: members of its turn's ``extra``, under the file's names."""

import msgspec
import polars as pl

from talkhouse.ingest.declared.declaration.model import JsonPath
from talkhouse.ingest.declared.rows.columns import Hole, RowColumns
from talkhouse.ingest.declared.rows.frames import KEY, joined, members
from talkhouse.ingest.declared.shapes import alias


class Kept:
    """The members of ``extra`` of some rows, column by column."""

    def __init__(self, rows: pl.DataFrame, columns: RowColumns, *, is_csv: bool) -> None:
        self._rows, self._columns, self.is_csv = rows, columns, is_csv
        self._keepers = columns.keepers
        self._pieces = [rows["rest"]]

    def is_keeper(self, hole: Hole) -> bool:
        """Tell whether a hole is the one that gives back its column's cells."""
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
