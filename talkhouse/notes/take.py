"""Takes notes back from files: what fits the texts of the warehouse, and what does not, with its reason."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import duckdb

from talkhouse.ingest.files.limits import Limits
from talkhouse.notes.notes_file import NewNote, add, check_new
from talkhouse.notes.returned_files import ReturnedNote, read_files
from talkhouse.notes.states import Place, hashes
from talkhouse.schema.errors import UsageError


class NotTaken(NamedTuple):
    """What of a file can't be taken back, and why."""

    file: Path
    place: str
    problem: str
    expected: str | None = None
    found: str | None = None

    @property
    def sentence(self) -> str:
        """All of it in a line."""
        more = [f"{name} {text}" for name, text in (("expected", self.expected), ("found", self.found)) if text]
        return f"{self.file}, {self.place}: {self.problem}{''.join(f'; {one}' for one in more)}"


@dataclass(frozen=True)
class TakenNotes:
    """What came of files."""

    added: list[int]
    """The numbers of the notes that were not there before."""
    known: int
    """How many were there already."""
    unmatched: list[NotTaken]


def take(
    con: duckdb.DuckDBPyConnection,
    warehouse: Path,
    files: Sequence[Path],
    author: str,
    limits: Limits,
    *,
    skip: bool = False,
) -> TakenNotes:
    """Take notes back from files; ``author`` is that of those whose file names none.

    Where something does not fit the warehouse, UsageError names it, and nothing is taken; with ``skip``, all the rest.
    Raises also what ``read_files`` and ``add`` raise.
    """
    returned = read_files(con, files, limits)
    known = hashes(con, (one.dialogue_id for one in returned))
    new: list[NewNote] = []
    unmatched: list[NotTaken] = []
    for one in returned:
        if not one.label and not one.note and not one.problem:
            continue  # an answer that was left empty
        now = known.get((one.dialogue_id, one.turn_index))
        note = NewNote(*one[2:4], now or "", one.label or None, one.note or None, one.author or author, one.source)
        if (problem := _problem(one, note, known)) is not None:
            unmatched.append(problem)
        else:
            new.append(note)
    if unmatched and not skip:
        raise _refusal(_with_texts(con, unmatched, returned), len(returned))
    numbers = add(warehouse, new) if new else []
    added = [number for number in numbers if number is not None]
    return TakenNotes(added, len(new) - len(added), list(_with_texts(con, unmatched, returned)))


def _problem(one: ReturnedNote, note: NewNote, known: Mapping[Place, str]) -> NotTaken | None:
    where = one.file, one.place
    if one.problem:
        return NotTaken(*where, "not a note", "a label or words on a turn or dialogue", one.problem)
    if (one.dialogue_id, None) not in known:
        return NotTaken(*where, "the dialogue is not in the warehouse", found=f"'{one.dialogue_id[:_SHOWN]}'")
    if not note.text_sha256:
        return NotTaken(*where, f"{one.dialogue_id} has no turn {one.turn_index}")
    if one.text_sha256 not in (None, note.text_sha256):
        return NotTaken(*where, _OTHER_TEXT, f"SHA-256 {note.text_sha256}", f"SHA-256 {one.text_sha256}")
    try:
        check_new(note)
    except UsageError as error:
        return NotTaken(*where, error.what, error.expected, error.found)
    return None


_OTHER_TEXT = "the text is another than in the warehouse"

_SHOWN = 80
"""Characters of a text that a message shows."""


_WITH_TEXTS = 100
"""Of what is not taken, how many texts are looked up."""


def _with_texts(
    con: duckdb.DuckDBPyConnection, unmatched: Sequence[NotTaken], returned: Sequence[ReturnedNote]
) -> Iterator[NotTaken]:
    """Yield what was not taken; of the turns that have another text, the beginnings of both."""
    places = {(one.file, one.place): one for one in returned if one.text is not None}
    query = "select text[:$shown] from main.turns where dialogue_id = $dialogue and turn_index = $turn"
    for number, one in enumerate(unmatched):
        theirs = places.get((one.file, one.place)) if one.problem == _OTHER_TEXT and number < _WITH_TEXTS else None
        if theirs is None or theirs.turn_index is None:
            yield one
            continue
        values = {"shown": _SHOWN, "dialogue": theirs.dialogue_id, "turn": theirs.turn_index}
        ((ours,),) = con.execute(query, values).fetchall()
        yield one._replace(expected=f"'{ours}'", found=f"'{(theirs.text or '')[:_SHOWN]}'")


_NAMED = 10
"""Problems that an error names."""


def _refusal(unmatched: Iterator[NotTaken], count: int) -> UsageError:
    found = [one.sentence for one in unmatched]
    more = [f"and {len(found) - _NAMED:,} more"] if len(found) > _NAMED else []
    return UsageError(
        f"{len(found):,} of {count:,} do not fit the warehouse, and nothing was taken",
        found="\n            ".join([*found[:_NAMED], *more]),
        next_step="correct the files, or take the rest with: --unmatched skip",
    )
