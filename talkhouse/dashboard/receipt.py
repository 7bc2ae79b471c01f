"""The receipt of a number: the query that gives it, the rows behind it, and their sources."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl
import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from talkhouse.charts.fields import NOTHING, ChartField
from talkhouse.citation.formats import text
from talkhouse.citation.work import citations, software
from talkhouse.dashboard import errors, links
from talkhouse.dashboard.tables import cell_text, counted, draw_chosen, table_html
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.escaping import visible
from talkhouse.export.composition import key_of, owner, rows_behind
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
    """The facts about a number."""

    citation: str
    rows_sql: str | None = None
    """The query of the rows behind it; None: its own query."""
    count: int = 0
    first: pl.DataFrame = field(default_factory=pl.DataFrame)
    sources: pl.DataFrame = field(default_factory=pl.DataFrame)
    """The files and places of the first rows, if they are of records."""


def facts_of(opened: ServedWarehouse, title: str, sql: str, number: str = "") -> Facts:
    """Return the facts about a query's result; raises duckdb.Error if it fails."""
    rows_sql = rows_behind(sql)
    if not number and (rows := opened.rows(sql)).shape == (1, 1):
        number = str(rows.item())
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


def _values(opened: ServedWarehouse, expression: str, rows_sql: str) -> list[str]:
    """Return the different values of an expression over rows."""
    rows = opened.rows(f"select distinct {expression} from ({rows_sql}) order by all")
    return [str(value) for value in rows.to_series().drop_nulls()]


def _sources(opened: ServedWarehouse, records: pl.Series) -> pl.DataFrame:
    names = [str(record) for record in records.drop_nulls().unique(maintain_order=True)]
    return opened.rows(_SOURCES.format(records=", ".join(map(literal, names)))) if names else pl.DataFrame()


def _texts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows whose nested values are texts, which every table can draw."""
    nested = [name for name, kind in rows.schema.items() if kind.is_nested()]
    return rows.with_columns(rows[name].map_elements(str, pl.String) for name in nested)


def _citation(
    opened: ServedWarehouse, title: str, number: str, counted_rows: str, corpora: list[str], releases: list[str]
) -> str:
    """Return a sentence with the number and its title, then the publishers of the data, and Talkhouse."""
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


_TITLES = {"path": "File", "source_pointer": "Place in it", "sha256": "SHA-256", "record_id": "Record"}


@st.fragment
def draw(opened: ServedWarehouse, title: str, sql: str, *, number: str = "") -> None:
    """Draw the control that opens the receipt of a chart or number, which costs nothing until then.

    ``sql`` is the query that it shows, as run; ``number`` its formatted number, if it has one.
    """
    popover = _popover(widget_key(title, sql))
    if popover.open:
        with popover, errors.shown():
            _draw_opened(opened, title, sql, number)


@st.fragment
def draw_choice(opened: ServedWarehouse, queries: Mapping[str, str]) -> None:
    """Draw the control that opens the receipts of neighbouring numbers, one at a time; ``queries`` by title."""
    if not queries:
        return
    key = widget_key("", "\n".join(queries.values()))
    popover = _popover(key)
    if popover.open:
        with popover, errors.shown():
            titles = list(queries)
            title = titles[0]
            if len(titles) > 1:
                title = st.selectbox("Receipt of", titles, key=f"{key}_of", format_func=visible)
            _draw_opened(opened, title, queries[title], "")


def _popover(key: str) -> PopoverContainer:
    # By on_change, Streamlit runs what is inside when it is open, and of the page no more than this.
    return st.popover("Receipt", icon=":material/receipt_long:", type="tertiary", key=key, on_change="rerun")


def widget_key(title: str, sql: str) -> str:
    """Return Streamlit's key for the receipt with this title and query."""
    return "receipt_" + hashlib.sha256(f"{title}\n{sql}".encode()).hexdigest()[:16]


@st.fragment
def _draw_first(rows: pl.DataFrame) -> None:
    # By Arrow: of a Polars frame Streamlit makes a Pandas one.
    chosen = st.dataframe(
        rows.to_arrow(), hide_index=True, placeholder=NOTHING, on_select="rerun", selection_mode="single-cell"
    )
    columns = [ChartField(name, name) for name in rows.columns]
    draw_chosen(chosen, lambda index: {column.name: cell_text(rows[column.name][index], column) for column in columns})


def _draw_opened(opened: ServedWarehouse, title: str, sql: str, number: str) -> None:
    st.markdown(f"**{plain(title)}**")
    st.code(sql, language="sql", wrap_lines=True)
    st.link_button("Run it on the SQL page", links.sql(sql), icon=":material/database:")
    facts = facts_of(opened, title, sql, number)
    if facts.rows_sql:
        st.markdown(f"It is made of **{counted(facts.count)}**. The first {facts.first.height}:")
        st.code(facts.rows_sql, language="sql", wrap_lines=True)
        _draw_first(facts.first)
        st.link_button("See them on the SQL page", links.sql(facts.rows_sql), icon=":material/table_rows:")
    if facts.rows_sql and not facts.sources.height:
        st.caption("These rows name no record, so they have no single place in a published file.")
    if facts.sources.height:
        st.markdown("Where these are in the published files:")
        columns = [ChartField(name, _TITLES[name]) for name in facts.sources.columns]
        st.html(table_html("Where these are in the published files", facts.sources, columns))
    st.markdown("To cite it:")
    st.code(visible(facts.citation, lines=True), language=None, wrap_lines=True)
