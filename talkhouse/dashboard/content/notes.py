"""Notes: all labels and words that were written on turns and conversations, each leading to where it was written.

On the page Read they are shown at their turns, written on the turn that the address names, and removed.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from getpass import getuser
from pathlib import Path
from typing import Any

import polars as pl
import streamlit as st

from talkhouse.charts.fields import ChartField
from talkhouse.dashboard import errors, links, warehouse
from talkhouse.dashboard.tables import counted, table_html
from talkhouse.dashboard.text import plain, tag, text
from talkhouse.dashboard.warehouse import ServedWarehouse, Version
from talkhouse.escaping import visible
from talkhouse.notes import notes_file
from talkhouse.notes.agreement import agreement, labels_of, shares, with_corpus
from talkhouse.notes.notes_file import Note, NoteNow, path_for
from talkhouse.schema.errors import TalkhouseError

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


def notes_on(opened: ServedWarehouse, dialogue_id: str | None = None) -> list[notes_file.NoteNow]:
    """Return the notes on a dialogue, or on all; none, and a message, if the file of notes can't be read.

    Without a file, nothing is opened.
    """
    version = warehouse.version(notes_file.path_for(warehouse.path()))
    if version is None:
        return []
    try:
        return _notes(opened, opened.version, version, dialogue_id)
    except TalkhouseError as error:
        errors.show(str(error), "The notes can't be shown.")
        return []


@st.cache_data(max_entries=20, show_spinner=False)
def _notes(
    _opened: ServedWarehouse,
    version: Version,  # noqa: ARG001 - by the versions of both files is it known again
    of_notes: Version,
    dialogue_id: str | None,
) -> list[notes_file.NoteNow]:
    with warehouse.beside(of_notes.path, notes_file.open_notes) as beside:
        found = notes_file.notes_of(beside, {} if dialogue_id is None else {"dialogue_id": dialogue_id})
    with _opened.connection() as con:
        return notes_file.with_states(con, found)


@st.cache_data(max_entries=5, show_spinner=False)
def _labels(of_notes: Version | None) -> list[str]:
    """Return the labels that were used before; of a file that can't be read, another message says so."""
    if of_notes is None:
        return []
    with suppress(TalkhouseError), warehouse.beside(of_notes.path, notes_file.open_notes) as beside:
        return notes_file.labels(beside)
    return []


def by_turn(notes: Iterable[notes_file.NoteNow]) -> Mapping[int | None, Sequence[notes_file.NoteNow]]:
    """Return notes by the turn that they are shown at; None: those on the whole. Those that are gone are left out."""
    found: defaultdict[int | None, list[notes_file.NoteNow]] = defaultdict(list)
    for note in notes:
        if note.state is not notes_file.NoteState.GONE:
            found[note.turn_index].append(note)
    return found


def notes_html(notes: Iterable[notes_file.NoteNow]) -> str:
    """Return notes as HTML, each with its author, its time, and its state if it does not fit."""
    return "".join(tag("div", "noted", _html(note)) for note in notes)


def _html(current: notes_file.NoteNow) -> str:
    note = current.note
    body = text("label", note.label) if note.label else ""
    body += text("says", note.note) if note.note else ""
    body += text("by", f"{note.author}, {note.written_at:%Y-%m-%d %H:%M} (note {note.note_id})")
    return body + (text("tie", state_in_words(current)) if current.state is not notes_file.NoteState.FITS else "")


def state_in_words(current: notes_file.NoteNow) -> str:
    """Return the current state of the text that a note was written on."""
    turn = current.note.turn_index
    return {
        notes_file.NoteState.FITS: "fits",
        notes_file.NoteState.CHANGED: "the text has changed since",
        notes_file.NoteState.MOVED: f"written on turn {turn}; the text stands at turn {current.turn_index} now",
        notes_file.NoteState.GONE: "the dialogue is gone" if turn is None else f"turn {turn} is gone",
    }[current.state]


def draw_gone(notes: Iterable[notes_file.NoteNow]) -> None:
    """Draw the notes on turns that are not there any more."""
    if gone := [note for note in notes if note.state is notes_file.NoteState.GONE]:
        st.html(tag("div", "talk", tag("div", "whole", notes_html(gone))))
        _draw_removal(gone)


def draw_note_on_whole(found: Mapping[str, Any], notes: Sequence[notes_file.NoteNow]) -> None:
    """Draw the control that opens a form for a note on the whole conversation."""
    whole = [note for note in notes if note.note.turn_index is None]
    name = "Note on the whole dialogue"
    box = st.expander(name, icon=":material/edit_note:", key="note-whole", on_change="rerun")
    if box.open:
        with box:
            texts = (turn["text"] for turn in found["turns"])
            _draw_form(found["dialogue"]["dialogue_id"], None, notes_file.dialogue_hash(texts), whole)


def draw_note_on_turn(found: Mapping[str, Any], turn_index: int, notes: Sequence[notes_file.NoteNow]) -> None:
    """Draw a form for a note on the turn that the address names, which stays in sight while the page is read."""
    utterance = next((turn["text"] for turn in found["turns"] if turn["turn_index"] == turn_index), None)
    if utterance is None:
        return
    with st.container(key="note-turn", gap="xsmall"):
        here = by_turn(notes).get(turn_index, ())
        _draw_form(found["dialogue"]["dialogue_id"], turn_index, notes_file.text_hash(utterance), here)


_ROUND, _AUTHOR, _WRONG, _RESULT = "note.round", "note.author", "note.wrong", "note.result"
"""The state of a session: the number of notes it has written, their author, and the result of the last one."""


def _draw_form(dialogue_id: str, turn_index: int | None, text_sha256: str, notes: Sequence[notes_file.NoteNow]) -> None:
    """Draw the form for a note, and the ways to remove those that are there."""
    name = "the dialogue" if turn_index is None else f"turn {turn_index}"
    # Another form for each note, so that it is empty again once a note is written, and not where one was refused.
    key = f"note.{dialogue_id}.{turn_index}.{st.session_state.get(_ROUND, 0)}"
    with st.form(key, border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        options = _labels(warehouse.version(notes_file.path_for(warehouse.path())))
        about, named = f"Label of {name}", f"{key}.label"
        st.selectbox(
            about, options, None, visible, named, placeholder="Choose or type", accept_new_options=True, width=170
        )
        st.text_input(f"Note on {name}", key=f"{key}.note")
        st.text_input("Author", st.session_state.get(_AUTHOR, _account()), key=f"{key}.author", width=130)
        save = (dialogue_id, turn_index, text_sha256, key)
        st.form_submit_button("Save", on_click=_save, args=save, type="primary")
    draw_wrong()
    if message := st.session_state.pop(_RESULT, None):
        st.caption(message)
    _draw_removal(notes)


def draw_wrong() -> None:
    """Draw the reason why the last note was not written, or removed."""
    if wrong := st.session_state.pop(_WRONG, None):
        errors.show(wrong, "The notes are as they were.")


def _draw_removal(notes: Iterable[notes_file.NoteNow]) -> None:
    with st.container(horizontal=True, gap="small"):
        for note, _, _ in notes:
            number = note.note_id
            st.button(
                f"Remove note {number}",
                key=f"note.remove.{number}",
                icon=":material/delete:",
                type="tertiary",
                on_click=remove_note,
                args=(number,),
            )


def remove_note(number: int) -> None:
    """Remove a note; ``draw_wrong`` draws the error."""
    _try(lambda: notes_file.remove(warehouse.path(), number), None)


def _try(act: Callable[[], Any], otherwise: Any) -> Any:
    try:
        return act()
    except TalkhouseError as error:
        st.session_state[_WRONG] = str(error)
        return otherwise


def _account() -> str:
    try:
        return getuser()
    except (KeyError, OSError):
        return ""


def _save(dialogue_id: str, turn_index: int | None, text_sha256: str, key: str) -> None:
    """Write a note of what is in the form."""
    label, words, author = (st.session_state[f"{key}.{name}"] for name in ("label", "note", "author"))
    note = notes_file.NewNote(dialogue_id, turn_index, text_sha256, label or None, words or None, author or "", "page")
    written = _try(lambda: notes_file.add(warehouse.path(), [note]), ())
    if written:
        st.session_state[_AUTHOR] = author
        st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
        st.session_state[_RESULT] = "That note is there already." if written == [None] else None
