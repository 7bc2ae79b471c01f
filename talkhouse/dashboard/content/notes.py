"""Notes: all labels and words that were written on turns and conversations, each leading to where it was written."""

from collections import Counter
from pathlib import Path

import polars as pl
import streamlit as st

from talkhouse.charts.fields import ChartField
from talkhouse.dashboard import links, warehouse
from talkhouse.dashboard.reading.turn_notes import draw_wrong, notes_on, remove_note, state_in_words
from talkhouse.dashboard.tables import counted, table_html
from talkhouse.dashboard.text import plain
from talkhouse.escaping import visible
from talkhouse.notes.notes_file import NoteNow, path_for

_SIZE = 100
"""Notes on a page."""

_COLUMNS = {
    "place": "Dialogue and turn",
    "label": "Label",
    "note": "Note",
    "state": "Text",
    "author": "Author",
    "number": "Number",
}

_THERE = "select dialogue_id from main.dialogues where dialogue_id in (select unnest($ids))"


def path() -> Path:
    """Return the path of the file of notes, which may not exist."""
    return path_for(warehouse.path())


def page() -> None:
    """Draw the notes that are chosen."""
    st.title("Notes", anchor=False)
    st.caption(
        "Labels and words that were written on turns and dialogues, in Read or by talkhouse notes. They are in "
        f"{plain(path().name)} next to the warehouse, which builds do not touch. If a text has changed since, has "
        "moved or is gone, the list says so."
    )
    draw_wrong()
    opened = warehouse.current()
    notes = notes_on(opened)
    with st.container(horizontal=True):
        chosen = {
            name: _choose(title, name, Counter(_value(note, name) for note in notes))
            for name, title in (("label", "Label"), ("state", "Text"), ("author", "Author"))
        }
    shown = [note for note in notes if all(value in (None, _value(note, name)) for name, value in chosen.items())]
    st.markdown(f"**{len(shown):,}** of {counted(len(notes), 'note')}")
    if not shown:
        return
    pages = -(-len(shown) // _SIZE)
    number = st.pagination(pages, key="notes", bind="query-params") if pages > 1 else 1
    _draw_table(opened, shown[(number - 1) * _SIZE : number * _SIZE])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = st.number_input("Number of a note", 1, value=None, key="note.number", width=160)
        st.button("Remove it", icon=":material/delete:", disabled=wanted is None, on_click=remove_note, args=(wanted,))


def _value(current: NoteNow, name: str) -> str | None:
    """Return the value by which a note is filtered."""
    value: str | None = current.state.value if name == "state" else getattr(current.note, name)
    return value


def _choose(title: str, name: str, counts: Counter[str | None]) -> str | None:
    """Draw a choice of the values that there are, each with its number; the address has it."""
    options = [value for value, _ in counts.most_common() if value is not None]
    return st.selectbox(
        title,
        options,
        None,
        key=name,
        bind="query-params",
        placeholder="All",
        format_func=lambda value: f"{visible(value)} ({counts[value]:,})",
    )


def _draw_table(opened: warehouse.ServedWarehouse, notes: list[NoteNow]) -> None:
    ids = sorted({note.note.dialogue_id for note in notes})
    there = set(opened.rows(_THERE, {"ids": ids})["dialogue_id"])
    rows = [
        {
            "place": note.note.dialogue_id
            if note.note.turn_index is None
            else f"{note.note.dialogue_id} {note.note.turn_index}",
            "label": note.note.label,
            "note": note.note.note,
            "state": state_in_words(note),
            "author": note.note.author,
            "number": str(note.note.note_id),
        }
        for note in notes
    ]
    leads = [
        links.read(note.note.dialogue_id, note.turn_index) if note.note.dialogue_id in there else "" for note in notes
    ]
    fields = [ChartField(name, title) for name, title in _COLUMNS.items()]
    st.html(table_html("Notes", pl.DataFrame(rows, dict.fromkeys(_COLUMNS, pl.String)), fields, leads))
