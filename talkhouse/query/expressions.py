"""SQL expressions of a column as the formats want it: as text, a cell of CSV, JSON, or a type that Parquet has."""

from collections.abc import Iterable
from typing import NamedTuple

from schema.sql import literal

_NESTED = ("[", "STRUCT", "MAP", "UNION")

_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "DOUBLE",
    "FLOAT",
    "DECIMAL",
)
"""Types that Arrow writes without quotes and exactly."""

_STORED_AS = {
    "HUGEINT": "double",
    "UHUGEINT": "double",
    "BIT": "varchar",
    "INTERVAL": "varchar",
    "TIME WITH TIME ZONE": "varchar",
}
"""Types that Parquet has not; a sum of integers is a HUGEINT, which DuckDB's own writer makes a double too."""


class Column(NamedTuple):
    """A column of a query, and SQL expressions of its value."""

    name: str
    """What expressions call it: the query may name two columns alike, or one "default"."""
    type: str
    title: str
    """Its name in the query."""
    key: str
    """The same, made unique where the query names two columns alike."""

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.type.startswith((*_NUMBERS, "HUGEINT", "UHUGEINT")) and not self._is_nested

    @property
    def _is_nested(self) -> bool:
        return any(word in self.type for word in _NESTED)

    def as_text(self) -> str:
        """Return its value as text: JSON for lists and structs, DuckDB's spelling for the rest."""
        return f"to_json({self.name})::varchar" if self._is_nested else f"{self.name}::varchar"

    def as_cell(self) -> str:
        """Return its value as a cell of CSV: numbers and truth values as they are, text for the rest."""
        is_plain = self.type.startswith((*_NUMBERS, "BOOLEAN")) and not self._is_nested
        return self.name if is_plain else self.as_text()

    def as_stored(self) -> str:
        """Return its value as a type that Parquet has."""
        return f"{self.name}::{_STORED_AS[self.type]}" if self.type in _STORED_AS else self.name

    def as_json(self) -> str:
        """Return its value as JSON; SQL's null where it is null."""
        if self.type == "JSON":
            # Line ends are blanks between its parts: inside a text JSON has them escaped.
            return rf"translate({self.name}::varchar, e'\n\r', '  ')"
        if self.type in ("DOUBLE", "FLOAT"):
            # JSON has no NaN and no infinity.
            return f"case when isfinite({self.name}) then to_json({self.name})::varchar end"
        return f"to_json({self.name})::varchar"


def json_object(columns: Iterable[Column]) -> str:
    """Return a row as a JSON object; not by ``to_json`` of the row, which rewrites the numbers in JSON columns."""
    members = [
        f"to_json({literal(column.key)})::varchar || ':' || coalesce({column.as_json()}, 'null')" for column in columns
    ]
    return "'{' || " + " || ',' || ".join(members) + " || '}'"
