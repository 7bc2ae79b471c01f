"""The receipt of a number: the query that gives it, the rows that it is made of, and where these are from."""

import streamlit as st

from talkhouse.dashboard import links
from talkhouse.dashboard.warehouse import Warehouse


def put(opened: Warehouse, title: str, sql: str) -> None:  # noqa: ARG001
    """Draw what opens the receipt of a chart or number; ``sql`` is the query that it shows."""
    with st.popover("Receipt", icon=":material/receipt_long:", type="tertiary"):
        st.code(sql, language="sql", wrap_lines=True)
        st.link_button("In SQL", links.sql(sql), icon=":material/database:")
