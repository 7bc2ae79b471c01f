"""The page of a corpus: its charts, what a user should know of it, its licence, its tasks, and what was found in it."""

from collections.abc import Iterator
from typing import Any

import streamlit as st

from talkhouse.charts.declarations import DeclaredDashboard
from talkhouse.dashboard import about, drawing, links, overlap, warehouse
from talkhouse.dashboard.text import linked, plain
from talkhouse.ingest.registry import all_corpora
from talkhouse.made import not_published
from talkhouse.queries.catalogue import BI
from talkhouse.settings import corpus_folders

_CORPORA = """
select corpus_id, title, description, homepage, licence, licence_url, terms, citation, languages, is_sample, made_from,
from main.corpora
order by title
"""

_PARTS = {
    "Datasheet": about.draw_datasheet,
    "Licence and citation": about.draw_licence,
    "Tasks and splits": about.draw_tasks,
    "Overlap": overlap.draw_of_corpus,
    "Findings": about.draw_findings,
}
"""What a page has beside charts, each drawn when it is asked for."""


def pages(opened: warehouse.Warehouse, declared: list[DeclaredDashboard]) -> Iterator[st.Page]:
    """Return a page for each corpus of the warehouse, with the charts that are declared beside its views.

    Further dashboards of a corpus have pages of their own, and the name of its first one leads to its page too. Where
    the charts of a corpus would be that is not there, a page that is in no menu says so.
    """
    corpora = opened.rows(_CORPORA).to_dicts()
    missing = {one.folder for one in declared} - {BI, *(corpus["corpus_id"] for corpus in corpora)}
    others = list[st.Page]()
    for corpus in corpora:
        own = [one for one in declared if one.folder == corpus["corpus_id"]]
        address = links.corpus(corpus["corpus_id"])
        yield _page_of(corpus, own[0] if own else None, address)
        if own and own[0].name != address and links.is_free(own[0].name):
            others.append(_page_of(corpus, own[0], own[0].name, visibility="hidden"))
        others += map(page_of, own[1:])
    yield from others
    yield from map(_missing, sorted(missing))


def page_of(declared: DeclaredDashboard) -> st.Page:
    """Return the page of a dashboard that is of no corpus, or one more of a corpus."""
    name = _name(declared)

    def page() -> None:
        st.title(plain(name), anchor=False)
        st.caption(plain(declared.dashboard.description, lines=True))
        drawing.draw_dashboard(warehouse.current(), declared.dashboard)

    # A corpus may name its dashboard like one of the pages.
    is_own_name = declared.folder == BI or links.is_free(declared.name)
    path = declared.name if is_own_name else links.page(f"{declared.folder}_{declared.name}")
    return st.Page(page, title=plain(name), icon=":material/bar_chart:", url_path=path)


def _missing(corpus_id: str) -> st.Page:
    def page() -> None:
        with warehouse.ONE_READS:
            known = all_corpora(corpus_folders()).get(corpus_id)
        st.title(plain(known.title if known else corpus_id), anchor=False)
        st.info("This corpus is not in the warehouse.")
        if known:
            st.markdown(plain(f"Its files: {known.files}. {known.by_hand}".rstrip()))
            st.markdown(f"Put them into `DIR/{corpus_id}`, and load them with `talkhouse build --data DIR`")

    return st.Page(page, title=plain(corpus_id), url_path=links.corpus(corpus_id), visibility="hidden")


def _page_of(corpus: dict[str, Any], declared: DeclaredDashboard | None, address: str, **options: Any) -> st.Page:
    def page() -> None:
        _draw(corpus, declared)

    name = _name(declared) if declared else corpus["title"]
    return st.Page(page, title=plain(name), icon=":material/folder_open:", url_path=address, **options)


def _draw(corpus: dict[str, Any], declared: DeclaredDashboard | None) -> None:
    opened = warehouse.current()
    name = _name(declared) if declared else corpus["title"]
    st.title(plain(name), anchor=False)
    note = not_published(corpus)
    badge = f":orange-badge[{plain(note)}]  \n" if note else ""
    title = f"**{plain(corpus['title'])}**  \n" if corpus["title"] != name else ""
    read = linked("Read its dialogues", links.read(corpus=corpus["corpus_id"]))
    st.markdown(f"{badge}{title}{plain(corpus['description'])} {read}")
    names = [*(["Charts"] if declared else []), *_PARTS]
    for name, tab in zip(names, st.tabs(names, key="show", bind="query-params"), strict=True):
        if tab.open:
            with tab:
                if name in _PARTS:
                    _PARTS[name](opened, corpus)
                elif declared:
                    drawing.draw_dashboard(opened, declared.dashboard)


def _name(declared: DeclaredDashboard) -> str:
    title = declared.dashboard.title.removeprefix("Talkhouse: ")
    return title[:1].upper() + title[1:]
