"""Home."""

import streamlit as st

from queries.dashboards import dashboards
from talkhouse.dashboard import drawing, warehouse


def page() -> None:
    """Draw what is in the warehouse."""
    st.title("Talkhouse", anchor=False)
    opened = warehouse.current()
    overview = next(one.dashboard for one in dashboards() if one.name == "overview")
    drawing.put(opened, overview)
