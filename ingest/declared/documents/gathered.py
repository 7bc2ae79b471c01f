"""Rows of many records, gathered by columns until they are worth a batch."""

from itertools import chain, repeat
from typing import Any

from talkhouse.ingest.declared.documents.talk import Said
from talkhouse.ingest.outcomes import LoadedBatch, ReaderFinding
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Record, Row, Turn
from talkhouse.ingest.sources import SourceFile

_BYTES = 4_000_000
"""Of records, after which a batch is handed on."""

_SAID = ("role", "text", "kind", "native_id", "said_at", "reply_to", "start_ms", "end_ms")


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
        self._said: list[Said] = []
        self._lengths: list[int] = []
        self._speakers: list[str | None] = []
        self._extra: list[str | None] = []
        self._size = 0

    def turns(self, said: list[Said], speakers: list[str | None], extra: list[str | None]) -> None:
        """Add the turns of the dialogue that was added last; speakers and ``extra`` as their rows have them."""
        self._said += said
        self._lengths.append(len(said))
        self._speakers += speakers
        self._extra += extra

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
        batches = [_columns(Record, self.records), _columns(Dialogue, self.dialogues), self._turns()]
        column_batches = [batch for batch in batches if batch is not None]
        batch = LoadedBatch(self._file, len(self.records), self._size, self.rows, column_batches, self.findings)
        self._begin()
        return batch

    def _turns(self) -> ColumnBatch | None:
        if not self._said:
            return None
        keys = (dialogue.dialogue_id for dialogue in self.dialogues)
        columns: dict[str, list[Any]] = {
            "dialogue_id": list(chain.from_iterable(map(repeat, keys, self._lengths))),
            "turn_index": list(chain.from_iterable(map(range, self._lengths))),
            "speaker_id": self._speakers,
            "extra": self._extra,
        }
        columns |= {name: [getattr(said, name) for said in self._said] for name in _SAID}
        return ColumnBatch(Turn, {}, columns)


def _columns(kind: type[Row], rows: list[Any]) -> ColumnBatch | None:
    if not rows:
        return None
    names = kind.__struct_fields__
    shared = {"source_file_id": rows[0].source_file_id} if kind is Record else {}
    columns = {name: [getattr(row, name) for row in rows] for name in names if name not in shared}
    return ColumnBatch(kind, shared, columns)
