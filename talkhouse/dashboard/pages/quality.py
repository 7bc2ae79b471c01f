"""Quality."""

import streamlit as st

from queries.dashboards import dashboards
from talkhouse.dashboard import drawing, warehouse


def page() -> None:
    """Draw what was found while loading, the checks, and how far annotators agree."""
    st.title("Quality", anchor=False)
    opened = warehouse.current()
    overview = next(one.dashboard for one in dashboards() if one.name == "quality")
    drawing.put(opened, overview)
