"""The receipt of a number: the query that gives it, the rows that it is made of, and where these are from."""

import hashlib
from collections.abc import Mapping

import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from talkhouse.charts.fields import NOTHING, ChartField
from talkhouse.dashboard import errors, links, receipt_facts
from talkhouse.dashboard.table_html import table_html
from talkhouse.dashboard.tables import counted
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.visible import visible

_TITLES = {"path": "File", "source_pointer": "Place in it", "sha256": "SHA-256", "record_id": "Record"}


@st.fragment
def put(opened: Warehouse, title: str, sql: str, *, number: str = "") -> None:
    """Draw what opens the receipt of a chart or number, which costs nothing until it is opened.

    ``sql`` is the query that it shows, as run; ``number`` its number as people read it, where it has one.
    """
    popover = _popover(key_of(title, sql))
    if popover.open:
        with popover, errors.shown():
            _put_opened(opened, title, sql, number)


@st.fragment
def put_choice(opened: Warehouse, queries: Mapping[str, str]) -> None:
    """Draw what opens the receipts of several numbers that stand together, one at a time; ``queries`` by title."""
    if not queries:
        return
    key = key_of("", "\n".join(queries.values()))
    popover = _popover(key)
    if popover.open:
        with popover, errors.shown():
            titles = list(queries)
            title = titles[0]
            if len(titles) > 1:
                title = st.selectbox("Receipt of", titles, key=f"{key}_of", format_func=visible)
            _put_opened(opened, title, queries[title], "")


def _popover(key: str) -> PopoverContainer:
    # By on_change, Streamlit runs what is inside when it is open, and of the page no more than this.
    return st.popover("Receipt", icon=":material/receipt_long:", type="tertiary", key=key, on_change="rerun")


def key_of(title: str, sql: str) -> str:
    """Return the name by which Streamlit knows the receipt of what has this title and this query."""
    return "receipt_" + hashlib.sha256(f"{title}\n{sql}".encode()).hexdigest()[:16]


def _put_opened(opened: Warehouse, title: str, sql: str, number: str) -> None:
    st.markdown(f"**{plain(title)}**")
    st.code(sql, language="sql", wrap_lines=True)
    st.link_button("Run it on the SQL page", links.sql(sql), icon=":material/database:")
    facts = receipt_facts.of(opened, title, sql, number)
    if facts.rows_sql:
        st.markdown(f"It is made of **{counted(facts.count)}**. The first {facts.first.height}:")
        st.code(facts.rows_sql, language="sql", wrap_lines=True)
        # By Arrow: of a Polars frame Streamlit makes a Pandas one.
        st.dataframe(facts.first.to_arrow(), hide_index=True, placeholder=NOTHING)
        st.link_button("See them on the SQL page", links.sql(facts.rows_sql), icon=":material/table_rows:")
    if facts.rows_sql and not facts.sources.height:
        st.caption("These rows name no record, so that no one place in a published file is theirs.")
    if facts.sources.height:
        st.markdown("Where these are in the published files:")
        columns = [ChartField(name, _TITLES[name]) for name in facts.sources.columns]
        st.html(table_html("Where these are in the published files", facts.sources, columns))
    st.markdown("To cite it:")
    st.code(visible(facts.citation, lines=True), language=None, wrap_lines=True)
