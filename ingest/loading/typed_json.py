"""Decodes JSON objects of one type by DuckDB, and proves of each that its columns say all that its text does."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import duckdb
import msgspec
import polars as pl
from msgspec import Raw

from talkhouse.ingest.decode import decoder
from talkhouse.schema.guard import guard
from talkhouse.schema.sql import ArrowStream, literal, quoted

_SETTINGS = {"memory_limit": "500MB", "threads": "1", "temp_directory": ""}
"""Some megabytes of texts take a tenth of that."""

_LARGEST = 16_000_000
"""Bytes of a text that is decoded."""


MINUS_ZERO = r"-0\s*[,}\]]"
"""A whole number that is read as another, 0; a text that has this is taken for one."""


class Columns(NamedTuple):
    """What is asked of the objects: SQL by the names of columns. ``d`` is the object as a struct."""

    type: object
    """As ``from_json`` takes it: an object with the type of each member, a list of one type, or ``VARCHAR``, ``BIGINT``
    and ``JSON``. A number is no BIGINT unless it is written as one."""
    written: str
    """What the columns say, as JSON without blanks: an object is proven if that is its own text without blanks."""
    where: str
    """What else must be true of an object."""
    of_object: Mapping[str, str]
    items: str
    """A list of structs of each object, ``m``."""
    of_item: Mapping[str, str]


class Proven(NamedTuple):
    """The objects that are proven, in their order, and their items; ``n`` is the object's place among the texts."""

    objects: pl.DataFrame
    items: pl.DataFrame


_idle: "list[TypedJson]" = []


@contextmanager
def typed_json() -> Iterator["TypedJson"]:
    """Yield what decodes, perhaps what has decoded for another: one takes as long to make as a megabyte to decode."""
    typed = _idle.pop() if _idle else TypedJson()
    yield typed
    _idle.append(typed)


class TypedJson:
    """A database in memory that decodes; use it in one thread at a time."""

    def __init__(self) -> None:
        con = duckdb.connect()
        guard(con, _SETTINGS)
        self._con = con

    def decode(self, texts: Sequence[bytes], columns: Columns) -> Proven | None:
        """Decode texts, or return None if DuckDB can't decode such a type, or one of the texts.

        A text is proven if it is the same as what is written from the struct, both without blanks. That is blind where
        DuckDB's reader is lenient: those texts are left out before, and so are those that are not UTF-8.
        """
        lines = pl.DataFrame([pl.Series("r", map(_strict, texts), pl.String)]).with_row_index("n").drop_nulls()
        lines = lines.filter(~lines["r"].str.contains(MINUS_ZERO))
        self._con.register("texts", ArrowStream(lines))
        try:
            # Not in a where: DuckDB would decode anew for each condition there.
            self._con.execute(
                "create or replace temp table decoded as "
                f"select n, d, {columns.where} and json(r)::varchar = {columns.written} as is_proven from "
                f"(select n, r, from_json(r, {literal(msgspec.json.encode(columns.type).decode())}) as d from texts)"
            )
            return Proven(
                self._frame(f"select {_select({'n': 'n', **columns.of_object})} from decoded where is_proven"),
                self._frame(
                    f"select n, i, {_select(columns.of_item)} from (select n, unnest({columns.items}) as m, "
                    f"(generate_subscripts({columns.items}, 1) - 1)::integer as i from decoded where is_proven)"
                ),
            )
        except duckdb.Error:
            return None
        finally:
            self._con.unregister("texts")

    def _frame(self, query: str) -> pl.DataFrame:
        # As a stream: Polars keeps what else it is given until the process ends.
        return pl.DataFrame(ArrowStream(self._con.sql(query)))


def _strict(text: bytes) -> str | None:
    """Return a text that is JSON by its grammar, which has no comma before a closing bracket and no NaN."""
    try:
        decoder(Raw).decode(text)
        return text.decode() if len(text) <= _LARGEST else None
    except (ValueError, RecursionError):
        return None


def _select(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{sql} as {quoted(name)}" for name, sql in columns.items())
