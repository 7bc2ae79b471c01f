"""Headlines: what was found, said in sentences with numbers that declared queries give."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from string import Formatter
from typing import Any

import duckdb
import polars as pl

from talkhouse.charts.declarations import DeclaredDashboard
from talkhouse.charts.declared import Headline, NumberFormat
from talkhouse.charts.fields import Rows, frame, number
from talkhouse.charts.query import broken_headline, sql_of_headline
from talkhouse.queries.files import Files


@dataclass(frozen=True)
class FilledHeadline:
    """A headline as it is said, and where it can be read."""

    parts: tuple[tuple[str, bool], ...]
    """The sentence in pieces; true marks a value of the row, which may be text of a corpus."""
    sql: str
    dialogue_id: str | None = None
    turn_index: int | None = None
    record_id: str | None = None
    link: str = ""
    """The page that it leads to, where it has no place."""

    @property
    def text(self) -> str:
        """The sentence."""
        return "".join(text for text, _ in self.parts)


def headlines(
    con: duckdb.DuckDBPyConnection, declared: DeclaredDashboard, files: Files | None = None
) -> list[FilledHeadline]:
    """Return the sentences of a dashboard that have something to say; CatalogueError names file and line of another."""
    return [found for one in declared.dashboard.headlines if (found := fill(partial(frame, con), one, files))]


def fill(rows: Rows, headline: Headline, files: Files | None = None) -> FilledHeadline | None:
    """Return what a headline says, by any way to run its query; None where it has nothing to say."""
    with sql_of_headline(headline, files):
        result = rows(headline.sql)
    if result.height > 1:
        raise broken_headline(headline, f"{result.height:,} rows", "a query of one row", files)
    for column, how in headline.named:
        if column not in result.columns or (how and not _are_numbers(result[column])):
            expected = f"a column {column}" + (" of numbers" if how else "")
            raise broken_headline(headline, f"the columns {', '.join(result.columns)}", expected, files)
    if result.is_empty():
        return None
    row = result.to_dicts()[0]
    if any(row[column] is None for column, _ in headline.named):
        return None
    places = {name: row.get(name) for name in ("dialogue_id", "turn_index", "record_id")}
    return FilledHeadline(tuple(_parts(headline, row)), headline.sql, link=headline.link, **places)


def _are_numbers(values: pl.Series) -> bool:
    return values.dtype.is_numeric() or values.dtype == pl.Null


def _parts(headline: Headline, row: Mapping[str, Any]) -> Iterable[tuple[str, bool]]:
    for text, column, how, _ in Formatter().parse(headline.sentence):
        if text:
            yield text, False
        if column is not None:
            yield _written(row[column], how or ""), True


def _written(value: Any, how: str) -> str:
    return number(value, NumberFormat(how)) if how else str(value)
