"""Rows as frames: a column for each hole, and one of what no hole takes, as the members of a JSON object.

Columns of a frame: ``line`` (of the file, from 0), the holes as texts (null: nothing is said), times as times,
``rest`` (the members that go to ``extra``, without the braces), and of JSON rows ``numbers``: the holes whose cell is a
literal, not a string.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import msgspec
import polars as pl

from talkhouse.ingest.declared.times import read_times
from talkhouse.ingest.outcomes import ReaderFinding

HOW = ".how"
"""Behind the name of a time: how the file writes it, for findings null where the column is null."""

BAD_TIME = ".bad"
"""Behind the name of a time: its text where it has another form than declared."""

KEY = ".key"
"""Behind the name of a hole that several columns may fill: the one that does."""

RAW = "raw"
"""The row itself, where it may have to go to the quarantine alone."""

GIVEN = "given"
"""Labels inside a row, as JSON."""


class RowFrames(Protocol):
    """A file as frames: iterate it once; BadRecord where the file is to be refused."""

    is_csv: bool
    findings: list[ReaderFinding]
    """What was found in labels inside of rows; known when they were read."""

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in order."""

    @property
    def envelope(self) -> dict[str, Any]:
        """What the file is beside its rows, once they were read."""


def times(texts: pl.Series, form: str) -> list[pl.Series]:
    """Read a column of times: the values, how each is written, and the texts of another form."""
    read = read_times(texts, form)
    names = {"value": f"{texts.name}.value", "how": texts.name + HOW, "bad": texts.name + BAD_TIME}
    return [read[column].alias(name) for column, name in names.items()]


def said(texts: pl.Series) -> pl.Series:
    """Take an empty cell for one that says nothing."""
    return pl.select(pl.when(texts != "").then(texts)).to_series()


def members(texts: Mapping[str, pl.Series]) -> pl.Series:
    """Write columns of texts as the members of JSON objects, without their braces; one may have the empty name."""
    objects = pl.DataFrame(dict(texts)).select(
        pl.struct(pl.all()).struct.json_encode().str.slice(1).str.strip_suffix("}")
    )
    return objects.to_series()


def member(key: str, texts: pl.Series, where: pl.Series) -> pl.Series:
    """Write texts as members of this key, where that is needed; else null."""
    if not where.any():
        return pl.Series([None] * len(texts), dtype=pl.String)
    written = members({key: texts.fill_null("")})
    return pl.select(pl.when(where).then(written)).to_series()


def joined(pieces: list[pl.Series], height: int) -> pl.Series:
    """Join members; null where there are none."""
    named = pl.DataFrame([piece.alias(str(number)) for number, piece in enumerate(pieces)])
    if not named.width:
        return pl.Series([None] * height, dtype=pl.String)
    text = pl.concat_str(pl.all(), separator=",", ignore_nulls=True)
    return named.select(pl.when(text != "").then(text)).to_series()


def shape_member(number: int | Mapping[str, Any]) -> str | None:
    """Write the number of a shape as a member of ``extra``; None for the usual one, which is left out."""
    return None if number == 0 else '"shape":' + msgspec.json.encode(number).decode()
