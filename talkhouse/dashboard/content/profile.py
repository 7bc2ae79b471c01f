"""Profile: what may be wrong with the dialogues of a corpus, with examples that lead to Read."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import duckdb
import streamlit as st

from talkhouse.dashboard import links, warehouse
from talkhouse.dashboard.tables import counted
from talkhouse.dashboard.text import linked, plain
from talkhouse.escaping import visible
from talkhouse.profile import CheckResult, Profile, profile, profiled
from talkhouse.warehouse.opened import Warehouse

_SECONDS = 300
"""A profile reads every text of a corpus, once a build."""

_CASES = 8
"""Cases of each check that are drawn."""


def page() -> None:
    """Draw the profile of the corpus that is chosen."""
    st.title("Profile", anchor=False)
    st.caption("What may be wrong with the dialogues of a corpus: each case leads to where it stands.")
    opened = warehouse.current()
    titles = dict(opened.rows("select corpus_id, title from main.corpora order by title").iter_rows())
    if not titles:
        st.info("There is nothing to look at: this warehouse has no corpora.")
        return
    with opened.connection() as con:
        first = profiled(Warehouse(con))
    ids = [*first, *(corpus_id for corpus_id in titles if corpus_id not in first)]
    chosen = st.selectbox(
        "Corpus", ids, key="corpus", bind="query-params", format_func=lambda corpus_id: visible(titles[corpus_id])
    )
    with st.spinner("Looking through the dialogues"):
        found = _profile(opened.connection, opened.version, str(chosen))
    _draw_summary(found)
    for result in found.results:
        if result.count:
            _draw(result)


@st.cache_data(max_entries=50, show_spinner=False)
def _profile(
    _connect: Callable[[float], AbstractContextManager[duckdb.DuckDBPyConnection]],
    version: warehouse.Version,  # noqa: ARG001 - by it, a result is known again
    corpus_id: str,
) -> Profile:
    with _connect(_SECONDS) as con:
        return profile(con, corpus_id)


def _draw_summary(found: Profile) -> None:
    """Draw which checks found something, how much of what, and what was not looked at."""
    met = [result for result in found.results if result.count]
    if not met:
        st.success("Nothing was found.", icon=":material/check:")
    else:
        st.table(
            {
                "What": [f"[{plain(result.check.title)}](#{result.check.name})" for result in met],
                "Found": [f"{result.count:,}" for result in met],
                "Share": [f"{result.percent} of {result.whole:,} {result.check.of}" for result in met],
            },
            border="horizontal",
            hide_index=True,
        )
    nothing = [result.check.title for result in found.results if not result.count and not result.note]
    if nothing:
        st.caption(plain(f"Looked for and not found: {'; '.join(nothing)}"))
    for result in found.results:
        if result.note:
            st.caption(plain(f"{result.check.title}: {result.note}"))


def _draw(result: CheckResult) -> None:
    check = result.check
    st.subheader(plain(check.title), anchor=check.name)
    st.markdown(f"{plain(check.effect)} **What to do:** {plain(check.advice)}")
    cases = result.cases[:_CASES]
    st.table(
        {
            "Where": [
                linked(
                    case.dialogue_id if case.turn_index is None else f"{case.dialogue_id}, turn {case.turn_index}",
                    links.read(case.dialogue_id, case.turn_index),
                )
                for case in cases
            ],
            "What stands there": [plain(case.detail) for case in cases],
        },
        border="horizontal",
        hide_index=True,
    )
    if result.count > len(cases):
        all_cases = f"`talkhouse profile --check {check.name} --limit {result.count}`"
        st.caption(f"{len(cases)} of {counted(result.count, 'case')}; all of them: {all_cases}")
