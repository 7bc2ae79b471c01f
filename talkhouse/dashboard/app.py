"""The script that Streamlit runs for each page: the navigation, the requested page, and a message if it fails."""

from collections.abc import Iterator

import streamlit as st

from talkhouse.charts.declarations import DeclaredDashboard, dashboards
from talkhouse.dashboard import errors, links, warehouse
from talkhouse.dashboard.content import (
    about,
    ask,
    bookmarks,
    corpus,
    home,
    notes,
    outcomes,
    profile,
    quality,
    read,
    scores,
    search,
    sql,
    tasks,
)
from talkhouse.dashboard.page_state import parameters
from talkhouse.queries.catalogue import BI
from talkhouse.schema.errors import TalkhouseError


def pages() -> dict[str, list[st.Page]]:
    """Return the pages by the section of the navigation that they stand in; a page per corpus that is loaded."""
    general = [
        st.Page(home.page, title="Home", icon=":material/home:", url_path="home", default=True),
        st.Page(read.page, title="Read", icon=":material/forum:", url_path="read"),
        st.Page(search.page, title="Search", icon=":material/search:", url_path="search"),
        st.Page(tasks.page, title="Tasks", icon=":material/list_alt:", url_path="tasks"),
        st.Page(outcomes.page, title="Errors", icon=":material/rule:", url_path="errors"),
        st.Page(quality.page, title="Quality", icon=":material/fact_check:", url_path="quality"),
        st.Page(profile.page, title="Profile", icon=":material/health_and_safety:", url_path="profile"),
        st.Page(ask.page, title="Ask", icon=":material/help:", url_path="ask"),
        st.Page(sql.page, title="SQL", icon=":material/database:", url_path="sql"),
        st.Page(
            lambda: bookmarks.page(sections), title="Bookmarks", icon=":material/bookmarks:", url_path=bookmarks.PAGE
        ),
        st.Page(about.page, title="About", icon=":material/info:", url_path="about"),
    ]
    if scores.path().exists():
        general.append(st.Page(scores.page, title="Scores", icon=":material/leaderboard:", url_path="scores"))
    if notes.path().exists():
        general.insert(3, st.Page(notes.page, title="Notes", icon=":material/edit_note:", url_path="notes"))
    declared = _declared()
    of_all = [corpus.page_of(file) for file in declared if file.folder == BI and file.name != quality.DASHBOARD]
    taken = {page.url_path for page in (*general, *of_all)}
    sections = {"": [*general, *of_all], "Corpora": list(_at_free_addresses(_of_corpora(declared), taken))}
    return sections


def _declared() -> list[DeclaredDashboard]:
    """Return the dashboards of the warehouse; if none can be read, Talkhouse's, whose pages show the error."""
    try:
        return dashboards(warehouse.current().query_files)
    except TalkhouseError:
        return dashboards()


def _at_free_addresses(pages: list[st.Page], taken: set[str]) -> Iterator[st.Page]:
    """Yield the pages whose address no page before has: a corpus may be named like a dashboard of another."""
    for page in pages:
        if page.url_path not in taken:
            taken.add(page.url_path)
            yield page


def _of_corpora(declared: list[DeclaredDashboard]) -> list[st.Page]:
    """Return the pages of the corpora; none if the warehouse can't be read: the other pages say why."""
    try:
        return list(corpus.pages(warehouse.current(), declared))
    except TalkhouseError:
        return []


@st.fragment(run_every=warehouse.NEW_BUILD_SECONDS)
def follow() -> None:
    """Run the page again when a build has put another file in the place of the one that it shows."""
    found = warehouse.version()
    if st.session_state.setdefault("version", found) != found:
        st.session_state["version"] = found
        st.rerun()


@st.fragment
def draw_link() -> None:
    """Draw what opens the address of what is shown, to be copied; its token is on the page only then."""
    popover = st.popover("Copy link", icon=":material/link:", type="tertiary", key="link", on_change="rerun")
    if not popover.open:
        return
    here = st.context.url or ""
    with popover:
        st.markdown("**For a browser that has opened these pages before**")
        st.code(links.shared(here, parameters(), with_token=False), language=None, wrap_lines=True)
        if links.token:
            st.markdown("**With the token**")
            st.code(links.shared(here, parameters(), with_token=True), language=None, wrap_lines=True)
            st.caption("Whoever has it can read all pages until the server ends.")
        st.caption("The pages are served on this machine only: on another one, no link of theirs works.")


st.set_page_config(page_title="Talkhouse", page_icon="\N{SPEECH BALLOON}", layout="wide")
# Expanded: what stands below it in the sidebar would fold it.
with warehouse.page_run():
    chosen = st.navigation(pages(), expanded=True)
    follow()
    with st.sidebar:
        draw_link()
        if chosen.url_path != bookmarks.PAGE:
            bookmarks.draw_saving(chosen)
    with errors.shown():
        chosen.run()
