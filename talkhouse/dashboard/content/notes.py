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
from talkhouse.notes.agreement import agreement, labels_of, shares, with_corpus
from talkhouse.notes.notes_file import Note, NoteNow, path_for

_SIZE = 100
"""Notes on a page."""

_COLUMNS = {
    "place": "Dialogue and turn",
    "label": "Label",
    "note": "Note",
    "state": "Text",
    "author": "Author",
    "written": "Written",
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
            for name, title in (("corpus", "Corpus"), ("label", "Label"), ("state", "Text"), ("author", "Author"))
        }
    shown = [note for note in notes if all(value in (None, _value(note, name)) for name, value in chosen.items())]
    st.markdown(f"**{len(shown):,}** of {counted(len(notes), 'note')}")
    if not shown:
        return
    pages = -(-len(shown) // _SIZE)
    number: int = st.pagination(pages, key="notes", bind="query-params") if pages > 1 else 1
    _draw_table(opened, shown[(number - 1) * _SIZE : number * _SIZE])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = st.selectbox("A note to remove", shown, None, key="note.removed", format_func=_in_a_line, width=320)
        removed = None if wanted is None else wanted.note.note_id
        st.button("Remove it", icon=":material/delete:", disabled=wanted is None, on_click=remove_note, args=(removed,))
        st.download_button(
            "Download as CSV",
            lambda: _rows(shown).write_csv().encode(),
            "notes.csv",
            "text/csv",
            on_click="ignore",
            icon=":material/download:",
        )
    _draw_authors(opened, shown)


def _draw_authors(opened: warehouse.ServedWarehouse, notes: list[NoteNow]) -> None:
    """Draw who has written how many of these, what is left to each, and how far their labels agree."""
    st.subheader("Who has written them", anchor=False)
    rows = shares(notes)
    table = {
        "Author": [plain(row.author) for row in rows],
        "Notes": [f"{row.notes:,}" for row in rows],
        "Labelled": [f"{row.labelled:,}" for row in rows],
        "Labelled by others alone": [f"{row.left:,}" for row in rows],
    }
    st.table(table, border="horizontal", hide_index=True)
    labels = labels_of(notes)
    with opened.connection() as con:
        known = with_corpus(con, labels)
    for found, whom in ((agreement(labels), "authors"), (agreement(known), "authors and the corpus's own labels")):
        if found.places:
            value = "not defined, as there is one label only" if found.alpha is None else f"{found.alpha:.3f}"
            st.markdown(
                f"Krippendorff's alpha of {whom}: **{value}** (turns and dialogues that two or more have labelled: "
                f"{found.places:,})"
            )


def _value(current: NoteNow, name: str) -> str | None:
    """Return the value by which a note is filtered."""
    if name == "corpus":
        return current.note.dialogue_id.partition(":")[0]
    value: str | None = current.state.value if name == "state" else getattr(current.note, name)
    return value


def _in_a_line(current: NoteNow) -> str:
    note = current.note
    return visible(f"{note.note_id}: {_place(note)} {note.label or ''} {note.note or ''}")


def _place(note: Note) -> str:
    return note.dialogue_id if note.turn_index is None else f"{note.dialogue_id} {note.turn_index}"


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
    leads = [
        links.read(note.note.dialogue_id, note.turn_index) if note.note.dialogue_id in there else "" for note in notes
    ]
    fields = [ChartField(name, title) for name, title in _COLUMNS.items()]
    st.html(table_html("Notes", _rows(notes), fields, leads))


def _rows(notes: list[NoteNow]) -> pl.DataFrame:
    rows = [
        {
            "place": _place(note.note),
            "label": note.note.label,
            "note": note.note.note,
            "state": state_in_words(note),
            "author": note.note.author,
            "written": f"{note.note.written_at:%Y-%m-%d %H:%M}",
            "number": str(note.note.note_id),
        }
        for note in notes
    ]
    return pl.DataFrame(rows, dict.fromkeys(_COLUMNS, pl.String))
