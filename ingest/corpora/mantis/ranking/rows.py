"""A block of a response-ranking TSV to its record and candidates, and what is unusual about it (MA-07)."""

from collections.abc import Iterable, Iterator

import msgspec

from talkhouse.ingest.corpora.mantis.context_index import Context
from talkhouse.ingest.corpora.mantis.files import CORPUS, SPLITS
from talkhouse.ingest.corpora.mantis.ranking.block import Block
from talkhouse.ingest.outcomes import LoadedBatch, ReaderFinding, SourceLocation
from talkhouse.ingest.rows import Candidate, ColumnBatch, Row
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.texts import Texts

_REFERRED = 8
"""How many times less than its lines the rows of a block are taken to hold: they refer to turns and texts."""

_MOST_KNOWN = 500_000
_MOST_KNOWN_BYTES = 100_000_000
"""Cells that are known, and their bytes; beyond either, all are forgotten."""


class Rows:
    """The rows of one TSV's blocks; a wrong response comes about fifty times, so cells are known from the first on."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self.known: dict[bytes, str] = {}
        """The keys of the texts in last cells, by the cells as the file has them."""
        self._known_bytes = 0
        self._numeric: dict[str, str] = {}
        """Wrong responses that are bare numbers, by their keys."""
        self._examples = 0
        self._clear()

    def _clear(self) -> None:
        self._bytes = 0
        self._rows: list[Row] = []
        self._batches: list[ColumnBatch] = []
        self._findings: list[ReaderFinding] = []

    def add(
        self, location: SourceLocation, block: Block, context: Context | None, run: int | None, doubts: Iterable[str]
    ) -> None:
        """Add a block: ``context`` is what it is of its dialogue, ``run`` the row with which those of its key begin."""
        text_ids = [self._texts.id_of_bytes(block.response.encode(), self._rows), *self._wrong(block)]
        extra: dict[str, object] = {"line": block.raw.line, "example": self._examples, "size": len(text_ids)}
        if run is not None:
            extra["run"] = run
        if context is None or not context.is_window:
            extra["own_texts"] = self._texts.ids(block.context, self._rows)
        if block.written:
            extra["written"] = block.written
        record_id = f"{CORPUS}/{location.subset}/{location.split}/{location.record_index}"
        dialogue_id, turn = (context.dialogue_id, context.turn_index) if context else (None, None)
        record = location.record(record_id, dialogue_id, standard_split=SPLITS[location.split or ""])
        record.extra = msgspec.json.encode(extra).decode()
        self._rows.append(record)
        shared = {"record_id": record_id, "turn_index": turn, "candidate_set": record.subset, "item_index": 0}
        is_gold = [True] + [False] * (len(text_ids) - 1)
        columns = {"position": list(range(len(text_ids))), "text_id": text_ids, "is_gold": is_gold}
        self._batches.append(ColumnBatch(Candidate, shared | {"dialogue_id": dialogue_id}, columns))
        self._bytes += location.size
        self._examples += len(text_ids)
        if unusual := [*doubts, *self._warnings(text_ids)]:
            finding = ReaderFinding("MA-07", "; ".join(unusual), turn_index=turn)
            self._findings.append(location.finding(finding, record_id))

    def taken(self, file: SourceFile) -> Iterator[LoadedBatch]:
        """Yield the blocks that were added since the last time, if there are any."""
        if count := len(self._batches):
            held = self._bytes // _REFERRED
            yield LoadedBatch(file, count, self._bytes, self._rows, self._batches, self._findings, held)
        self._clear()

    def _wrong(self, block: Block) -> list[str]:
        """Return the keys of the wrong responses."""
        new = {at: self._new(text) for at, text in block.new.items()}
        if block.raw.begin and not block.written:  # all of them are written as the csv module would
            self._learn({block.raw.tails[at - 1]: key for at, key in new.items()})
        return [key or new[at] for at, key in enumerate(block.keys, 1)]

    def _new(self, text: bytes) -> str:
        """Return the key of a wrong response that is not known."""
        text_id = self._texts.id_of_bytes(text, self._rows)
        if text.isdigit():
            self._numeric[text_id] = text.decode()
        return text_id

    def _learn(self, cells: dict[bytes, str]) -> None:
        """Know cells from now on."""
        if len(self.known) > _MOST_KNOWN or self._known_bytes > _MOST_KNOWN_BYTES:
            self.known.clear()
            self._known_bytes = 0
        self.known |= cells
        self._known_bytes += sum(map(len, cells))

    def _warnings(self, text_ids: list[str]) -> Iterator[str]:
        """List what a ranking should not have among its wrong responses."""
        right, *wrong = text_ids
        if right in wrong:
            yield f"wrong response {wrong.index(right) + 1} is the right one"
        if len(set(wrong)) < len(wrong):
            yield f"{len(wrong) - len(set(wrong))} wrong responses are repeated"
        numeric = [self._numeric[text_id] for text_id in wrong if text_id in self._numeric] if self._numeric else []
        if numeric:
            yield f"{len(numeric)} wrong responses are bare numbers, such as {numeric[0]}"
