"""The user's notes on a conversation: shown at its turns, written on the one that the address names, and removed."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from getpass import getuser
from typing import Any

import streamlit as st

from talkhouse.dashboard import errors, warehouse
from talkhouse.dashboard.text import tag, text
from talkhouse.dashboard.warehouse import ServedWarehouse, Version
from talkhouse.escaping import visible
from talkhouse.notes.notes_file import (
    NewNote,
    NoteNow,
    NoteState,
    add,
    dialogue_hash,
    labels,
    notes_of,
    open_notes,
    path_for,
    remove,
    text_hash,
    with_states,
)
from talkhouse.schema.errors import TalkhouseError


def notes_on(opened: ServedWarehouse, dialogue_id: str | None = None) -> list[NoteNow]:
    """Return the notes on a dialogue, or on all; none, and a message, if the file of notes can't be read.

    Without a file, nothing is opened.
    """
    version = warehouse.version(path_for(warehouse.path()))
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
) -> list[NoteNow]:
    with warehouse.beside(of_notes.path, open_notes) as beside:
        found = notes_of(beside, {} if dialogue_id is None else {"dialogue_id": dialogue_id})
    with _opened.connection() as con:
        return with_states(con, found)


@st.cache_data(max_entries=5, show_spinner=False)
def _labels(of_notes: Version | None) -> list[str]:
    """Return the labels that were used before; of a file that can't be read, another message says so."""
    if of_notes is None:
        return []
    with suppress(TalkhouseError), warehouse.beside(of_notes.path, open_notes) as beside:
        return labels(beside)
    return []


def by_turn(notes: Iterable[NoteNow]) -> Mapping[int | None, Sequence[NoteNow]]:
    """Return notes by the turn that they are shown at; None: those on the whole. Those that are gone are left out."""
    found: defaultdict[int | None, list[NoteNow]] = defaultdict(list)
    for note in notes:
        if note.state is not NoteState.GONE:
            found[note.turn_index].append(note)
    return found


def notes_html(notes: Iterable[NoteNow]) -> str:
    """Return notes as HTML, each with its author, its time, and its state if it does not fit."""
    return "".join(tag("div", "noted", _html(note)) for note in notes)


def _html(current: NoteNow) -> str:
    note = current.note
    body = text("label", note.label) if note.label else ""
    body += text("says", note.note) if note.note else ""
    body += text("by", f"{note.author}, {note.written_at:%Y-%m-%d %H:%M} (note {note.note_id})")
    return body + (text("tie", state_in_words(current)) if current.state is not NoteState.FITS else "")


def state_in_words(current: NoteNow) -> str:
    """Return the current state of the text that a note was written on."""
    turn = current.note.turn_index
    return {
        NoteState.FITS: "fits",
        NoteState.CHANGED: "the text has changed since",
        NoteState.MOVED: f"written on turn {turn}; the text stands at turn {current.turn_index} now",
        NoteState.GONE: "the dialogue is gone" if turn is None else f"turn {turn} is gone",
    }[current.state]


def draw_gone(notes: Iterable[NoteNow]) -> None:
    """Draw the notes on turns that are not there any more."""
    if gone := [note for note in notes if note.state is NoteState.GONE]:
        st.html(tag("div", "talk", tag("div", "whole", notes_html(gone))))
        _draw_removal(gone)


def draw_note_on_whole(found: Mapping[str, Any], notes: Sequence[NoteNow]) -> None:
    """Draw the control that opens a form for a note on the whole conversation."""
    whole = [note for note in notes if note.note.turn_index is None]
    name = "Note on the whole dialogue"
    box = st.expander(name, icon=":material/edit_note:", key="note-whole", on_change="rerun")
    if box.open:
        with box:
            texts = (turn["text"] for turn in found["turns"])
            _draw_form(found["dialogue"]["dialogue_id"], None, dialogue_hash(texts), whole)


def draw_note_on_turn(found: Mapping[str, Any], turn_index: int, notes: Sequence[NoteNow]) -> None:
    """Draw a form for a note on the turn that the address names, which stays in sight while the page is read."""
    utterance = next((turn["text"] for turn in found["turns"] if turn["turn_index"] == turn_index), None)
    if utterance is None:
        return
    with st.container(key="note-turn", gap="xsmall"):
        here = by_turn(notes).get(turn_index, ())
        _draw_form(found["dialogue"]["dialogue_id"], turn_index, text_hash(utterance), here)


_ROUND, _AUTHOR, _WRONG, _RESULT = "note.round", "note.author", "note.wrong", "note.result"
"""The state of a session: the number of notes it has written, their author, and the result of the last one."""


def _draw_form(dialogue_id: str, turn_index: int | None, text_sha256: str, notes: Sequence[NoteNow]) -> None:
    """Draw the form for a note, and the ways to remove those that are there."""
    name = "the dialogue" if turn_index is None else f"turn {turn_index}"
    # Another form for each note, so that it is empty again once a note is written, and not where one was refused.
    key = f"note.{dialogue_id}.{turn_index}.{st.session_state.get(_ROUND, 0)}"
    with st.form(key, border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        options = _labels(warehouse.version(path_for(warehouse.path())))
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


def _draw_removal(notes: Iterable[NoteNow]) -> None:
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
    _try(lambda: remove(warehouse.path(), number), None)


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
    note = NewNote(dialogue_id, turn_index, text_sha256, label or None, words or None, author or "", "page")
    written = _try(lambda: add(warehouse.path(), [note]), ())
    if written:
        st.session_state[_AUTHOR] = author
        st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
        st.session_state[_RESULT] = "That note is there already." if written == [None] else None
