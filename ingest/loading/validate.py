"""What every reader must keep to: checked for each record before any of its rows reaches a table."""

from collections.abc import Collection

import polars as pl

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.outcomes import Loaded, LoadedBatch
from talkhouse.ingest.rows import Annotation, ColumnBatch, Record, Row, Turn


class ReaderError(AssertionError):
    """A reader broke the contract: a mistake in the corpus folder, not in the data."""


class Validator:
    """Checks the records of one corpus; holds nothing but the corpus's vocabulary."""

    def __init__(self, corpus: Corpus, rules: Collection[str]) -> None:
        self._corpus = corpus
        self._rules = rules
        self._schemes = {scheme.name for scheme in corpus.schemes}

    def rule(self, rule: str) -> None:
        """A finding must name a declared rule."""
        self._expect(rule in self._rules, f"the rule {rule} is not declared")

    def record(self, loaded: Loaded) -> None:
        """One record row; keys that begin with the corpus id; whole dialogues; declared schemes."""
        records = [row for row in loaded.rows if isinstance(row, Record)]
        self._expect(len(records) == 1, f"{len(records)} Record rows for one source record")
        record = records[0]
        self._keys(record.record_id, record.dialogue_id)
        self._expect(
            (record.source_file_id, record.source_pointer) == (loaded.location.file.id, loaded.location.pointer),
            "the record names another place than the reader says it came from",
        )
        turns = [row.turn_index for row in loaded.rows if type(row) is Turn]
        self._expect(turns == list(range(len(turns))), f"turn_index runs {turns[:5]} ..., not 0, 1, 2 ...")
        self._turns(loaded.column_batches)
        self._content(loaded.rows, loaded.column_batches)

    def many(self, loaded: LoadedBatch) -> None:
        """Check the same for many records at once; turns are in column batches, each dialogue's in one."""
        count = 0
        for row in loaded.rows:
            if type(row) is Record:
                self._keys(row.record_id, row.dialogue_id)
                self._expect(row.source_file_id == loaded.file.id, "records of more than one file")
                count += 1
        for batch in loaded.column_batches:
            if batch.kind is Record:
                keys = pl.DataFrame({name: batch.columns[name] for name in ("record_id", "dialogue_id")})
                for wrong in keys.filter(~self._belongs()).rows()[:1]:
                    self._keys(*wrong)
                self._expect(batch.shared["source_file_id"] == loaded.file.id, "records of more than one file")
                count += len(batch)
        self._expect(count == loaded.records, f"{count} Record rows for {loaded.records} records")
        self._expect(all(type(row) is not Turn for row in loaded.rows), "turns of many records as single rows")
        self._turns(loaded.column_batches)
        self._content(loaded.rows, loaded.column_batches)

    def _turns(self, column_batches: list[ColumnBatch]) -> None:
        """Turns in columns: numbered from 0 in each dialogue, whose turns follow one another in one batch."""
        for batch in column_batches:
            if batch.kind is Turn:
                turns = pl.DataFrame({name: batch.columns[name] for name in ("dialogue_id", "turn_index")})
                expected = pl.int_range(pl.len()).over(pl.col("dialogue_id").rle_id())
                is_right = turns.select((pl.col("turn_index") == expected).all()).item()
                self._expect(is_right, "turn_index does not run 0, 1, 2 ...")

    def _belongs(self) -> pl.Expr:
        """Tell of many records at once whether their keys begin with the corpus id."""
        dialogue_id = pl.col("dialogue_id")
        is_ours = dialogue_id.is_null() | dialogue_id.str.starts_with(f"{self._corpus.id}:")
        return pl.col("record_id").str.starts_with(f"{self._corpus.id}/") & is_ours

    def _keys(self, record_id: str, dialogue_id: str | None) -> None:
        self._expect(record_id.startswith(f"{self._corpus.id}/"), f"record_id {record_id!r}")
        belongs = dialogue_id is None or dialogue_id.startswith(f"{self._corpus.id}:")
        self._expect(belongs, f"dialogue_id {dialogue_id!r}")

    def _content(self, rows: list[Row], column_batches: list[ColumnBatch]) -> None:
        for batch in column_batches:
            lengths = {name: len(column) for name, column in batch.columns.items()}
            self._expect(len(set(lengths.values())) == 1, f"columns of {batch.kind.TABLE} of lengths {lengths}")
        schemes = {row.scheme for row in rows if type(row) is Annotation}
        self._expect(schemes <= self._schemes, f"undeclared schemes {sorted(schemes - self._schemes)}")

    def _expect(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise ReaderError(f"the reader of '{self._corpus.id}' broke its contract: {otherwise}")
