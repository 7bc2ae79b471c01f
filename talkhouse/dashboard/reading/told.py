"""What a corpus declares of how its conversations are read: an explanation, a timeline, turns as lines."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from talkhouse.charts.conversations import Timeline, conversations
from talkhouse.charts.query import sql_of_timeline
from talkhouse.dashboard import errors, links, reading
from talkhouse.dashboard.reading.cards import lines_html
from talkhouse.dashboard.reading.timeline import Address, Step, notes_html, steps_of, timeline_html
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import Warehouse
from talkhouse.schema.errors import CatalogueError
from talkhouse.schema.sql import literal

_STYLE = Path(reading.__file__).with_name("timeline.css")


@dataclass(frozen=True)
class Told:
    """What is drawn in the talk itself."""

    lines: Mapping[int, str] = field(default_factory=dict)
    """turn_index -> HTML in place of its text."""
    notes: Mapping[int, str] = field(default_factory=dict)
    """turn_index -> HTML below its text."""
    hidden: frozenset[str] = frozenset()
    """Annotation schemes that are not shown turn by turn."""

    def shown(self, records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return records without the labels that are hidden."""
        return [
            {**record, "annotations": [one for one in record["annotations"] if one["scheme"] not in self.hidden]}
            for record in records
        ]


def put_told(opened: Warehouse, found: dict[str, Any], address: Address, here: int) -> Told:
    """Draw what the corpus of a conversation declares of it, and return what belongs into the talk."""
    try:
        declared = conversations(found["corpus"]["corpus_id"], opened.query_files)
        if declared is None or not found["dialogue"]:
            return Told()
        steps = _steps(opened, declared.timeline, found)
    except CatalogueError as error:
        errors.show(str(error), "What is declared of these conversations can't be shown.")
        return Told()
    st.html(_STYLE)
    if declared.explanation:
        st.markdown(plain(declared.explanation.strip(), lines=True))
    if declared.timeline and steps:
        st.markdown(f"**{plain(declared.timeline.title)}**")
        st.html(timeline_html(steps, found["turns"], address, here, declared.timeline.overall_title))
    if declared.hidden:
        names = ", ".join(name.partition(".")[2] for name in declared.hidden)
        # No caption: links in it have too little contrast.
        st.markdown(f":small[Not shown turn by turn: {plain(names)}] {_in_sql(found, declared.hidden)}")
    return Told(lines_html(found["turns"], declared.lines), notes_html(steps), frozenset(declared.hidden))


def _in_sql(found: dict[str, Any], schemes: Iterable[str]) -> str:
    """Return a link to a query of the labels of some schemes, as Markdown."""
    named = ", ".join(map(literal, schemes))
    query = (
        "select turn_index, scheme, annotator_id, label, value\nfrom main.annotations\n"
        f"where dialogue_id = {literal(found['dialogue']['dialogue_id'])}\n    and scheme in ({named})\n"
        "order by turn_index, scheme, annotator_index, item_index"
    )
    return f"[:small[In SQL]](<{links.sql(query)}>)"


def _steps(opened: Warehouse, timeline: Timeline | None, found: dict[str, Any]) -> list[Step]:
    if timeline is None:
        return []
    record_ids = [record["record_id"] for record in found["records"]]
    with sql_of_timeline(timeline, opened.query_files):
        return steps_of(opened, timeline, found["dialogue"]["dialogue_id"], record_ids)
