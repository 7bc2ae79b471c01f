"""What there is to know of a corpus beside its charts: datasheet, licence, tasks and splits, findings."""

from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

import polars as pl
import streamlit as st

from talkhouse import queries
from talkhouse.citation.formats import bibtex_of
from talkhouse.dashboard import links
from talkhouse.dashboard.tables import counted
from talkhouse.dashboard.text import linked, plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.query.terms import ASKED, parts_of_corpus
from talkhouse.visible import visible
from talkhouse.warehouse.build_facts import NOT_PUBLISHED, QUESTIONS, datasheets
from talkhouse.warehouse.opened import Warehouse as Opened

_RELEASES = """
select releases.release, releases.title, releases.description, count(*) as records
from main.releases
inner join main.records using (corpus_id, release)
where corpus_id = $corpus
group by all
order by min(release_index)
"""

_LABELS = """
select schemes.scheme, schemes.description, labels.label, labels.meaning
from main.schemes
left join main.labels using (scheme)
where starts_with(schemes.scheme, $corpus || '.')
order by schemes.rowid, label_index
"""

_SPLITS = """
select splits.task, comments.comment, release, split, example_count, dialogue_count, turn_count
from bi.splits
left join duckdb_views() as comments
    on comments.database_name = current_database()
    and comments.schema_name = $corpus
    and comments.view_name = splits.task
where corpus_id = $corpus
order by
    splits.task,
    release nulls first,
    list_position(['train', 'validation', 'test'], standard_split) nulls last,
    split
"""

_MOST_LABELS = 30
"""Labels of a scheme that a page lists."""

NOT_STATED = "not stated"
"""What stands for a licence where there is none."""

_SAMPLE = "What is loaded is an invented sample. All of this is about the published corpus."

Corpus = Mapping[str, Any]
"""A row of ``main.corpora``."""


def draw_datasheet(opened: Warehouse, corpus: Corpus) -> None:
    """Draw what a user should know of a corpus before using it, and what its labels mean."""
    with opened.connection() as con:
        said = datasheets(con, Opened(con).database).get(corpus["corpus_id"], {})
    if corpus["is_sample"]:
        st.caption(_SAMPLE)
    if not said:
        st.info("This corpus declares no datasheet.")
    for name, question in QUESTIONS.items() if said else ():
        st.subheader(question, anchor=False)
        answer = said.get(name) or f"{NOT_PUBLISHED.capitalize()}."
        st.markdown(_items(answer) if isinstance(answer, list) else plain(answer))
    _draw_releases(opened, corpus)
    _draw_labels(opened, corpus)


def _draw_releases(opened: Warehouse, corpus: Corpus) -> None:
    rows = opened.rows(_RELEASES, {"corpus": corpus["corpus_id"]})
    if rows.is_empty():
        return
    st.subheader("In which publications is it?", anchor=False)
    if rows.height > 1:
        st.markdown("Pages and charts count each turn once: by the first of these that has it.")
    st.table(
        {
            "Publisher's release": [plain(name) for name in rows["release"]],
            "What it is": [
                f"**{plain(title)}**: {plain(text or '')}" if title else "not declared"
                for title, text in rows.select("title", "description").iter_rows()
            ],
            "Records": [f"{count:,}" for count in rows["records"]],
        },
        border="horizontal",
        hide_index=True,
    )


def _draw_labels(opened: Warehouse, corpus: Corpus) -> None:
    rows = opened.rows(_LABELS, {"corpus": corpus["corpus_id"]}).to_dicts()
    if rows:
        st.subheader("What do its labels mean?", anchor=False)
    for scheme, group in groupby(rows, itemgetter("scheme")):
        labels = [row for row in group if row["label"] is not None or row["meaning"] is None]
        st.markdown(f"**{plain(scheme)}**: {plain(labels[0]['description'])}")
        known = [row for row in labels if row["meaning"]][:_MOST_LABELS]
        if known:
            shown = {
                "Label": [plain(row["label"]) or "(empty)" for row in known],
                "Meaning": [plain(row["meaning"]) for row in known],
            }
            st.table(shown, border="horizontal", hide_index=True)


def draw_licence(opened: Warehouse, corpus: Corpus) -> None:
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
        st.table(
            {
                "Part": [plain(part.part) for part in parts],
                "Licence": [linked(part.spdx or "none", part.licence_url) for part in parts],
                "It asks": ["; ".join(ASKED[flag] for flag in part.flags) or "nothing" for part in parts],
                "Note": [plain(part.note) for part in parts],
            },
            border="horizontal",
            hide_index=True,
        )
    st.subheader("How to cite it", anchor=False)
    st.code(visible(corpus["citation"], lines=True), language=None, wrap_lines=True)
    st.code(visible(entry, lines=True), language=None, wrap_lines=True)
    st.markdown(linked("Home page of the corpus", corpus["homepage"]))


def draw_tasks(opened: Warehouse, corpus: Corpus) -> None:
    """Draw the tasks of a corpus with the examples of each split, from which one gets to them."""
    rows = opened.rows(_SPLITS, {"corpus": corpus["corpus_id"]})
    if rows.is_empty():
        st.info("This corpus has no examples of tasks in this warehouse.")
    for (task,), splits in rows.group_by("task", maintain_order=True):
        st.subheader(plain(str(task)), anchor=False)
        st.markdown(plain(splits["comment"][0] or ""))
        st.table(_splits(f"{corpus['corpus_id']}.{task}", splits), border="horizontal", hide_index=True)


def _splits(task: str, splits: pl.DataFrame) -> dict[str, list[str]]:
    """Return the cells of a table: the splits of a task as links to their examples, with their sizes."""
    cells: dict[str, list[str]] = {"Publisher's release": [], "Split": [], "Examples": [], "Dialogues": [], "Turns": []}
    for row in splits.to_dicts():
        chosen = {f"task_{name}": row[name] for name in ("release", "split") if row[name] is not None}
        cells["Publisher's release"].append(plain(row["release"] or ""))
        cells["Split"].append(linked(row["split"] or "all", links.tasks(task, **chosen)))
        for name in ("example", "dialogue", "turn"):
            cells[f"{name.title()}s"].append(f"{row[f'{name}_count']:,}")
    return (
        cells
        if any(cells["Publisher's release"])
        else {name: cells[name] for name in cells if name != "Publisher's release"}
    )


def draw_findings(opened: Warehouse, corpus: Corpus) -> None:
    """Draw which rules the files of a corpus break, with the way to each place."""
    rules = opened.rows(queries.of_command("findings_by_rule"))
    rules = rules.filter(pl.col("corpus_id") == corpus["corpus_id"])
    if rules.is_empty():
        st.markdown("Nothing was refused or warned about.")
        return
    st.markdown(f"{counted(int(rules['finding_count'].sum()), 'finding')}, by the rules that found them.")
    st.table(
        {
            "Rule": [linked(rule, links.quality(rule)) for rule in rules["rule"]],
            "Found": [f"{count:,}" for count in rules["finding_count"]],
            "Severity": [plain(severity) for severity in rules["severity"]],
            "When it applies": [plain(condition or "") for condition in rules["condition"]],
        },
        border="horizontal",
        hide_index=True,
    )


def _items(texts: list[str]) -> str:
    return "\n".join(f"- {plain(text)}" for text in texts)
