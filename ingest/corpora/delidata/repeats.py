"""What came before in a build: groups, messages, and how a conversation was spelled (rule DE-03)."""

from collections.abc import Iterator, Sequence

from ingest.corpora.delidata.dialogue import CORPUS, OPENING_ID, TEXTS
from ingest.corpora.delidata.format import Cells
from ingest.decode import pointer
from ingest.keys import digest
from ingest.outcomes import ReaderFinding

_OF_THE_DIALOGUE = ("message_id", *TEXTS)
"""Columns that the conversation's tables hold, besides those that make it another conversation."""


class Repeats:
    """Ids and hashes of what a build has seen, never texts; the first in path order makes the examples."""

    def __init__(self) -> None:
        self._spellings: dict[str, bytes] = {}
        self._groups: dict[str, str] = {}
        self._messages: dict[str, str] = {}

    def restated(self, dialogue_id: str, raw: Sequence[Cells]) -> dict[str, str]:
        """Give the cells that hang on the dialogue, if an earlier record of it spelled any of them otherwise."""
        said = {
            pointer(index, name): str(getattr(row, name)) for index, row in enumerate(raw) for name in _OF_THE_DIALOGUE
        }
        mark = digest(*said.values())
        return {} if self._spellings.setdefault(dialogue_id, mark) == mark else said

    def notes(self, file_id: str, dialogue_id: str, rows: Sequence[Cells]) -> Iterator[ReaderFinding]:
        """Report a group that came before, or single messages that did."""
        group_id = rows[0].group_id
        before = self._groups.setdefault(group_id, file_id)
        if before == file_id:
            yield from self._messages_before(file_id, rows)
            return
        words = "the same words," if dialogue_id == f"{CORPUS}:{group_id}" else "other words, kept as"
        yield ReaderFinding("DE-03", f"the group came before, from {before}: {words} {dialogue_id}", pointer="")

    def _messages_before(self, file_id: str, rows: Sequence[Cells]) -> Iterator[ReaderFinding]:
        for index, row in enumerate(rows):
            where = f"{file_id}{pointer(index)}"
            first = self._messages.setdefault(row.message_id, where)
            if first != where and row.message_id != OPENING_ID:
                detail = f"the message_id {row.message_id} came before, at {first}"
                yield ReaderFinding("DE-03", detail, pointer=pointer(index, "message_id"), turn_index=index)
