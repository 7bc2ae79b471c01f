"""The list: facets with counts, a search, and a page of the conversations that are chosen."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import streamlit as st

from talkhouse.dashboard import download
from talkhouse.dashboard.reading.selection import (
    FACETS,
    MOST,
    MOST_NEIGHBOURS,
    ORDERS,
    ConversationSelection,
    Facet,
    ReadState,
    rows,
)
from talkhouse.dashboard.reading.talk import bar_html
from talkhouse.dashboard.text import facts, html, plain, tag, text, turns_found
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.dialogues.dialogue import find_ids
from talkhouse.dialogues.schemes import UNDECLARED, LabelScheme, Schemes
from talkhouse.ingest.declared.declaration.model import ALL
from talkhouse.schema.sql_files import sql_of
from talkhouse.search.containing import Hit, hits

_FIRST = 8
"""Values of a facet that are shown at first."""

_LENGTHS = {"0": "none", "1": "1 to 4", "5": "5 to 9", "10": "10 to 19", "20": "20 to 49", "50": "50 to 99"}


def draw_search(state: ReadState) -> None:
    """Draw the search field and its options."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.draw(
            st.text_input,
            "text",
            "Search for a text or an id",
            placeholder="A text, or the id of a dialogue",
            label_visibility="collapsed",
            icon=":material/search:",
        )
        state.draw(st.toggle, "match_case", "Match case")
        state.draw(st.toggle, "regex", "Expression", help="A regular expression in RE2's syntax.")
        if state.text:
            state.draw(
                st.number_input, "neighbours", "Turns around each", min_value=0, max_value=MOST_NEIGHBOURS, width=140
            )


def draw_summary(here: st.Page, state: ReadState, number: int) -> None:
    """Draw the number of conversations, their order, and links to other choices."""
    chosen = sum(map(len, state.choices.values()))
    with st.container(horizontal=True, vertical_alignment="center", key="summary"):
        st.markdown(f"**{number:,}** dialogue{'' if number == 1 else 's'}", width="content")
        names = list(ORDERS)
        state.draw(
            st.selectbox,
            "sort",
            "Sort by",
            options=names,
            format_func=lambda name: ORDERS[name].title,
            label_visibility="collapsed",
            width=190,
        )
        if chosen or state.text or state.days:
            ReadState().link(here, "Clear all", icon=":material/close:")
        state.draw_filters_link(here)


def draw_facets(here: st.Page, state: ReadState, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Draw the facets; ``counts``: facet -> choice -> number of conversations with it."""
    if not any(counts.get(facet.name) for facet in FACETS if not facet.is_asked) and not state.choices:
        return
    with st.container(key="facets-open" if state.filters else "facets", gap=None):
        for facet in FACETS:
            _draw_facet(here, state, facet, counts.get(facet.name, {}))


def _draw_facet(here: st.Page, state: ReadState, facet: Facet, counts: Mapping[str, int]) -> None:
    """Draw the values of a facet: the chosen ones first, even if their count is 0."""
    chosen = state.choices.get(facet.name, ())
    values = list(dict.fromkeys([*chosen, *counts]))
    if facet.name == "turns":
        values.sort(key=lambda least: (len(least), least))
    is_waiting = facet.is_asked and state.more != facet.name and not chosen
    if (not values or (facet.name == "split" and values == [ALL] and not chosen)) and not is_waiting:
        return
    st.header(facet.title, anchor=False, help=facet.help)
    if is_waiting:
        state.shown(more=facet.name).link(here, ":gray[Count them]", icon=":material/more_horiz:", width="stretch")
        return
    names = {value: plain(value or '""') for value in values}
    if facet.name == "turns":
        names = {value: plain(_LENGTHS.get(value, f"{value} or more")) for value in values}
    of = f" of the {MOST} most frequent" if len(counts) == MOST else ""
    state.draw_values(here, facet.name, names, counts, _FIRST, of)


SIZE = 50
"""Conversations on a page."""

_IDS = 10
"""Ids that a search lists at most."""


def draw_list(here: st.Page, opened: ServedWarehouse, state: ReadState) -> None:
    """Draw the list that a state asks for."""
    st.title("Read", anchor=False)
    draw_search(state)
    if state.pattern:
        with opened.connection() as con:
            state.pattern.check(con)
    counts = opened.rows(state.selection.counts([state.more]), state.selection.values)
    number = counts.filter(counts["facet"].is_null())["dialogues"].item()
    draw_summary(here, state, number)
    by_facet: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for facet, choice, dialogues in counts.iter_rows():
        by_facet[facet][choice] = dialogues
    beside, main = st.columns([1, 3], gap="large")
    with beside:
        state.draw_days(opened, state.choices.get("corpus", ()))
        draw_facets(here, state, by_facet)
    with main:
        if state.text and not state.regex:
            _draw_ids(here, opened, state)
        _draw_page(here, opened, state, number)


def _draw_ids(here: st.Page, opened: ServedWarehouse, state: ReadState) -> None:
    """Draw links to the conversations and records whose id is, or contains, the searched text."""
    with opened.connection() as con:
        targets = find_ids(con, state.text, _IDS)
    if not targets:
        return
    with st.container(key="ids", gap=None):
        st.header("By id", anchor=False)
        for target in targets:
            is_record = target.kind == "record"
            there = state.opened(record=target.id) if is_record else state.opened(dialogue=target.id)
            there.link(here, plain(target.id))


def _draw_page(here: st.Page, opened: ServedWarehouse, state: ReadState, number: int) -> None:
    if not number:
        if state.choices or state.text or state.days:
            message = "No dialogue matches. Remove a filter, or search for another text."
        else:
            message = "The warehouse has no dialogues yet. Build it with: talkhouse build"
        st.info(message, icon=":material/search_off:")
        return
    pages = -(-number // SIZE)
    state = state.shown(page=min(state.page, pages))
    selection = state.selection
    values = {**selection.values, "offset": (state.page - 1) * SIZE}
    places = rows(opened, state.sort, selection.page(SIZE), values).to_dicts()
    dialogues = {"dialogues": [place["dialogue_id"] for place in places]}
    known = {row["dialogue_id"]: row for row in opened.rows(sql_of(__file__, "listed_dialogues"), dialogues).to_dicts()}
    turns = _turns(opened, state, places) if state.pattern else {}
    previews = previews_of(opened, dialogues["dialogues"])
    with st.container(key="rows", gap=None):
        for place in places:
            name = place["dialogue_id"]
            _draw_row(here, state, {**known[name], **place}, turns.get(name, []), previews.get(name, ""))
    if pages > 1:
        state.draw(st.pagination, "page", pages)
    download.draw(*_files(selection))


def _files(selection: ConversationSelection) -> Iterator[download.DownloadFile]:
    """Yield the downloads of the chosen conversations: all of them, whatever page is shown."""
    where = selection.condition() if selection.choices or selection.pattern or selection.days else None
    yield download.DownloadFile("turns", "bi.turns", title="Turns", where=where)
    yield download.DownloadFile("dialogues", "main.dialogues", title="Ids", where=where, columns="dialogue_id")
    yield download.DownloadFile("label-studio", "main.dialogues", title="Label Studio", where=where, tool="labelstudio")
    yield download.DownloadFile("argilla", "main.dialogues", title="Argilla", where=where, tool="argilla")


def _turns(opened: ServedWarehouse, state: ReadState, found: list[dict[str, Any]]) -> dict[str, list[Hit]]:
    """Read the turns of each dialogue that a page of a search shows."""
    assert state.pattern  # noqa: S101 - there is a search
    wanted = [(row["dialogue_id"], turn_index) for row in found for turn_index in row["first"]]
    with opened.connection() as con:
        read = list(hits(con, wanted, state.pattern, state.neighbours))
    return {dialogue: list(those) for dialogue, those in groupby(read, key=lambda hit: hit.dialogue_id)}


def _draw_row(here: st.Page, state: ReadState, row: dict[str, Any], turns: list[Hit], preview: str) -> None:
    turn = turns[0].turn_index if turns else row["turn_index"]
    state.opened(dialogue=row["dialogue_id"], turn=turn).link(here, plain(row["dialogue_id"]))
    releases, splits = row["releases"] or [], [split for split in row["splits"] or [] if split != ALL]
    places = (
        [f"publisher's release {releases[0]}"]
        if len(releases) == 1
        else [f"{len(releases)} publisher's releases"]
        if releases
        else []
    )
    places += [f"split {', '.join(splits)}"] if splits else []
    length = f"{row['turn_count']:,} turn{'' if row['turn_count'] == 1 else 's'}"
    why = ORDERS[state.sort].reason_for(row["place"])
    below = (
        turns_found(
            turns, row["found"], lambda turn_index: state.opened(dialogue=row["dialogue_id"], turn=turn_index).address
        )
        if turns
        else f'<div class="words" dir="auto">{html(row["words"] or "")}</div>'
    )
    st.html(facts([row["corpus_id"], row["language"], *places, length, why, row["title"]]) + preview + below)


_MOST_LABELS = 8
"""Labels of a scheme that a line can show; a scheme of more, such as one of free words, is left out."""


def previews_of(opened: ServedWarehouse, dialogues: Sequence[str]) -> dict[str, str]:
    """Return a line of labels for each dialogue that has them on its turns, as HTML."""
    counts: defaultdict[str, defaultdict[str, list[tuple[str, int]]]] = defaultdict(lambda: defaultdict(list))
    majorities = opened.rows(sql_of(__file__, "majorities"), {"dialogues": list(dialogues)})
    for dialogue_id, scheme, label, count in majorities.iter_rows():
        counts[dialogue_id][scheme].append((label, count))
    schemes: dict[str, LabelScheme] = {}
    for corpus_id in sorted({dialogue_id.partition(":")[0] for dialogue_id in counts}):
        schemes |= opened.schemes(corpus_id)
    return {dialogue_id: _preview(labels, schemes) for dialogue_id, labels in counts.items()}


def _preview(labels: dict[str, list[tuple[str, int]]], schemes: Schemes) -> str:
    """Return the scheme that labels the most turns, of those whose labels fit into a line."""
    fitting = {scheme: counts for scheme, counts in labels.items() if len(counts) <= _MOST_LABELS}
    if not fitting:
        return ""
    scheme = max(fitting, key=lambda name: (sum(count for _, count in fitting[name]), len(fitting[name]), name))
    name = text("name", f"turns by {scheme.partition('.')[2]}")
    return tag(
        "div", "preview", name + bar_html(dict(fitting[scheme]), schemes.get(scheme, UNDECLARED), is_of_turns=True)
    )
