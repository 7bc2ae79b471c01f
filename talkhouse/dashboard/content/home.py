"""Home: the last build, what was found, and the corpora with their sizes and licences."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from talkhouse.charts.declarations import dashboards
from talkhouse.charts.declared import Headline
from talkhouse.citation.formats import bibtex_of
from talkhouse.dashboard import links, receipt, warehouse
from talkhouse.dashboard.content import quality
from talkhouse.dashboard.content.corpus import NOT_STATED
from talkhouse.dashboard.drawing import draw_headlines
from talkhouse.dashboard.tables import counted
from talkhouse.dashboard.text import linked, plain
from talkhouse.escaping import visible
from talkhouse.provenance import not_published
from talkhouse.queries.catalogue import BI
from talkhouse.warehouse.opened import Warehouse

_CARDS = 3
"""Corpora side by side."""

_BUILD = """
select load_id, finished_at, source, talkhouse_version, schema_revision from meta.loads order by load_id desc limit 1
"""

_COUNTERS = {
    "Dialogues": "dialogue_count",
    "Turns": "turn_count",
    "Records": "record_count",
    "Labels": "default_label_count",
    "Examples": "default_example_count",
    "Findings": "finding_count",
}

_SIZES = {
    "dialogue_count": "dialogue",
    "turn_count": "turn",
    "default_label_count": "label",
    "default_example_count": "example",
}
"""Things that a card counts, if there are any."""


def page() -> None:
    """Draw the contents of the warehouse."""
    st.title("Talkhouse", anchor=False)
    opened = warehouse.current()
    for build in opened.rows(_BUILD).to_dicts():
        load = f"build {build['load_id']}, {build['finished_at']:%d %B %Y, %H:%M} UTC, from {build['source']}"
        by = f"Talkhouse {build['talkhouse_version']}, schema {build['schema_revision']}"
        st.caption(plain(f"{opened.version.path.name}: {load} ({by})"))
    corpora = opened.rows_of_pages(warehouse.CORPORA).to_dicts()
    with opened.connection() as con:
        cited = bibtex_of(Warehouse(con).corpora)
    if not corpora:
        st.info("This warehouse has no corpora yet. Load some with: `talkhouse build --data DIR`")
        return
    of_all = [file for file in dashboards(opened.query_files) if file.folder == BI and file.name != quality.DASHBOARD]
    draw_headlines(opened, [headline for file in of_all for headline in file.dashboard.headlines])
    st.header("Corpora", anchor=False)
    with st.container(horizontal=True):
        for title, name in _COUNTERS.items():
            st.metric(title, f"{sum(corpus[name] for corpus in corpora):,}", width="content")
    if any(corpus["label_count"] != corpus["default_label_count"] for corpus in corpora):
        st.caption(
            "Labels and examples are those of each dialogue's default publication; "
            "`talkhouse build` and `status` count those of all releases."
        )
    receipt.draw_choice(
        opened, {title: f"select sum({name}) as {name}\nfrom bi.corpora" for title, name in _COUNTERS.items()}
    )
    _draw_corpora(opened, corpora, cited)


def _draw_corpora(opened: warehouse.ServedWarehouse, corpora: list[dict[str, Any]], cited: Mapping[str, str]) -> None:
    """Draw a card per corpus: description, main finding, licence, size and citation."""
    declared = {file.folder: file.dashboard for file in reversed(dashboards(opened.query_files))}
    for first in range(0, len(corpora), _CARDS):
        columns = st.columns(_CARDS)
        for column, corpus in zip(columns, corpora[first : first + _CARDS], strict=False):
            with column.container(border=True, height="stretch"):
                own = declared.get(corpus["corpus_id"])
                _draw_corpus(opened, corpus, own.headlines[:1] if own else ())
                with st.expander("Cite", icon=":material/format_quote:"):
                    st.code(visible(cited[corpus["corpus_id"]], lines=True), language=None, wrap_lines=True)


def _draw_corpus(opened: warehouse.ServedWarehouse, corpus: Mapping[str, Any], found: Sequence[Headline]) -> None:
    note = not_published(corpus)
    badge = f"  :orange-badge[{plain(note)}]" if note else ""
    st.subheader(linked(corpus["title"], links.corpus(corpus["corpus_id"])) + badge, anchor=False)
    st.markdown(plain(corpus["description"] or "It has no description: corpus.toml can give it one."))
    draw_headlines(opened, found)
    sizes = [counted(corpus[name], what) for name, what in _SIZES.items() if corpus[name]]
    languages = plain(", ".join(corpus["languages"].split()) or "language not stated")
    st.markdown(f"{', '.join(sizes) or 'nothing was loaded'}; {languages}")
    st.markdown(f"Licence: {linked(corpus['licence'] or NOT_STATED, corpus['licence_url'])}")
    if corpus["terms"]:
        st.caption(plain(corpus["terms"]))
    # What the cards of a row have at their ends stands side by side.
    st.space("stretch")
    read = linked("Read its dialogues", links.read(corpus=corpus["corpus_id"]))
    home = f" \N{MIDDLE DOT} {linked('Home page', corpus['homepage'])}" if corpus["homepage"] else ""
    st.markdown(f"{read}{home}")
