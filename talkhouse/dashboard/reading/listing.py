"""The list: facets with counts, a search, and a page of the conversations that are chosen."""

from itertools import groupby
from typing import Any

import streamlit as st

from talkhouse.dashboard.reading.facets import FACETS, MOST, Facet
from talkhouse.dashboard.reading.markup import facts, turns_found
from talkhouse.dashboard.reading.state import MOST_NEIGHBOURS, State, link, put
from talkhouse.dashboard.text import html, plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.explore.search import Hit, hits

SIZE = 50
"""Conversations on a page."""

_FIRST = 8
"""Values of a facet that are seen without asking for more."""

_ROWS = """
with page as (
    select unnest($dialogues::varchar[]) as dialogue_id
),
lengths as (
    select dialogue_id, count(*) as turn_count, min(turn_index) filter (kind = 'message') as turn_index
    from main.turns semi join page using (dialogue_id)
    group by dialogue_id
),
places as (
    select
        dialogue_id,
        list(distinct release order by release) filter (release is not null) as releases,
        list(distinct split order by split) filter (split is not null) as splits
    from main.records semi join page using (dialogue_id)
    group by dialogue_id
),
opening as (
    select turns.rowid as row_number from main.turns semi join lengths using (dialogue_id, turn_index)
),
said as (
    select dialogue_id, substring(text, 1, 300) as words
    from main.turns where rowid in (select row_number from opening)
)
select dialogues.dialogue_id, corpus_id, title, coalesce(turn_count, 0) as turn_count, releases, splits, words
from page
inner join main.dialogues using (dialogue_id)
left join lengths using (dialogue_id)
left join places using (dialogue_id)
left join said using (dialogue_id)
order by dialogue_id
"""

_LENGTHS = {"0": "none", "1": "1 to 4", "5": "5 to 9", "10": "10 to 19", "20": "20 to 49", "50": "50 to 99"}


def put_list(here: st.Page, opened: Warehouse, state: State) -> None:
    """Draw the list that a state asks for."""
    st.title("Read", anchor=False)
    _put_search(state)
    if state.pattern:
        with opened.connection() as con:
            state.pattern.check(con)
    counts = opened.rows(state.selection.counts(), state.selection.values)
    number = counts.filter(counts["facet"].is_null())["dialogues"].item()
    _put_summary(here, state, number)
    beside, main = st.columns([1, 3], gap="large")
    with beside, st.container(key="facets-open" if state.filters else "facets", gap=None):
        for facet in FACETS:
            found = counts.filter(counts["facet"] == facet.name)
            _put_facet(here, state, facet, dict(zip(found["choice"], found["dialogues"], strict=True)))
    with main:
        _put_page(here, opened, state, number)


def _put_search(state: State) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        put(
            st.text_input,
            "text",
            state.text,
            "Search",
            placeholder="A text, exact to the character",
            label_visibility="collapsed",
            icon=":material/search:",
        )
        put(st.toggle, "ignore_case", state.ignore_case, "Ignore case")
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


def _put_summary(here: st.Page, state: State, number: int) -> None:
    chosen = sum(map(len, state.choices.values()))
    with st.container(horizontal=True, vertical_alignment="center", key="summary"):
        st.markdown(f"**{number:,}** conversation{'' if number == 1 else 's'}", width="content")
        if chosen or state.text:
            link(here, "Clear all", State(), icon=":material/close:")
        with st.container(key="facets-link", width="content"):
            link(
                here,
                f"Filters ({chosen})" if chosen else "Filters",
                state.shown(filters=not state.filters),
                icon=":material/filter_list:",
            )


def _put_facet(here: st.Page, state: State, facet: Facet, counts: dict[str, int]) -> None:
    """Draw the values of a facet: the chosen ones first, also where nothing is left of them."""
    chosen = state.choices.get(facet.name, ())
    values = [*chosen, *(value for value in counts if value not in chosen)]
    if facet.name == "turns":
        values.sort(key=lambda least: (len(least), least))
    if not values:
        return
    st.markdown(f"**{facet.title}**", help=facet.help, width="content")
    few = max(_FIRST, len(chosen))
    shown = values if state.more == facet.name else values[:few]
    for value in shown:
        _put_value(here, state, facet, value, counts.get(value, 0))
    if len(values) > few:
        label = "Fewer" if state.more == facet.name else f"{len(values) - len(shown):,} more"
        if len(counts) == MOST:
            label += f" of the {MOST} most frequent"
        more = "" if state.more == facet.name else facet.name
        link(here, f":gray[{label}]", state.shown(more=more), icon=":material/more_horiz:", width="stretch")


def _put_value(here: st.Page, state: State, facet: Facet, value: str, count: int) -> None:
    is_chosen = value in state.choices.get(facet.name, ())
    icon = ":material/check_box:" if is_chosen else ":material/check_box_outline_blank:"
    name = _LENGTHS.get(value, f"{value} or more") if facet.name == "turns" else value or '""'
    link(here, f"{plain(name)} :gray[{count:,}]", state.toggled(facet, value), icon=icon, width="stretch")


def _put_page(here: st.Page, opened: Warehouse, state: State, number: int) -> None:
    if not number:
        _put_nothing(state)
        return
    pages = -(-number // SIZE)
    state = state.shown(page=min(state.page, pages))
    selection = state.selection
    found = opened.rows(selection.page(SIZE), {**selection.values, "offset": (state.page - 1) * SIZE})
    rows = opened.rows(_ROWS, {"dialogues": found["dialogue_id"].to_list()}).to_dicts()
    turns = _turns(opened, state, found.to_dicts()) if state.pattern else {}
    with st.container(key="rows", gap=None):
        for row, how_many in zip(rows, found["found"], strict=True):
            _put_row(here, state, row, turns.get(row["dialogue_id"], []), how_many)
    if pages > 1:
        put(st.pagination, "page", state.page, pages)


def _put_nothing(state: State) -> None:
    if state.choices or state.text:
        message = "No conversation is left. Take back a choice, or search for another text."
    else:
        message = "There are no conversations in the warehouse yet. Build one with: talkhouse build"
    st.info(message, icon=":material/search_off:")


def _turns(opened: Warehouse, state: State, found: list[dict[str, Any]]) -> dict[str, list[Hit]]:
    """Read the turns of each dialogue that a page of a search shows."""
    assert state.pattern  # noqa: S101 - there is a search
    wanted = [(row["dialogue_id"], turn_index) for row in found for turn_index in row["first"]]
    with opened.connection() as con:
        read = list(hits(con, wanted, state.pattern, state.neighbours))
    return {dialogue: list(those) for dialogue, those in groupby(read, key=lambda hit: hit.dialogue_id)}


def _put_row(here: st.Page, state: State, row: dict[str, Any], turns: list[Hit], found: int) -> None:
    link(here, plain(row["dialogue_id"]), state.opened(dialogue=row["dialogue_id"]))
    places = [f"{name} {', '.join(row[name + 's'])}" for name in ("release", "split") if row[name + "s"]]
    length = f"{row['turn_count']:,} turn{'' if row['turn_count'] == 1 else 's'}"
    below = turns_found(turns, found) if turns else f'<div class="words" dir="auto">{html(row["words"] or "")}</div>'
    st.html(facts([row["corpus_id"], *places, length, row["title"]]) + below)
