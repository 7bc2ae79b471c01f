"""What became of the texts that notes were written on: computed anew against the warehouse, and never stored."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

import duckdb

from talkhouse.notes.notes_file import Note


class NoteState(StrEnum):
    """How a note stands to the warehouse."""

    FITS = "fits"
    """The turn, or the dialogue, is there with the text."""
    CHANGED = "changed"
    """It has another text."""
    MOVED = "moved"
    """It has another text or is gone, and exactly one other turn of the dialogue has the text."""
    GONE = "gone"
    """It is not there."""


class NoteNow(NamedTuple):
    """A note with its state."""

    note: Note
    state: NoteState
    turn_index: int | None
    """The turn that it is shown at: that of the note, or the one that its text has moved to."""


Place = tuple[str, int | None]
"""A dialogue_id with a turn_index; None: the dialogue."""


def text_hash(text: str) -> str:
    """Return the hash of a turn by its text, as ``notes.text_sha256`` has it."""
    return sha256(text.encode()).hexdigest()


def dialogue_hash(texts: Iterable[str]) -> str:
    """Return the hash of a dialogue by the texts of its turns, in their order."""
    return text_hash("".join(f"{text_hash(text)}\n" for text in texts))


# Functions are named in full: in a warehouse, a macro of the same name would come before DuckDB's own.
_HASHES = """
with said as (
    select dialogue_id, turn_index, system.main.sha256(text) as hash
    from main.turns
    where dialogue_id in (select system.main.unnest($dialogues::varchar[]))
)
select dialogue_id, turn_index, hash from said
union all
select
    dialogues.dialogue_id,
    null,
    system.main.sha256(coalesce(system.main.string_agg(hash || e'\\n', '' order by said.turn_index), '')),
from main.dialogues as dialogues
left join said on said.dialogue_id = dialogues.dialogue_id
where dialogues.dialogue_id in (select system.main.unnest($dialogues::varchar[]))
group by dialogues.dialogue_id
"""
"""The hash of each turn of some dialogues, and of each of the dialogues, as ``notes.text_sha256`` says."""


def hashes(con: duckdb.DuckDBPyConnection, dialogue_ids: Iterable[str]) -> dict[Place, str]:
    """Return the SHA-256 of each turn's text, and of each dialogue, in a warehouse."""
    found: dict[Place, str] = {}
    wanted = sorted(set(dialogue_ids))
    for first in range(0, len(wanted), _AT_ONCE):
        rows = con.execute(_HASHES, {"dialogues": wanted[first : first + _AT_ONCE]}).fetchall()
        found.update({(dialogue_id, turn_index): one for dialogue_id, turn_index, one in rows})
    return found


_AT_ONCE = 10_000
"""Dialogues whose turns are asked for together."""


def with_states(con: duckdb.DuckDBPyConnection, notes: Sequence[Note]) -> list[NoteNow]:
    """Return notes with their states against a warehouse, in their order."""
    known = hashes(con, (note.dialogue_id for note in notes))
    turns: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for (dialogue_id, turn_index), found in known.items():
        if turn_index is not None:
            turns[dialogue_id, found].append(turn_index)
    return [NoteNow(note, *_state(note, known, turns)) for note in notes]


def _state(
    note: Note, known: Mapping[Place, str], turns: Mapping[tuple[str, str], list[int]]
) -> tuple[NoteState, int | None]:
    now = known.get((note.dialogue_id, note.turn_index))
    if now == note.text_sha256:
        return NoteState.FITS, note.turn_index
    elsewhere = turns.get((note.dialogue_id, note.text_sha256), []) if note.turn_index is not None else []
    if len(elsewhere) == 1:
        return NoteState.MOVED, elsewhere[0]
    return NoteState.GONE if now is None else NoteState.CHANGED, note.turn_index
