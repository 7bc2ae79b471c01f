"""Search: texts by their words, the best first, with facets next to them; and turns like a turn, also by meaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import streamlit as st

from talkhouse.dashboard import download, links, reading, warehouse
from talkhouse.dashboard.content import read
from talkhouse.dashboard.page_state import FacetedState, RangedState
from talkhouse.dashboard.text import facts, html, plain, snippet, tag, who
from talkhouse.dashboard.turn_map import colours_by, draw_map
from talkhouse.dashboard.warehouse import ServedWarehouse, Version
from talkhouse.escaping import visible
from talkhouse.ingest.declared.declaration.model import ALL
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import identifier
from talkhouse.search.find import like_by_meaning, rank_by_meaning, run_of, turns_on_map, turns_with_vectors
from talkhouse.search.ranked import RankedHit, RankedMatches, best_match, like, rank
from talkhouse.search.search_index import INDEX
from talkhouse.search.text_groups import FACETS, TextSearch
from talkhouse.search.text_model import TextModel, open_model
from talkhouse.search.turn_vectors import VECTORS
from talkhouse.search.user_vectors import Turn
from talkhouse.settings import text_model
from talkhouse.system.files import temporary_folder
from talkhouse.warehouse.build_facts import fingerprint
from talkhouse.warehouse.derived_sidecar import FileBeside

_STYLE = Path(reading.__file__).with_name("style.css")

_SIZE = 20
"""Texts on a page."""

_PAGES = 500
"""Pages of texts: readers go no further."""

_VALUES = 8
"""Values of a facet that are shown at first, in addition to those that are chosen."""

_SECONDS = 600.0
"""Seconds that making the index may take."""

_TITLES = {"kind": "Kind of text", "corpus": "Corpus", "split": "Split", "role": "Role"}


@dataclass(frozen=True)
class SearchState(FacetedState, RangedState):
    """The state of the page."""

    PAGE: ClassVar[str] = "search"
    FACETS: ClassVar[tuple[str, ...]] = FACETS
    ON_THE_SAME_PAGE: ClassVar[frozenset[str]] = frozenset({"page", "colour"})

    text: str = ""
    like: str = ""
    """The dialogue of the turn that texts are to be like."""
    turn: int = 0
    by: str = "words"
    """words or meaning."""
    colour: str = "corpus"
    """The column that colours the points of the map."""

    def checked(self) -> Self:
        """Return the state with defaults for impossible values."""
        state = super().checked()
        if state.by != "meaning":
            return state.shown(by="words")
        # Only turns have vectors, and these no times.
        return state.shown(
            since="", until="", choices={facet: values for facet, values in state.choices.items() if facet != "kind"}
        )

    def changed(self, name: str, value: Any) -> Self:
        """Return the state after a field has changed: other words are another search."""
        state = super().changed(name, value)
        return state.shown(like="", turn=0, more="", filters=False) if name == "text" else state


def page() -> None:
    """Draw the search and its matches."""
    state, opened = SearchState.current(), warehouse.current()
    state.go()
    here = st.Page(page, title="Search", url_path="search")
    st.html(_STYLE)
    with st.container(key="reading"):
        st.title("Search", anchor=False)
        if not state.text and not state.like:
            st.caption("Type words: the turns, candidates and personas that have them are found, the best first.")
        try:
            without_vectors = _missing(opened, opened.version, VECTORS, _version(opened, VECTORS))
        except UsageError as error:  # a foreign file: a search by words still works
            without_vectors = error.what
        _draw_input(state, without_vectors)
        if state.by == "meaning":
            if without_vectors:
                st.info(plain(f"{without_vectors[:1].upper()}{without_vectors[1:]}."))
            elif state.text and not state.like and not text_model():
                st.info(
                    "To find words by meaning, the pages need the model that made the vectors: start them with "
                    "`TALKHOUSE_MODEL=FOLDER`. Or search by words, and choose ≈ next to a turn."
                )
            else:
                _draw_found(here, opened, state)
        elif missing := _missing(opened, opened.version, INDEX, _version(opened, INDEX)):
            _draw_making(missing)
        elif state.text or state.like:
            _draw_found(here, opened, state)


def _version(opened: ServedWarehouse, file: FileBeside) -> Version | None:
    return warehouse.version(file.path(opened.version.path))


def _draw_input(state: SearchState, without_vectors: str) -> None:
    state.draw(
        st.text_input,
        "text",
        "Search for words",
        placeholder="Words, in any order",
        label_visibility="collapsed",
        icon=":material/search:",
    )
    if not without_vectors:
        state.draw(
            st.radio,
            "by",
            "Find by",
            options=["words", "meaning"],
            format_func=lambda by: f"by {by}",
            horizontal=True,
            label_visibility="collapsed",
        )
    else:
        st.caption(
            "To find turns by meaning as well, add a vector for each: `talkhouse vectors FILE`, or `--model FOLDER`."
        )
    if state.by == "meaning":
        st.caption(
            "Turns whose vectors are nearest to that of a turn or text: the score is the cosine, 1 where both point "
            "the same way."
        )
        return
    st.caption(
        "Turns, candidates and personas of all corpora that have any of these words, by BM25: the rarer a word, the "
        "more often it is there, and the shorter the text, the higher. A word that more than a tenth of all texts have "
        "finds none alongside a rarer one."
    )


@st.cache_data(max_entries=5, show_spinner=False)
def _missing(_opened: ServedWarehouse, version: Version, _file: FileBeside, beside: Version | None) -> str:  # noqa: ARG001
    # By the versions of both files is it known again whether they belong together.
    with _opened.connection() as con, warehouse.ONE_BESIDE:
        ((database,),) = con.execute("select current_database()").fetchall()
        return _file.state(_file.path(version.path), fingerprint(con, identifier(str(database))))


def _draw_making(why: str) -> None:
    """Draw the reason why there is no index, and the button that makes it, by a command."""
    name = INDEX.path(warehouse.path()).name
    st.info(f"{why[:1].upper()}{why[1:]}. It is a file next to the warehouse: {plain(name)}")
    if st.button("Make the index", key="make_index", icon=":material/build:", type="primary"):
        place = st.empty()
        with temporary_folder() as folder:
            download.run_command(
                ["search", "--rank", "index", "--limit", "1", "--db", str(warehouse.path())],
                folder,
                seconds=_SECONDS,
                waiting=lambda passed: place.caption(f"Making the index: {passed:.0f} s"),
                queued=lambda first: place.caption(download.queue_message(first)),
            )
        st.rerun()


def _draw_found(here: st.Page, opened: ServedWarehouse, state: SearchState) -> None:
    is_by_meaning = state.by == "meaning"
    find, file = (_found_by_meaning, VECTORS) if is_by_meaning else (_found, INDEX)
    # The colour and unfolded parts do not change the matches.
    asked = state.shown(colour="", more="", filters=False)
    found = find(opened, opened.version, _version(opened, file), asked)
    if state.like:
        _draw_turn(opened, state, found)
    with st.container(horizontal=True, vertical_alignment="center", key="summary"):
        what = "turn" if is_by_meaning else "text"
        st.markdown(f"**{found.texts:,}** {what}{'' if found.texts == 1 else 's'}", width="content")
        if not is_by_meaning:
            words = ", ".join(f"{word.word} ({word.texts:,})" for word in found.words)
            st.markdown(f":gray[{plain(words)}]", width="content", help="Each word, and how many texts have it.")
        state.draw_filters_link(here)
    beside, main = st.columns([1, 3], gap="large")
    with beside, st.container(key="facets-open" if state.filters else "facets", gap=None):
        if not is_by_meaning:
            state.draw_days(opened, state.choices.get("corpus", ()))
        for facet in FACETS[is_by_meaning:]:  # the first is the kind of text
            _draw_facet(here, state, facet, found.facets.get(facet, {}))
    with main:
        if is_by_meaning:
            _draw_map(opened, state, found)
        with st.container(key="rows", gap=None):
            for hit in found.hits:
                _draw_hit(hit, state.by)
        if not found.hits and not is_by_meaning:
            st.info("No text has these words. Remove a filter, or try other words.", icon=":material/search_off:")
        pages = min(-(-found.texts // _SIZE), _PAGES)
        if pages > 1 and found.hits:
            state.shown(page=min(state.page, pages)).draw(st.pagination, "page", pages)


@st.cache_data(max_entries=100, show_spinner=False)
def _found(_opened: ServedWarehouse, version: Version, index: Version | None, state: SearchState) -> RankedMatches:  # noqa: ARG001
    with _opened.connection() as con, warehouse.beside(INDEX.path(version.path), INDEX.open) as beside:
        search = TextSearch(con, beside, state.choices, _SIZE, (state.page - 1) * _SIZE, state.dialogues(_opened))
        return like(search, state.like, state.turn) if state.like else rank(search, state.text)


@st.cache_data(max_entries=100, show_spinner=False)
def _found_by_meaning(
    _opened: ServedWarehouse,
    version: Version,
    vectors: Version | None,  # noqa: ARG001
    state: SearchState,
) -> RankedMatches:
    with _opened.connection() as con, warehouse.beside(VECTORS.path(version.path), VECTORS.open) as beside:
        search = TextSearch(con, beside, state.choices, _SIZE, (state.page - 1) * _SIZE)
        if state.like:
            return like_by_meaning(search, state.like, state.turn)
        if state.text:
            return rank_by_meaning(search, _model(text_model()), state.text)
        return turns_with_vectors(beside, state.choices)


@st.cache_resource(max_entries=1, show_spinner=False)
def _model(name: str) -> TextModel:
    return open_model(name)


def _draw_map(opened: ServedWarehouse, state: SearchState, found: RankedMatches) -> None:
    chosen = (state.like, state.turn) if state.like else None
    nearest = [
        (hit.dialogue_id, hit.turn_index) for hit in found.hits if hit.dialogue_id and hit.turn_index is not None
    ]
    always = (*nearest, *([chosen] if chosen else []))
    turns, run = _map(opened.version, _version(opened, VECTORS), state.choices, always)
    by = state.choose(st.selectbox, "colour", "Colour of the map", colours_by(opened), "corpus", format_func=visible)
    draw_map(opened, turns, found.texts + bool(chosen), run, by, chosen, nearest)


@st.cache_data(max_entries=20, show_spinner=False)
def _map(
    version: Version,
    vectors: Version | None,  # noqa: ARG001
    choices: Mapping[str, tuple[str, ...]],
    always: tuple[Turn, ...],
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    with warehouse.beside(VECTORS.path(version.path), VECTORS.open) as beside:
        return turns_on_map(beside, choices, always), run_of(beside)


def _draw_turn(opened: ServedWarehouse, state: SearchState, found: RankedMatches) -> None:
    """Draw the turn whose like is searched for."""
    query = "select text from main.turns where dialogue_id = $dialogue and turn_index = $turn"
    rows = opened.rows(query, {"dialogue": state.like, "turn": state.turn})
    address = html(links.read(state.like, state.turn), lines=False)
    name = f'<a href="{address}">{html(state.like)} {state.turn}</a>'
    for (text,) in rows.iter_rows():
        quote = tag("span", "said", snippet(text or "", [], 0), ' dir="auto"')
        about = "Texts with the most characteristic words of" if found.words else "No other text has a word of"
        about = "Turns that are nearest in meaning to" if state.by == "meaning" else about
        st.html(tag("div", "found", tag("div", "line hit", f"{about} {name}: {quote}")))


def _draw_facet(here: st.Page, state: SearchState, facet: str, counts: Mapping[str, int]) -> None:
    chosen = state.choices.get(facet, ())
    values = dict.fromkeys([*chosen, *counts])
    if values and (chosen or facet != "split" or [*values] != [ALL]):
        st.header(_TITLES[facet], anchor=False)
        state.draw_values(here, facet, {value: plain(value) for value in values}, counts, _VALUES)


def _draw_hit(hit: RankedHit, by: str) -> None:
    """Draw a match: a link to its conversation, its kind and corpus, and its text with the words marked."""
    place = {"dialogue": hit.dialogue_id} if hit.dialogue_id else {"record": hit.record_id} if hit.record_id else {}
    at = {"turn": str(hit.turn_index)} if place and hit.turn_index is not None else {}
    name = f"{hit.dialogue_id or hit.record_id or hit.corpus_id}{f' {hit.turn_index}' if at else ''}"
    if place:
        there = st.Page(read.page, title="Read", url_path="read")
        st.page_link(there, label=plain(name), query_params={**place, **at})
    splits = [f"split {', '.join(hit.splits)}"] if hit.splits and hit.splits != [ALL] else []
    speaker = who(hit.role or "", hit.speaker, "message") if hit.kind == "turn" else ""
    shown = tag("span", "said", snippet(hit.text, hit.matches, best_match(hit.text, hit.matches)), ' dir="auto"')
    about = facts([hit.kind, hit.corpus_id, *splits, f"score {hit.score:.2f}"])
    alike = ""
    if hit.kind == "turn" and hit.dialogue_id and hit.turn_index is not None:
        how = {} if by == "words" else {"by": by}
        address = html(links.search(like=hit.dialogue_id, turn=hit.turn_index, **how), lines=False)
        alike = f' <a href="{address}" title="What is like this turn" aria-label="What is like this turn">≈</a>'
    st.html(about + tag("div", "found", tag("div", "line hit", speaker + shown + alike)))
