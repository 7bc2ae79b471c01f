"""What a list is chosen by: a text or an id, an order, and the facets with their counts."""

from collections.abc import Mapping

import streamlit as st

from talkhouse.dashboard.reading.facets import FACETS, MOST, Facet
from talkhouse.dashboard.reading.orders import ORDERS
from talkhouse.dashboard.reading.state import MOST_NEIGHBOURS, State, go, link, put
from talkhouse.dashboard.text import plain

_FIRST = 8
"""Values of a facet that are seen without asking for more."""

_LENGTHS = {"0": "none", "1": "1 to 4", "5": "5 to 9", "10": "10 to 19", "20": "20 to 49", "50": "50 to 99"}


def put_search(state: State) -> None:
    """Draw what is searched for, and how."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        put(
            st.text_input,
            "text",
            state.text,
            "Search for a text or an id",
            placeholder="A text, or the id of a conversation",
            label_visibility="collapsed",
            icon=":material/search:",
        )
        put(st.toggle, "match_case", state.match_case, "Match case")
        put(st.toggle, "regex", state.regex, "Expression", help="A regular expression in RE2's syntax.")
        if state.text:
            put(
                st.number_input,
                "neighbours",
                state.neighbours,
                "Turns around each",
                min_value=0,
                max_value=MOST_NEIGHBOURS,
                width=140,
            )


def put_summary(here: st.Page, state: State, number: int) -> None:
    """Draw how many conversations there are, their order, and the ways to other choices."""
    chosen = sum(map(len, state.choices.values()))
    with st.container(horizontal=True, vertical_alignment="center", key="summary"):
        st.markdown(f"**{number:,}** conversation{'' if number == 1 else 's'}", width="content")
        names = list(ORDERS)
        put(
            st.selectbox,
            "sort",
            state.sort,
            "Sort by",
            options=names,
            format_func=lambda name: ORDERS[name].title,
            label_visibility="collapsed",
            width=190,
        )
        if chosen or state.text:
            link(here, "Clear all", State(), icon=":material/close:")
        with st.container(key="facets-link", width="content"):
            link(
                here,
                f"Filters ({chosen})" if chosen else "Filters",
                state.shown(filters=not state.filters),
                icon=":material/filter_list:",
            )


def put_facets(here: st.Page, state: State, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Draw the facets; ``counts``: facet -> choice -> how many conversations there would be."""
    if not any(counts.get(facet.name) for facet in FACETS if not facet.is_asked) and not state.choices:
        return
    with st.container(key="facets-open" if state.filters else "facets", gap=None):
        for facet in FACETS:
            _put_facet(here, state, facet, counts.get(facet.name, {}))


def _put_facet(here: st.Page, state: State, facet: Facet, counts: Mapping[str, int]) -> None:
    """Draw the values of a facet: the chosen ones first, also where nothing is left of them."""
    chosen = state.choices.get(facet.name, ())
    values = [*chosen, *(value for value in counts if value not in chosen)]
    if facet.name == "turns":
        values.sort(key=lambda least: (len(least), least))
    is_waiting = facet.is_asked and state.more != facet.name and not chosen
    if not values and not is_waiting:
        return
    st.header(facet.title, anchor=False, help=facet.help)
    if is_waiting:
        link(here, ":gray[Count them]", state.shown(more=facet.name), icon=":material/more_horiz:", width="stretch")
        return
    few = max(_FIRST, len(chosen))
    shown = values if state.more == facet.name else values[:few]
    for value in shown:
        _put_value(state, facet, value, counts.get(value, 0))
    if len(values) > few:
        label = "Fewer" if state.more == facet.name else f"{len(values) - len(shown):,} more"
        if len(counts) == MOST:
            label += f" of the {MOST} most frequent"
        more = "" if state.more == facet.name else facet.name
        link(here, f":gray[{label}]", state.shown(more=more), icon=":material/more_horiz:", width="stretch")


def _put_value(state: State, facet: Facet, value: str, count: int) -> None:
    name = _LENGTHS.get(value, f"{value} or more") if facet.name == "turns" else value or '""'
    key = f"read.{facet.name}={value}"
    st.session_state[key] = value in state.choices.get(facet.name, ())  # what the URL says, also after going back
    label = f"{plain(name)} ({count:,})"
    st.checkbox(label, key=key, on_change=go, args=(state.toggled(facet, value),), width="stretch")
