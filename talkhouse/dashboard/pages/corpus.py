"""The page of a corpus: the charts that are declared beside its views."""

import streamlit as st

from queries.dashboards import Declared
from talkhouse.dashboard import drawing, warehouse


def page_of(declared: Declared) -> st.Page:
    """Return the page of a declared dashboard."""
    name = declared.dashboard.title.removeprefix("Talkhouse: ")

    def page() -> None:
        st.title(name, anchor=False)
        opened = warehouse.current()
        if not opened.rows(_IS_LOADED, {"corpus": declared.folder}).item():
            st.info("This corpus is not in the warehouse.")
            return
        st.caption(declared.dashboard.description)
        drawing.put(opened, declared.dashboard)

    return st.Page(page, title=name, icon=":material/bar_chart:", url_path=declared.name)


_IS_LOADED = "select count(*) > 0 from main.corpora where corpus_id = $corpus"
