"""Read: find conversations, and read them with all that belongs to them."""

from pathlib import Path

import streamlit as st

from talkhouse.dashboard import reading, warehouse
from talkhouse.dashboard.reading.conversation import put_conversation
from talkhouse.dashboard.reading.listing import put_list
from talkhouse.dashboard.reading.source import put_source
from talkhouse.dashboard.reading.state import current

_STYLE = Path(reading.__file__).with_name("style.css")


def page() -> None:
    """Draw the list of conversations, or the one that the URL names."""
    here = st.Page(page, title="Read", url_path="read")
    state = current()
    opened = warehouse.current()
    st.html(_STYLE)
    with st.container(key="reading"):
        if state.source:
            put_source(here, opened, state)
        elif state.record or state.dialogue:
            put_conversation(here, opened, state)
        else:
            put_list(here, opened, state)
