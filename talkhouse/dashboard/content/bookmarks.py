"""Bookmarks: the list of saved states, each a link, and the form that adds the open page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from talkhouse.dashboard import bookmarks, errors, links, reading, warehouse
from talkhouse.dashboard.bookmarks import MOST_NAME, MOST_NOTE, Bookmark
from talkhouse.dashboard.page_state import parameters
from talkhouse.dashboard.text import facts, html, plain, tag
from talkhouse.schema.errors import TalkhouseError
from talkhouse.settings import bookmarks as path

PAGE = "bookmarks"
"""In the address."""

_STYLE = Path(reading.__file__).with_name("style.css")

_SHOWN = 200
"""Characters of a choice that are shown."""

_OF_DIALOGUES = {"dialogue": ":", "like": ":", "task": "."}
"""Parameters whose values begin with the id of a corpus -> the sign behind it."""


def address(page: st.Page) -> str:
    """Return the name of a page in the address; that of Home, whose address is empty, is its own."""
    return page.url_path or "home"


def draw_saving(shown: st.Page) -> None:
    """Draw the form that bookmarks the open page, and confirm once that it is saved.

    No fragment: what is drawn in one beside the page, as a dialog is, takes the place of the page's styles.
    """
    if st.button("Bookmark", icon=":material/bookmark_add:", type="tertiary", key="bookmark"):
        _draw_form(address(shown))
    if name := st.session_state.pop(_SAVED, ""):
        st.caption(f"Saved: {plain(name)}")


_SAVED = "bookmark_saved"


@st.dialog("Bookmark", icon=":material/bookmark_add:")
def _draw_form(shown: str) -> None:
    st.caption(f"The page and the choices of its address, in the file {plain(path().name)}.")
    with st.form("bookmark_form", border=False):
        name = st.text_input("Name", max_chars=MOST_NAME)
        note = st.text_area("Note (optional)", max_chars=MOST_NOTE, height=100)
        if st.form_submit_button("Save", type="primary"):
            with errors.shown("This is not saved."):
                bookmarks.add(name, shown, note, parameters())
                st.session_state[_SAVED] = name
                st.rerun()


def page(sections: Mapping[str, Sequence[st.Page]]) -> None:
    """Draw all bookmarks, by the page that they lead to."""
    st.title("Bookmarks", anchor=False)
    st.caption(
        f"They are in the file {plain(str(path()))}, which you can edit and share. "
        "To use another one: `talkhouse dashboard --bookmarks FILE`"
    )
    known = bookmarks.read()
    if not known:
        st.info("There are none yet. Open a page, choose what it shows, and press Bookmark in the sidebar.")
        return
    pages = {address(page): page for section in sections.values() for page in section}
    there = _corpora()
    st.html(_STYLE)
    for name in dict.fromkeys([*pages, *(bookmark.page for bookmark in known)]):
        those = [bookmark for bookmark in known if bookmark.page == name]
        if those:
            st.header(plain(pages[name].title if name in pages else name), anchor=False)
            for bookmark in those:
                _draw(bookmark, pages.get(name), there)


def _corpora() -> frozenset[str] | None:
    """Return the corpora of the warehouse, or None if it can't be read."""
    try:
        return frozenset(warehouse.current().rows("select corpus_id from main.corpora").to_series())
    except TalkhouseError:
        return None


def _draw(bookmark: Bookmark, leads_to: st.Page | None, there: frozenset[str] | None) -> None:
    """Draw a bookmark; its link reloads the page, or earlier choices would remain for parameters that it lacks."""
    missing = [] if there is None else [corpus for corpus in _corpora_of(bookmark) if corpus not in there]
    if leads_to is None or missing:
        reason = f"there is no corpus {_shortened(missing[0])}" if leads_to else f"there is no page {bookmark.page}"
        body = tag("b", "name", html(bookmark.name), ' dir="auto"') + facts([f"{reason} in this warehouse"])
    else:
        link = html(links.state(leads_to.url_path, bookmark.parameters), lines=False)
        body = tag("a", "name", tag("b", "name", html(bookmark.name)), f' href="{link}" dir="auto"')
    note = bookmark.note and tag("div", "note", html(bookmark.note), ' dir="auto" style="white-space: pre-wrap"')
    choices = facts(f"{name}: {_shortened(', '.join(values))}" for name, values in bookmark.parameters.items())
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.html(tag("div", "found", body + note + choices))
        if st.button("Remove", key=f"remove {bookmark.name}", icon=":material/delete:", type="tertiary"):
            with errors.shown("This is not removed."):
                bookmarks.remove(bookmark.name)
                st.rerun()


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"


def _corpora_of(bookmark: Bookmark) -> list[str]:
    """Return the corpora that a bookmark names."""
    values = bookmark.parameters
    whole = [corpus for name in ("corpus", "corpus_id") for corpus in values.get(name, ())]
    return [
        *whole,
        *(value.partition(sign)[0] for name, sign in _OF_DIALOGUES.items() for value in values.get(name, ())),
    ]
