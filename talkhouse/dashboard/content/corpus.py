"""The page of a declared dashboard: the charts of a corpus, which lie beside its views, or of all of them."""

import streamlit as st

from talkhouse.charts.declared import Declared
from talkhouse.dashboard import drawing, warehouse
from talkhouse.dashboard.text import plain
from talkhouse.queries.catalogue import BI
from talkhouse.visible import visible


def page_of(declared: Declared) -> st.Page:
    """Return the page of a declared dashboard."""
    title = declared.dashboard.title.removeprefix("Talkhouse: ")
    name = title[:1].upper() + title[1:]

    def page() -> None:
        st.title(plain(name), anchor=False)
        opened = warehouse.current()
        if declared.folder != BI and not opened.rows(_IS_LOADED, {"corpus": declared.folder}).item():
            st.info("This corpus is not in the warehouse.")
            return
        st.caption(plain(declared.dashboard.description, lines=True))
        drawing.put(opened, declared.dashboard)

    # A corpus may name its dashboard like one of the pages.
    path = declared.name if declared.name not in _PAGES else f"{declared.folder}_{declared.name}"
    return st.Page(page, title=visible(name), icon=":material/bar_chart:", url_path=path)


_PAGES = {"home", "read", "tasks", "quality", "sql", "scores"}

_IS_LOADED = "select count(*) > 0 from main.corpora where corpus_id = $corpus"
