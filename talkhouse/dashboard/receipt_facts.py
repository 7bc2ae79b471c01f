"""What a receipt says: how many rows a number is made of, their source files, and a sentence to cite."""

from dataclasses import dataclass, field

import polars as pl

from talkhouse.citation.formats import text
from talkhouse.citation.work import citations, software
from talkhouse.dashboard.tables import counted
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.query.rows_behind import rows_behind
from talkhouse.query.sources import key_of, owner
from talkhouse.schema.errors import NotAWarehouse
from talkhouse.schema.sql import literal
from talkhouse.warehouse import build_facts

_FIRST = 5
"""Rows that a receipt shows."""

_SOURCES = """
select record_id, source_file_id as path, source_pointer, sha256
from bi.provenance
where record_id in ({records})
order by record_id
"""


@dataclass(frozen=True)
class Facts:
    """What is known of a number."""

    citation: str
    rows_sql: str | None = None
    """The query of the rows that it is made of; None where its own query tells no more."""
    count: int = 0
    first: pl.DataFrame = field(default_factory=pl.DataFrame)
    sources: pl.DataFrame = field(default_factory=pl.DataFrame)
    """The files and places of the first rows, where these are of records."""


def of(opened: Warehouse, title: str, sql: str, number: str = "") -> Facts:
    """Return what is known of what a query gives; raises duckdb.Error where it fails."""
    with opened.connection() as con:
        rows_sql = rows_behind(con, sql)
    number = number or _only_value(opened.rows(sql))
    if rows_sql is None:
        return Facts(_citation(opened, title, number, "", [], []))
    first = opened.rows(f"select * from ({rows_sql}) limit {_FIRST}")
    count = int(opened.rows(f"select count(*) from ({rows_sql})").item())
    key = key_of(first.columns)
    corpora = _values(opened, owner(key), rows_sql) if key else []
    releases = _values(opened, "release", rows_sql) if "release" in first.columns else []
    sources = _sources(opened, first["record_id"]) if "record_id" in first.columns else pl.DataFrame()
    return Facts(
        _citation(opened, title, number, counted(count), corpora, releases), rows_sql, count, _texts(first), sources
    )


def _only_value(rows: pl.DataFrame) -> str:
    """Return the number of a query that gives just one, exact."""
    return str(rows.item()) if rows.shape == (1, 1) else ""


def _values(opened: Warehouse, expression: str, rows_sql: str) -> list[str]:
    """Return the different values of an expression over rows."""
    rows = opened.rows(f"select distinct {expression} from ({rows_sql}) order by all")
    return [str(value) for value in rows.to_series().drop_nulls()]


def _sources(opened: Warehouse, records: pl.Series) -> pl.DataFrame:
    names = [str(record) for record in records.drop_nulls().unique(maintain_order=True)]
    return opened.rows(_SOURCES.format(records=", ".join(map(literal, names)))) if names else pl.DataFrame()


def _texts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows whose nested values are texts, which every table can draw."""
    nested = [name for name, kind in rows.schema.items() if kind.is_nested()]
    return rows.with_columns(rows[name].map_elements(str, pl.String) for name in nested)


def _citation(
    opened: Warehouse, title: str, number: str, counted_rows: str, corpora: list[str], releases: list[str]
) -> str:
    """Return a sentence with the number and what it is of, then those who published the data, and Talkhouse."""
    parts = [
        f"corpora {', '.join(corpora)}" if corpora else "",
        f"releases {', '.join(releases)}" if releases else "",
        counted_rows,
    ]
    made_of = "; ".join(part for part in parts if part)
    sentence = title + (f": {number}" if number else "") + (f" ({made_of})" if made_of else "") + "."
    with opened.connection() as con:
        ((database,),) = con.execute("select current_database()").fetchall()
        build = build_facts.build(con, str(database))
        if build is None:
            raise NotAWarehouse("the warehouse does not say which build made it", where=opened.version.path)
        published = text(citations(con, str(database), corpora))
    talkhouse = f"{software(build).text} Build {build['load_id']}."
    return f"{sentence}\n{published}{talkhouse}"
