"""What Streamlit runs for each page: the navigation, the page that was asked for, and a message where it failed."""

import streamlit as st

from talkhouse.charts.declared import Declared, dashboards
from talkhouse.dashboard import errors, warehouse
from talkhouse.dashboard.content import corpus, home, quality, read, scores, sql, tasks
from talkhouse.schema.errors import TalkhouseError

_SECONDS = 5
"""How often an open page looks for a new build."""


def pages() -> dict[str, list[st.Page]]:
    """Return the pages by the section of the navigation that they stand in; a page of charts per declaration."""
    general = [
        st.Page(home.page, title="Home", icon=":material/home:", url_path="home", default=True),
        st.Page(read.page, title="Read", icon=":material/forum:", url_path="read"),
        st.Page(tasks.page, title="Tasks", icon=":material/list_alt:", url_path="tasks"),
        st.Page(quality.page, title="Quality", icon=":material/fact_check:", url_path="quality"),
        st.Page(sql.page, title="SQL", icon=":material/database:", url_path="sql"),
    ]
    if scores.path().exists():
        general.append(st.Page(scores.page, title="Scores", icon=":material/leaderboard:", url_path="scores"))
    charts = [corpus.page_of(one) for one in _declared() if one.name != quality.DASHBOARD]
    return {"": general, "Charts": charts}


def _declared() -> list[Declared]:
    """Return the dashboards of the warehouse; where none can be read, Talkhouse's, whose pages say why."""
    try:
        return dashboards(warehouse.current().query_files)
    except TalkhouseError:
        return dashboards()


@st.fragment(run_every=_SECONDS)
def follow() -> None:
    """Run the page again when a build has put another file in the place of the one that it shows."""
    found = warehouse.version()
    if st.session_state.setdefault("version", found) != found:
        st.session_state["version"] = found
        st.rerun()


st.set_page_config(page_title="Talkhouse", page_icon="\N{SPEECH BALLOON}", layout="wide")
chosen = st.navigation(pages())
follow()
with errors.shown():
    chosen.run()
