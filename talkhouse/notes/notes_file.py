"""The file of notes, ``notes.duckdb`` next to the warehouse, and what became of the texts that they were written on.

Builds never touch the file. The states of notes are computed anew against the warehouse, and never stored.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import duckdb

from talkhouse.schema.contents import strange
from talkhouse.schema.errors import UsageError, check_unicode
from talkhouse.schema.guard import NO_SETTINGS, Settings
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse import sidecar

FILE = "notes.duckdb"

SCHEMA = "notes"
"""The name in SQL that the file is attached under."""

FORMAT = 1
"""Number of the format."""

LIMITS = {"label": 200, "note": 10_000, "author": 200}
"""Characters of a label, of a note's words, and of an author's name."""

SOURCES = ("page", "command", "label studio", "argilla", "table")
"""Where a note may come from."""

_SCHEMA = sql_of(__file__, "notes", format=FORMAT)

_NUMBER = f"{{0}} between 0 and {10**9}"  # so that many more can follow
_VALUES: sidecar.Values = {
    "last_note": {_NUMBER: ["note_id"]},
    "notes": {
        _NUMBER: ["note_id"],
        sidecar.ONCE: ["note_id"],
        sidecar.SOME: ["dialogue_id", "text_sha256"],
        sidecar.or_null(sidecar.COUNT): ["turn_index"],
        "concat(label, note) <> ''": ["label"],
        **{sidecar.or_null(f"length({{0}}) <= {most}"): [name] for name, most in LIMITS.items()},
        "{0} <> ''": ["author"],
        sidecar.one_of(SOURCES): ["source"],
        sidecar.TIME: ["written_at"],
    },
}


@dataclass(frozen=True)
class NewNote:
    """A label, words or both on the text of a turn or dialogue; the fields are those of the table."""

    dialogue_id: str
    turn_index: int | None
    text_sha256: str
    label: str | None
    note: str | None
    author: str
    source: str


@dataclass(frozen=True)
class Note(NewNote):
    """A note that is in the file."""

    note_id: int
    written_at: datetime


_NEW = ", ".join(field.name for field in fields(NewNote))
_ALL = ", ".join(field.name for field in fields(Note))


_not_ours = sidecar.not_ours("a file of notes", "move it away: notes have this name")


def path_for(warehouse: Path) -> Path:
    """Return the path of the notes on a warehouse: next to it, or for a release next to the local warehouse."""
    return sidecar.of_here(warehouse).with_name(FILE)


def open_notes(path: Path, settings: Settings = NO_SETTINGS) -> duckdb.DuckDBPyConnection:
    """Open a file of notes read-only, in a database of its own.

    Raises UsageError for what is none, WarehouseLocked where another process has it open for writing, and
    SchemaMismatch for one of a newer Talkhouse.
    """
    return sidecar.open_beside(path, _check_content, _VALUES, _not_ours, settings)


def attachable(warehouse: Path) -> dict[str, Path]:
    """Return the file of notes by the name that it is attached under; nothing where there is none of ours."""
    path = path_for(warehouse)
    return {SCHEMA: path} if sidecar.is_ours(path, open_notes) else {}


def _check_content(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise UsageError where the tables are not those that Talkhouse makes."""
    if what := strange(con):
        raise _not_ours(path, what)
    sidecar.check_format(con, path, FORMAT, _not_ours)
    if sidecar.columns_of_tables(con) != sidecar.columns_of_schema(_SCHEMA):
        raise _not_ours(path, "other tables than those that Talkhouse makes")


def check_new(note: NewNote) -> None:
    """Raise UsageError for a note without a label and words, and for what is too long or not Unicode."""
    if not note.label and not note.note:
        raise UsageError("a note has a label or words", expected="--label, --note or both")
    if not note.author.strip():
        raise UsageError("a note has an author", expected="a name")
    for name, most in LIMITS.items():
        text = getattr(note, name) or ""
        check_unicode(text, f"the {name}")
        if len(text) > most:
            raise UsageError(
                f"the {name} is too long", expected=f"at most {most:,} characters", found=f"{len(text):,} characters"
            )


def add(warehouse: Path, new: Sequence[NewNote]) -> list[int | None]:
    """Write notes, all or none; return the number of each, None for one that was there already.

    Notes are the same if all their fields are. Waits for another process that writes. Raises what ``check_new`` and
    ``open_notes`` raise, and UsageError where the file can't be written.
    """
    for note in new:
        check_new(note)
    path = path_for(warehouse)
    if os.path.lexists(path):
        with open_notes(path) as con:
            if not _without(con, new):
                return [None] * len(new)
    with sidecar.changed_beside(path, warehouse, open_notes, _SCHEMA) as con:
        missing = _without(con, new)
        ((last,),) = con.execute(
            "select coalesce(max(note_id), 0) from (select note_id from last_note union all select note_id from notes)"
        ).fetchall()
        now, numbers = datetime.now(UTC).replace(tzinfo=None), {}
        for number, note in enumerate(missing, last + 1):
            numbers[note] = number
        con.execute("update last_note set note_id = ?", [last + len(missing)])
        if rows := [(number, *astuple(note), now) for note, number in numbers.items()]:
            # By column: with a parameter for each value it takes seconds for some thousand notes.
            columns = ", ".join(f"unnest(?::{kind}[])" for kind in sidecar.columns_of_schema(_SCHEMA)["notes"].values())
            con.execute(f"insert into notes select {columns}", [list(column) for column in zip(*rows, strict=True)])
    # One that comes twice is written once.
    return [numbers.pop(note, None) for note in new]


def _without(con: duckdb.DuckDBPyConnection, new: Sequence[NewNote]) -> list[NewNote]:
    """Return, each once, the notes that a file does not have."""
    query = f"select {_NEW} from main.notes where dialogue_id in (select unnest(?::varchar[]))"
    known = set(con.execute(query, [sorted({note.dialogue_id for note in new})]).fetchall())
    return [note for note in dict.fromkeys(new) if astuple(note) not in known]


def remove(warehouse: Path, note_id: int) -> Note:
    """Remove a note, and return it. Raises as ``add``, and UsageError where there is none of that number."""
    path = path_for(warehouse)
    if not (found := read(path, {"note_id": note_id})):
        raise UsageError(f"there is no note {note_id}", where=path, next_step="see their numbers with: talkhouse notes")
    with sidecar.changed_beside(path, warehouse, open_notes, _SCHEMA) as con:
        con.execute("delete from notes where note_id = ?", [note_id])
    return found[0]


def read(path: Path, where: dict[str, str | int] | None = None, settings: Settings = NO_SETTINGS) -> list[Note]:
    """Return the notes of a file whose columns have these values; none if there is no file."""
    if not os.path.lexists(path):
        return []
    with open_notes(path, settings) as con:
        return notes_of(con, where)


def notes_of(con: duckdb.DuckDBPyConnection, where: dict[str, str | int] | None = None) -> list[Note]:
    """Return the notes of an open file whose columns have these values, by dialogue and turn."""
    conditions = "".join(f" and {name} = ${name}" for name in where or {})
    order = "dialogue_id, turn_index nulls first, note_id"
    rows = con.execute(f"select {_ALL} from main.notes where true{conditions} order by {order}", where or {})
    return [Note(*row) for row in rows.fetchall()]


def labels(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the labels of the notes of a file that is open, those that are used most first."""
    query = "select label from main.notes where label is not null group by label order by count(*) desc, label"
    return [label for (label,) in con.execute(query).fetchall()]


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


def hashes(con: duckdb.DuckDBPyConnection, dialogue_ids: Iterable[str]) -> dict[Place, str]:
    """Return the SHA-256 of each turn's text, and of each dialogue, in a warehouse."""
    found: dict[Place, str] = {}
    wanted = sorted(set(dialogue_ids))
    for first in range(0, len(wanted), _AT_ONCE):
        rows = con.execute(sql_of(__file__, "text_hashes"), {"dialogues": wanted[first : first + _AT_ONCE]}).fetchall()
        found.update({(dialogue_id, turn_index): text_hash for dialogue_id, turn_index, text_hash in rows})
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
