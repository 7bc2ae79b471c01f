"""Read: find conversations, and read them with all that belongs to them."""

import re
from pathlib import Path

import streamlit as st

from talkhouse.dashboard import reading, warehouse
from talkhouse.dashboard.reading.conversation import draw_conversation
from talkhouse.dashboard.reading.listing import draw_list
from talkhouse.dashboard.reading.state import State, current, link
from talkhouse.dashboard.text import html
from talkhouse.dashboard.warehouse import ONE_READS, Version, Warehouse
from talkhouse.ingest.registry import all_corpora
from talkhouse.restore.raw_record import raw
from talkhouse.settings import corpus_folders
from talkhouse.visible import visible

_STYLE = Path(reading.__file__).with_name("style.css")


def page() -> None:
    """Draw the list of conversations, or the one that the URL names."""
    here = st.Page(page, title="Read", url_path="read")
    state = current()
    opened = warehouse.current()
    st.html(_STYLE)
    with st.container(key="reading"):
        if state.source:
            draw_source(here, opened, state)
        elif state.record or state.dialogue:
            draw_conversation(here, opened, state)
        else:
            draw_list(here, opened, state)


_SHOWN = 100_000
"""Bytes that the page shows at most; the download has all."""


def draw_source(here: st.Page, opened: Warehouse, state: State) -> None:
    """Draw the record, named as for ``talkhouse show --raw``; raises UsageError where there is none."""
    back = "Conversation" if state.dialogue or state.record else "List"
    link(here, back, state.shown(source=""), icon=":material/arrow_back:")
    st.html(f'<h1 class="title" dir="auto">{html(state.source)}</h1>')
    record = _record(opened, opened.version, state.source)
    st.caption("The source record as published: JSON equal in every value, anything else byte for byte.")
    name = re.sub(r"[^\w.-]+", "_", state.source) or "record"
    st.download_button(f"Download ({len(record):,} bytes)", record, name, "application/octet-stream", on_click="ignore")
    shown = record[:_SHOWN].decode("utf-8", "backslashreplace")
    st.code(visible(shown, lines=True), language=None, wrap_lines=True)
    if len(record) > _SHOWN:
        st.caption(f"{len(record) - _SHOWN:,} more bytes are in the download.")


@st.cache_data(max_entries=20, show_spinner=False)
def _record(_opened: Warehouse, version: Version, name: str) -> bytes:  # noqa: ARG001
    # By the version, and not by what has it open, is a record known again.
    with ONE_READS, _opened.connection() as con:
        return raw(con, name, all_corpora(corpus_folders()))
