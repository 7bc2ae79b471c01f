"""Read: find conversations, and read them with their labels, the files that they come from and their licence."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from talkhouse.citation.formats import bibtex
from talkhouse.citation.work import Citation
from talkhouse.dashboard import links, reading, warehouse
from talkhouse.dashboard.content.notes import by_turn, draw_gone, draw_note_on_turn, draw_note_on_whole, notes_on
from talkhouse.dashboard.links import arrival_html
from talkhouse.dashboard.reading.conversation_display import draw_declared
from talkhouse.dashboard.reading.listing import draw_list
from talkhouse.dashboard.reading.selection import ReadState, rows
from talkhouse.dashboard.reading.talk import DialogueReading, Matches, talk_html
from talkhouse.dashboard.text import facts, html, plain, tag, text
from talkhouse.dashboard.warehouse import ONE_READS, ServedWarehouse, Version
from talkhouse.dialogues.dialogue import of_default, show
from talkhouse.dialogues.turns import facts as extra_facts
from talkhouse.escaping import visible
from talkhouse.ingest.registry import all_corpora
from talkhouse.notes.notes_file import NoteNow
from talkhouse.provenance import not_published
from talkhouse.restore.raw_record import raw
from talkhouse.schema.sql_files import sql_of
from talkhouse.search.containing import Pattern, hits
from talkhouse.settings import corpus_folders

_STYLE = Path(reading.__file__).with_name("style.css")


def page() -> None:
    """Draw the list of conversations, or the one that the URL names."""
    here = st.Page(page, title="Read", url_path="read")
    state = ReadState.current()
    state.go()
    opened = warehouse.current()
    st.html(_STYLE)
    with st.container(key="reading"):
        if state.source:
            draw_source(here, opened, state)
        elif state.record or state.dialogue:
            draw_conversation(here, opened, state)
        else:
            draw_list(here, opened, state)


_SHOWN = 100_000
"""Bytes that the page shows at most; the download has all."""


def draw_source(here: st.Page, opened: ServedWarehouse, state: ReadState) -> None:
    """Draw the record, named as for ``talkhouse show --raw``; raises UsageError if there is none."""
    back = "Dialogue" if state.dialogue or state.record else "List"
    state.shown(source="").link(here, back, icon=":material/arrow_back:")
    st.html(f'<h1 class="title" dir="auto">{html(state.source)}</h1>')
    record = _record(opened, opened.version, state.source)
    st.caption("The source record as published: JSON equal in every value, anything else byte for byte.")
    name = re.sub(r"[^\w.-]+", "_", state.source) or "record"
    st.download_button(f"Download ({len(record):,} bytes)", record, name, "application/octet-stream", on_click="ignore")
    shown = record[:_SHOWN].decode("utf-8", "backslashreplace")
    st.code(visible(shown, lines=True), language=None, wrap_lines=True)
    if len(record) > _SHOWN:
        st.caption(f"{len(record) - _SHOWN:,} more bytes are in the download.")


@st.cache_data(max_entries=20, show_spinner=False)
def _record(_opened: ServedWarehouse, version: Version, name: str) -> bytes:  # noqa: ARG001
    # By the version, and not by what has it open, is a record known again.
    with ONE_READS, _opened.connection() as con:
        return raw(con, name, all_corpora(corpus_folders()))


_CACHED = 20
"""Conversations that are kept in memory."""

_SCROLLS = 300
"""Characters from which on a value may need more lines than are seen at once."""

_OPEN = 3
"""Up to so many records are seen without a click."""


@dataclass(frozen=True)
class PublishedRelease:
    """A publisher's release of a corpus; ``is_default``: the default publication of the conversation is of it."""

    name: str
    title: str | None
    is_default: bool

    @property
    def described(self) -> str:
        """Its name with its title."""
        return f"{self.name} ({self.title})" if self.title else self.name


def draw_conversation(here: st.Page, opened: ServedWarehouse, state: ReadState) -> None:
    """Draw the dialogue or record that a state names; raises UsageError if there is none."""
    way = st.container(horizontal=True, vertical_alignment="center")
    with way:
        state.opened().link(here, "List", icon=":material/arrow_back:")
    found = _found(opened, opened.version, state.record or state.dialogue)
    dialogue = found["dialogue"]
    if dialogue:
        with way:
            _draw_neighbours(opened, state, dialogue["dialogue_id"])
    _draw_head(here, state, found)
    notes = notes_on(opened, dialogue["dialogue_id"]) if dialogue else []
    if dialogue:
        draw_note_on_whole(found, notes)
    _draw_talk(opened, state, found, notes)
    if dialogue:
        draw_gone(notes)
        draw_note_on_turn(found, state.turn, notes)
    _draw_records(here, state, found["records"])
    _draw_corpus(found["corpus"])


@st.cache_data(max_entries=_CACHED, show_spinner=False)
def _found(_opened: ServedWarehouse, version: Version, name: str) -> dict[str, Any]:  # noqa: ARG001
    # By the version, and not by what has it open, is a conversation known again.
    with _opened.connection() as con:
        return show(con, name)


def _matches(opened: ServedWarehouse, pattern: Pattern, dialogue_id: str) -> Matches:
    """Find the searched text, said by any speaker."""
    with opened.connection() as con:
        pattern.check(con)
        rows = con.execute(
            f"select dialogue_id, turn_index from main.turns where dialogue_id = $dialogue and {pattern.condition}",
            {"dialogue": dialogue_id, "pattern": pattern.text},
        ).fetchall()
        return {hit.turn_index: hit.matches for hit in hits(con, rows, pattern, 0)}


def _draw_talk(opened: ServedWarehouse, state: ReadState, found: dict[str, Any], notes: Sequence[NoteNow]) -> None:
    """Draw the turns with the labels of the default publication, or of all; mark the turn that the state names."""
    dialogue, corpus_id = found["dialogue"], found["corpus"]["corpus_id"]
    matches = _matches(opened, state.pattern, dialogue["dialogue_id"]) if dialogue and state.pattern else {}
    records, compare = found["records"], False
    if found["kind"] == "dialogue":
        releases = releases_of(opened, corpus_id, dialogue["dialogue_id"])
        records = in_order(records, releases)
        compare = _draw_comparison(state, records, releases)
        records = (
            records if compare else of_default(records, [release.name for release in releases if release.is_default])
        )

    def address(turn_index: int) -> str:
        return state.shown(turn=turn_index).address

    def like(turn_index: int) -> str:
        return links.search(like=dialogue["dialogue_id"], turn=turn_index)

    declared = draw_declared(opened, found, address, state.turn)
    reading = DialogueReading(
        opened.schemes(corpus_id),
        matches,
        turn=state.turn,
        address=address,
        like=like if dialogue else None,
        compare=compare,
        declared=declared,
        notes=by_turn(notes),
    )
    st.html(talk_html(found, reading, declared.shown(records)))
    if state.turn >= 0:
        st.html(arrival_html(f"{found['id']} {state.turn}"), unsafe_allow_javascript=True)


def _draw_comparison(state: ReadState, records: list[dict[str, Any]], releases: list[PublishedRelease]) -> bool:
    """Draw the choice to compare all publications, if several have labels; return whether it is on."""
    labelled = {record["release"] for record in records if record["annotations"]}
    others = [release for release in releases if release.name in labelled and not release.is_default]
    shown = [release for release in releases if release.is_default]
    if not others or not shown:
        return False
    with st.container(horizontal=True, vertical_alignment="center"):
        state.draw(st.toggle, "compare", "Compare publications")
        if not state.compare:
            also = ", ".join(release.described for release in others)
            st.caption(plain(f"Labels of {shown[0].described}; also published: {also}"))
    return state.compare


def releases_of(opened: ServedWarehouse, corpus_id: str, dialogue_id: str) -> list[PublishedRelease]:
    """Return the publisher's releases of a corpus, the preferred one first; none if it has no more than one."""
    rows = opened.rows(sql_of(__file__, "dialogue_releases"), {"corpus": corpus_id, "dialogue": dialogue_id})
    return [PublishedRelease(*row) for row in rows.iter_rows()]


def in_order(records: Iterable[dict[str, Any]], releases: Sequence[PublishedRelease]) -> list[dict[str, Any]]:
    """Return records by the order of their publisher's releases; those of none come last."""
    places = {release.name: place for place, release in enumerate(releases)}
    return sorted(records, key=lambda record: places.get(record["release"], len(places)))


def _draw_neighbours(opened: ServedWarehouse, state: ReadState, dialogue_id: str) -> None:
    """Draw the ways to the conversations before and after this one in the list, and its place there."""
    selection = state.selection
    found = rows(opened, state.sort, selection.beside(), {**selection.values, "dialogue": dialogue_id})
    for row in found.to_dicts():
        for name, icon, key in (("previous", "chevron_left", "Left"), ("next", "chevron_right", "Right")):
            st.button(
                name.title(),
                key=f"read.{name}",
                icon=f":material/{icon}:",
                type="tertiary",
                shortcut=key,
                disabled=row[name] is None,
                on_click=state.opened(**(row[name] or {})).go,
            )
        st.markdown(f":gray[{row['position']:,} of {row['dialogues']:,}]", width="content")


def _draw_head(here: st.Page, state: ReadState, found: dict[str, Any]) -> None:
    corpus, dialogue = found["corpus"], found["dialogue"] or {}
    note = not_published(corpus)
    tag_of_title = f" ({note})" if note else ""
    started = f"{dialogue['started_at']:%Y-%m-%d %H:%M:%S}" if dialogue.get("started_at") else None
    made_from = f"made from {dialogue['derived_from']}" if dialogue.get("derived_from") else None
    head = tag("h1", "title", html(found["id"]), ' dir="auto"')
    if dialogue.get("title"):
        head += tag("div", "subtitle", html(dialogue["title"]), ' dir="auto"')
    head += facts(
        [corpus["title"] + tag_of_title, dialogue.get("domain"), dialogue.get("language"), started, made_from]
    )
    extra = dialogue.get("extra") if dialogue else found["records"][0]["extra"]
    st.html(head + _table(extra_facts(extra)))
    if found["kind"] == "record" and dialogue:
        dialogue_id = dialogue["dialogue_id"]
        label = f"This is one record of {plain(dialogue_id)}: show all"
        state.opened(dialogue=dialogue_id).link(here, label, icon=":material/forum:")


def _table(rows: Iterable[tuple[str, Any]]) -> str:
    """Return names and values in two columns; unknown values are left out."""
    cells = "".join(text("name", name) + _value(str(value)) for name, value in rows if value not in (None, ""))
    return tag("div", "table", cells)


def _value(value: str) -> str:
    """Return a value; a long one, which scrolls, can be reached by keys."""
    attributes = ' dir="auto" tabindex="0"' if len(value) > _SCROLLS else ' dir="auto"'
    return tag("span", "value", html(value), attributes)


def _draw_records(here: st.Page, state: ReadState, records: list[dict[str, Any]]) -> None:
    label = "Where it comes from" if len(records) == 1 else f"Where it comes from: {len(records):,} records"
    with st.expander(label, expanded=len(records) <= _OPEN, icon=":material/description:"):
        for record in records:
            source = record["source"]
            st.html(
                _table(
                    {
                        "record": record["record_id"],
                        "release": record["release"],
                        "subset": record["subset"],
                        "split": record["split"],
                        "file": source["source_file_id"],
                        "pointer": source["pointer"] or "(the whole file)",
                        "sha256": source["sha256"],
                    }.items()
                )
            )
            with st.container(horizontal=True):
                name = record["record_id"]
                state.shown(source=name).link(here, "As published", icon=":material/data_object:")
                if len(records) > 1:
                    state.opened(record=name).link(here, "Only this record", icon=":material/filter_alt:")


def _draw_corpus(corpus: dict[str, Any]) -> None:
    with st.expander(f"Licence, terms and how to cite: {plain(corpus['title'])}", icon=":material/gavel:"):
        st.html(
            _table(
                {
                    "licence": corpus["licence"],
                    "text": corpus["licence_url"],
                    "terms": corpus["terms"],
                    "home page": corpus["homepage"],
                }.items()
            )
        )
        for cited in (corpus["citation"], bibtex([Citation.from_corpus(corpus)])):
            st.code(visible(cited, lines=True), language=None, wrap_lines=True)
