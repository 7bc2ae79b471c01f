"""Rows of many records, gathered by columns until they are worth a batch."""

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

from talkhouse.ingest.declared.documents.talk import Said
from talkhouse.ingest.outcomes import LoadedBatch, ReaderFinding
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Record, Row, Turn
from talkhouse.ingest.sources import SourceFile

_BYTES = 4_000_000
"""Of records, after which a batch is handed on."""

_SAID = ("native_id", "said_at", "reply_to", "start_ms", "end_ms")
"""Columns of turns that most formats leave empty."""


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

    def turns(
        self,
        dialogue_id: str,
        roles: list[str],
        texts: list[str],
        speakers: Sequence[str | None] | None,
        extra: Sequence[str | None],
        said: list[Said] | None,
    ) -> None:
        """Add the turns of a dialogue, ``extra`` as their rows have it.

        ``speakers``: their ids, None where nothing names one; ``said``: None where the turns are plain.
        """
        count, turns = len(roles), self._turns
        turns["dialogue_id"].extend(repeat(dialogue_id, count))
        turns["turn_index"].extend(range(count))
        turns["role"].extend(roles)
        turns["text"].extend(texts)
        turns["extra"].extend(extra)
        turns["speaker_id"].extend(_none(count) if speakers is None else speakers)
        turns["kind"].extend(repeat("message", count) if said is None else [turn.kind for turn in said])
        for name in _SAID:
            turns[name].extend(_none(count) if said is None else [getattr(turn, name) for turn in said])

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
        if self._turns["turn_index"]:
            batches.append(ColumnBatch(Turn, {}, self._turns))
        column_batches = [batch for batch in batches if batch is not None]
        batch = LoadedBatch(self._file, len(self.records), self._size, self.rows, column_batches, self.findings)
        self._begin()
        return batch


def _none(count: int) -> Iterable[None]:
    return repeat(None, count)


def _columns(kind: type[Row], rows: list[Any]) -> ColumnBatch | None:
    if not rows:
        return None
    shared = {"source_file_id": rows[0].source_file_id} if kind is Record else {}
    columns = {name: [getattr(row, name) for row in rows] for name in kind.__struct_fields__ if name not in shared}
    return ColumnBatch(kind, shared, columns)
