"""The page of a corpus: its charts, datasheet, licence and citation, tasks and splits, overlap, and findings."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
import streamlit as st

from talkhouse import queries
from talkhouse.charts.declarations import DeclaredDashboard
from talkhouse.citation.formats import bibtex_of
from talkhouse.dashboard import drawing, links, overlap, warehouse
from talkhouse.dashboard.tables import counted
from talkhouse.dashboard.text import draw_columns, linked, plain
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.escaping import visible
from talkhouse.export.terms import ASKED, parts_of_corpus
from talkhouse.ingest.registry import all_corpora
from talkhouse.provenance import not_published
from talkhouse.queries.catalogue import BI
from talkhouse.schema.sql_files import sql_of
from talkhouse.settings import corpus_folders
from talkhouse.warehouse.build_facts import NOT_PUBLISHED, QUESTIONS, datasheets
from talkhouse.warehouse.opened import Warehouse as Opened

_CORPORA = """
select corpus_id, title, description, homepage, licence, licence_url, terms, citation, languages, is_sample, made_from,
from main.corpora
order by title
"""


def pages(opened: warehouse.ServedWarehouse, declared: list[DeclaredDashboard]) -> Iterator[st.Page]:
    """Return a page for each corpus of the warehouse, with the charts that are declared next to its views.

    Further dashboards of a corpus have pages of their own, and the name of its first one leads to its page too. Where
    the charts of a corpus would be that is not there, a page that is in no menu says so.
    """
    corpora = opened.rows(_CORPORA).to_dicts()
    missing = {file.folder for file in declared} - {BI, *(corpus["corpus_id"] for corpus in corpora)}
    others = list[st.Page]()
    for corpus in corpora:
        own = [file for file in declared if file.folder == corpus["corpus_id"]]
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


_MOST_LABELS = 30
"""Labels of a scheme that a page lists."""

NOT_STATED = "not stated"
"""The text for a missing licence."""

_SAMPLE = "What is loaded is an invented sample. This page describes the published corpus."

Corpus = Mapping[str, Any]
"""A row of ``main.corpora``."""


def draw_datasheet(opened: ServedWarehouse, corpus: Corpus) -> None:
    """Draw the datasheet of a corpus, and the meanings of its labels."""
    with opened.connection() as con:
        sheet = datasheets(con, Opened(con).database).get(corpus["corpus_id"], {})
    if corpus["is_sample"]:
        st.caption(_SAMPLE)
    if not sheet:
        st.info("This corpus declares no datasheet.")
    for name, question in QUESTIONS.items() if sheet else ():
        st.subheader(question, anchor=False)
        answer = sheet.get(name) or f"{NOT_PUBLISHED.capitalize()}."
        st.markdown("\n".join(f"- {plain(text)}" for text in answer) if isinstance(answer, list) else plain(answer))
    _draw_releases(opened, corpus)
    _draw_labels(opened, corpus)


def _draw_releases(opened: ServedWarehouse, corpus: Corpus) -> None:
    rows = opened.rows(sql_of(__file__, "releases"), {"corpus": corpus["corpus_id"]})
    if rows.is_empty():
        return
    st.subheader("In which publications is it?", anchor=False)
    if rows.height > 1:
        st.markdown("Pages and charts count each turn once, in the first of these that has it.")
    draw_columns(
        {
            "Publisher's release": [plain(name) for name in rows["release"]],
            "What it is": [
                f"**{plain(title)}**: {plain(text or '')}" if title else "not declared"
                for title, text in rows.select("title", "description").iter_rows()
            ],
            "Records": [f"{count:,}" for count in rows["records"]],
        }
    )


def _draw_labels(opened: ServedWarehouse, corpus: Corpus) -> None:
    schemes = opened.schemes(corpus["corpus_id"])
    if schemes:
        st.subheader("What do its labels mean?", anchor=False)
    for scheme in schemes.values():
        st.markdown(f"**{plain(scheme.name)}**: {plain(scheme.description)}")
        known = [(label, meaning) for label, meaning in scheme.labels.items() if meaning][:_MOST_LABELS]
        if known:
            shown = {
                "Label": [plain(label) or "(empty)" for label, _ in known],
                "Meaning": [plain(meaning) for _, meaning in known],
            }
            draw_columns(shown)


def draw_licence(opened: ServedWarehouse, corpus: Corpus) -> None:
    """Draw under which terms a corpus is, part by part, and how it is cited."""
    st.subheader("Licence and terms", anchor=False)
    if corpus["is_sample"]:
        st.caption(_SAMPLE)
    st.markdown(linked(corpus["licence"] or NOT_STATED, corpus["licence_url"]))
    if corpus["terms"]:
        st.markdown(plain(corpus["terms"]))
    with opened.connection() as con:
        warehouse = Opened(con)
        parts = parts_of_corpus(warehouse, corpus["corpus_id"])
        entry = bibtex_of(warehouse.corpora)[corpus["corpus_id"]]
    if parts:
        draw_columns(
            {
                "Part": [plain(part.part) for part in parts],
                "Licence": [linked(part.spdx or "none", part.licence_url) for part in parts],
                "It asks": ["; ".join(ASKED[flag] for flag in part.flags) or "nothing" for part in parts],
                "Note": [plain(part.note) for part in parts],
            }
        )
    st.subheader("How to cite it", anchor=False)
    st.code(visible(corpus["citation"], lines=True), language=None, wrap_lines=True)
    st.code(visible(entry, lines=True), language=None, wrap_lines=True)
    st.markdown(linked("Home page of the corpus", corpus["homepage"]))


def draw_tasks(opened: ServedWarehouse, corpus: Corpus) -> None:
    """Draw the tasks of a corpus, with links to the examples of each split."""
    rows = opened.rows(sql_of(__file__, "corpus_splits"), {"corpus": corpus["corpus_id"]})
    if rows.is_empty():
        st.info("This corpus has no examples of tasks in this warehouse.")
    for (task,), splits in rows.group_by("task", maintain_order=True):
        st.subheader(plain(str(task)), anchor=False)
        st.markdown(plain(splits["comment"][0] or ""))
        draw_columns(_splits(f"{corpus['corpus_id']}.{task}", splits))


def _splits(task: str, splits: pl.DataFrame) -> dict[str, list[str]]:
    """Return the cells of a table: the splits of a task as links to their examples, with their sizes."""
    release = "Publisher's release"
    cells: dict[str, list[str]] = {release: [], "Split": [], "Examples": [], "Dialogues": [], "Turns": []}
    for row in splits.to_dicts():
        chosen = {f"task_{name}": row[name] for name in ("release", "split") if row[name] is not None}
        cells[release].append(plain(row["release"] or ""))
        cells["Split"].append(linked(row["split"] or "all", links.tasks(task, **chosen)))
        for name in ("example", "dialogue", "turn"):
            cells[f"{name.title()}s"].append(f"{row[f'{name}_count']:,}")
    return cells if any(cells[release]) else {name: cells[name] for name in cells if name != release}


def draw_findings(opened: ServedWarehouse, corpus: Corpus) -> None:
    """Draw which rules the files of a corpus break, with the way to each place."""
    rules = opened.rows(queries.of_command("findings_by_rule"))
    rules = rules.filter(pl.col("corpus_id") == corpus["corpus_id"])
    if rules.is_empty():
        st.markdown("Nothing was refused or warned about.")
        return
    st.markdown(f"{counted(int(rules['finding_count'].sum()), 'finding')}, by the rules that found them.")
    draw_columns(
        {
            "Rule": [linked(rule, links.quality(rule)) for rule in rules["rule"]],
            "Found": [f"{count:,}" for count in rules["finding_count"]],
            "Severity": [plain(severity) for severity in rules["severity"]],
            "When it applies": [plain(condition or "") for condition in rules["condition"]],
        }
    )


_PARTS = {
    "Datasheet": draw_datasheet,
    "Licence and citation": draw_licence,
    "Tasks and splits": draw_tasks,
    "Overlap": overlap.draw_of_corpus,
    "Findings": draw_findings,
}
"""The sections of a page next to its charts, each drawn on request."""
