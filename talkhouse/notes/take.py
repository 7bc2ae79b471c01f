"""Takes notes back from files: what fits the texts of the warehouse, and what does not, with its reason."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import duckdb

from talkhouse.ingest.files.limits import Limits
from talkhouse.notes.notes_file import NewNote, Place, add, check_new, hashes
from talkhouse.notes.returned_files import ReturnedNote, read_files
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
        more = [f"; {name} {text}" for name, text in (("expected", self.expected), ("found", self.found)) if text]
        return f"{self.file}, {self.place}: {self.problem}{''.join(more)}"


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
    known = hashes(con, (note.dialogue_id for note in returned))
    new: list[NewNote] = []
    unmatched: list[tuple[ReturnedNote, NotTaken]] = []
    for found in returned:
        if not found.label and not found.note and not found.problem:
            continue  # an answer that was left empty
        sha256 = known.get((found.dialogue_id, found.turn_index), "")
        words = found.label or None, found.note or None
        note = NewNote(found.dialogue_id, found.turn_index, sha256, *words, found.author or author, found.source)
        if (problem := _problem(found, note, known)) is not None:
            unmatched.append((found, problem))
        else:
            new.append(note)
    # Before anything is written, so that whatever fails leaves the notes as they were.
    not_taken = list(_with_texts(con, unmatched))
    if not_taken and not skip:
        raise _refusal(not_taken, len(returned))
    numbers = add(warehouse, new) if new else []
    added = [number for number in numbers if number is not None]
    return TakenNotes(added, len(new) - len(added), not_taken)


def _problem(found: ReturnedNote, note: NewNote, known: Mapping[Place, str]) -> NotTaken | None:
    where = found.file, found.place
    if found.problem:
        return NotTaken(*where, "not a note", "a label or words on a turn or dialogue", found.problem)
    if (found.dialogue_id, None) not in known:
        return NotTaken(*where, "the dialogue is not in the warehouse", found=f"'{found.dialogue_id[:_SHOWN]}'")
    if not note.text_sha256:
        return NotTaken(*where, f"{found.dialogue_id} has no turn {found.turn_index}")
    if found.text_sha256 not in (None, note.text_sha256):
        return NotTaken(*where, _OTHER_TEXT, f"SHA-256 {note.text_sha256}", f"SHA-256 {found.text_sha256}")
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
    con: duckdb.DuckDBPyConnection, unmatched: Sequence[tuple[ReturnedNote, NotTaken]]
) -> Iterator[NotTaken]:
    """Yield what was not taken; of turns that have another text, with the beginnings of both."""
    query = "select text[:$shown] from main.turns where dialogue_id = $dialogue and turn_index = $turn"
    for number, (found, problem) in enumerate(unmatched):
        if problem.problem != _OTHER_TEXT or found.text is None or found.turn_index is None or number >= _WITH_TEXTS:
            yield problem
            continue
        values = {"shown": _SHOWN, "dialogue": found.dialogue_id, "turn": found.turn_index}
        ((text,),) = con.execute(query, values).fetchall()
        yield problem._replace(expected=f"'{text}'", found=f"'{found.text[:_SHOWN]}'")


_NAMED = 10
"""Problems that an error names."""


def _refusal(unmatched: Sequence[NotTaken], count: int) -> UsageError:
    found = [problem.sentence for problem in unmatched]
    more = [f"and {len(found) - _NAMED:,} more"] if len(found) > _NAMED else []
    return UsageError(
        f"{len(found):,} of {count:,} do not fit the warehouse, and nothing was taken",
        found="\n            ".join([*found[:_NAMED], *more]),
        next_step="correct the files, or take the rest with: --unmatched skip",
    )
