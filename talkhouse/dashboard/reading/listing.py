"""The list: facets with counts, a search, and a page of the conversations that are chosen."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any

import streamlit as st

from talkhouse.dashboard import download
from talkhouse.dashboard.reading.choosing import put_facets, put_search, put_summary
from talkhouse.dashboard.reading.facets import Selection
from talkhouse.dashboard.reading.markup import facts, turns_found
from talkhouse.dashboard.reading.orders import ORDERS, rows
from talkhouse.dashboard.reading.previews import previews_of
from talkhouse.dashboard.reading.state import State, link, put
from talkhouse.dashboard.text import html, plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.explore.resolve_id import find_ids
from talkhouse.explore.search import Hit, hits

SIZE = 50
"""Conversations on a page."""

_IDS = 10
"""Ids that a search lists at most."""

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
select dialogues.dialogue_id, corpus_id, language, title, coalesce(turn_count, 0) as turn_count, releases, splits, words
from page
inner join main.dialogues using (dialogue_id)
left join lengths using (dialogue_id)
left join places using (dialogue_id)
left join said using (dialogue_id)
"""


def put_list(here: st.Page, opened: Warehouse, state: State) -> None:
    """Draw the list that a state asks for."""
    st.title("Read", anchor=False)
    put_search(state)
    if state.pattern:
        with opened.connection() as con:
            state.pattern.check(con)
    counts = opened.rows(state.selection.counts([state.more]), state.selection.values)
    number = counts.filter(counts["facet"].is_null())["dialogues"].item()
    put_summary(here, state, number)
    by_facet: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for facet, choice, dialogues in counts.iter_rows():
        by_facet[facet][choice] = dialogues
    beside, main = st.columns([1, 3], gap="large")
    with beside:
        put_facets(here, state, by_facet)
    with main:
        if state.text and not state.regex:
            _put_ids(here, opened, state)
        _put_page(here, opened, state, number)


def _put_ids(here: st.Page, opened: Warehouse, state: State) -> None:
    """Draw the ways to the conversations and records whose id is, or contains, what is searched for."""
    with opened.connection() as con:
        targets = find_ids(con, state.text, _IDS)
    if not targets:
        return
    with st.container(key="ids", gap=None):
        st.header("By id", anchor=False)
        for target in targets:
            is_record = target.kind == "record"
            there = state.opened(record=target.id) if is_record else state.opened(dialogue=target.id)
            link(here, plain(target.id), there)


def _put_page(here: st.Page, opened: Warehouse, state: State, number: int) -> None:
    if not number:
        _put_nothing(state)
        return
    pages = -(-number // SIZE)
    state = state.shown(page=min(state.page, pages))
    selection = state.selection
    values = {**selection.values, "offset": (state.page - 1) * SIZE}
    places = rows(opened, state.sort, selection.page(SIZE), values).to_dicts()
    dialogues = {"dialogues": [place["dialogue_id"] for place in places]}
    known = {row["dialogue_id"]: row for row in opened.rows(_ROWS, dialogues).to_dicts()}
    turns = _turns(opened, state, places) if state.pattern else {}
    previews = previews_of(opened, dialogues["dialogues"])
    with st.container(key="rows", gap=None):
        for place in places:
            name = place["dialogue_id"]
            _put_row(here, state, {**known[name], **place}, turns.get(name, []), previews.get(name, ""))
    if pages > 1:
        put(st.pagination, "page", state.page, pages)
    download.put(*_files(selection))


def _files(selection: Selection) -> Iterator[download.Rows]:
    """Yield what can be downloaded of the conversations that are chosen: all of them, whatever page is shown."""
    where = selection.condition() if selection.choices or selection.pattern else None
    yield download.Rows("turns", "bi.turns", title="Turns", where=where)
    yield download.Rows("dialogues", "main.dialogues", title="Ids", where=where, columns="dialogue_id")
    yield download.Rows("label-studio", "main.dialogues", title="Label Studio", where=where, tool="labelstudio")
    yield download.Rows("argilla", "main.dialogues", title="Argilla", where=where, tool="argilla")


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


def _put_row(here: st.Page, state: State, row: dict[str, Any], turns: list[Hit], preview: str) -> None:
    turn = turns[0].turn_index if turns else row["turn_index"]
    link(here, plain(row["dialogue_id"]), state.opened(dialogue=row["dialogue_id"], turn=turn))
    releases, splits = row["releases"] or [], row["splits"] or []
    places = [f"release {releases[0]}"] if len(releases) == 1 else [f"{len(releases)} releases"] if releases else []
    places += [f"split {', '.join(splits)}"] if splits else []
    length = f"{row['turn_count']:,} turn{'' if row['turn_count'] == 1 else 's'}"
    why = ORDERS[state.sort].tells(row["place"])
    address = partial(_address, state, row["dialogue_id"])
    below = (
        turns_found(turns, row["found"], address)
        if turns
        else f'<div class="words" dir="auto">{html(row["words"] or "")}</div>'
    )
    st.html(facts([row["corpus_id"], row["language"], *places, length, why, row["title"]]) + preview + below)


def _address(state: State, dialogue_id: str, turn_index: int) -> str:
    return state.opened(dialogue=dialogue_id, turn=turn_index).address
