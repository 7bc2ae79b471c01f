"""Rows of many records, gathered by columns until they are worth a batch."""

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from msgspec.structs import astuple

from talkhouse.ingest.declared.documents.talk import Said
from talkhouse.ingest.outcomes import LoadedBatch, ReaderFinding
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Record, Row, Turn
from talkhouse.ingest.sources import SourceFile

_BYTES = 4_000_000
"""Of records, after which a batch is handed on."""

_SAID = ("kind", "native_id", "said_at", "reply_to", "start_ms", "end_ms")
_UNSAID = {"kind": "message"}
"""What columns of turns have that nothing was said of; the others null."""


class Gathered:
    """The rows of one file's records on their way."""

    def __init__(self, file: SourceFile) -> None:
        self._file = file
        self._begin()

    def _begin(self) -> None:
        self.records: list[Record] = []
        self.dialogues: list[Dialogue] = []
        self.rows: list[Row] = []
        """All other rows."""
        self.findings: list[ReaderFinding] = []
        self._turns: dict[str, list[Any]] = {name: [] for name in Turn.__struct_fields__}
        self._size = 0

    def plain_turns(
        self, dialogue_id: str, roles: list[str], texts: Sequence[str], extra: Sequence[str | None] | None
    ) -> None:
        """Add the turns of a dialogue of which there is no more to say; ``extra`` as their rows have it."""
        count, turns = len(roles), self._turns
        turns["dialogue_id"].extend(repeat(dialogue_id, count))
        turns["turn_index"].extend(range(count))
        turns["role"].extend(roles)
        turns["text"].extend(texts)
        if extra is not None:
            self._fill("extra", len(turns["text"]) - count)
            turns["extra"].extend(extra)

    def turns(
        self,
        dialogue_id: str,
        roles: list[str],
        texts: Sequence[str],
        extra: Sequence[str | None] | None,
        speakers: Sequence[str | None] | None,
        said: list[Said],
    ) -> None:
        """Add the turns of a dialogue; ``speakers``: their ids, None where nothing names one."""
        before = len(self._turns["text"])
        self.plain_turns(dialogue_id, roles, texts, extra)
        for name in _SAID:
            self._fill(name, before)
            self._turns[name].extend([getattr(turn, name) for turn in said])
        if speakers is not None:
            self._fill("speaker_id", before)
            self._turns["speaker_id"].extend(speakers)

    def _fill(self, name: str, count: int) -> None:
        """Say of the turns before, for as many as the column lacks, what they have without saying so."""
        column = self._turns[name]
        column.extend(repeat(_UNSAID.get(name), count - len(column)))

    def add(self, record: Record, size: int) -> None:
        """Add a record of so many bytes, when its other rows have been added."""
        self.records.append(record)
        self._size += size

    @property
    def is_enough(self) -> bool:
        """Whether there is enough for a batch."""
        return self._size >= _BYTES

    def batch(self) -> LoadedBatch | None:
        """Return what was gathered, and begin anew; None where that is nothing."""
        if not self.records:
            return None
        batches = [_columns(Record, self.records), _columns(Dialogue, self.dialogues)]
        if count := len(self._turns["text"]):
            unsaid = {name: _UNSAID.get(name) for name, column in self._turns.items() if not column}
            said = {name: column for name, column in self._turns.items() if column}
            for name in said:
                self._fill(name, count)
            batches.append(ColumnBatch(Turn, unsaid, said))
        column_batches = [batch for batch in batches if batch is not None]
        batch = LoadedBatch(self._file, len(self.records), self._size, self.rows, column_batches, self.findings)
        self._begin()
        return batch


def _columns(kind: type[Row], rows: list[Any]) -> ColumnBatch | None:
    if not rows:
        return None
    shared = {"source_file_id": rows[0].source_file_id} if kind is Record else {}
    columns = dict(zip(kind.__struct_fields__, zip(*map(astuple, rows), strict=True), strict=True))
    return ColumnBatch(kind, shared, {name: column for name, column in columns.items() if name not in shared})
