"""What every reader must keep to: checked for each record before any of its rows reaches a table."""

from collections.abc import Collection
from itertools import groupby

from ingest.corpus import Corpus, Loaded, LoadedMany
from ingest.rows import Annotation, Block, Record, Row, Turn


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
        self._keys(record)
        self._expect(
            (record.source_file_id, record.source_pointer) == (loaded.place.file.id, loaded.place.pointer),
            "the record names another place than the reader says it came from",
        )
        turns = [row.turn_index for row in loaded.rows if type(row) is Turn]
        self._expect(turns == list(range(len(turns))), f"turn_index runs {turns[:5]} ..., not 0, 1, 2 ...")
        self._content(loaded.rows, loaded.blocks)

    def many(self, loaded: LoadedMany) -> None:
        """Check the same for many records at once; turns are in blocks, each dialogue's in one."""
        records = [row for row in loaded.rows if type(row) is Record]
        self._expect(len(records) == loaded.records, f"{len(records)} Record rows for {loaded.records} records")
        for record in records:
            self._keys(record)
        self._expect({record.source_file_id for record in records} <= {loaded.file.id}, "records of more than one file")
        for block in loaded.blocks:
            if block.kind is Turn:
                expected = [index for _, same in groupby(block.columns["dialogue_id"]) for index, _ in enumerate(same)]
                self._expect(block.columns["turn_index"] == expected, "turn_index does not run 0, 1, 2 ...")
        self._content(loaded.rows, loaded.blocks)

    def _keys(self, record: Record) -> None:
        self._expect(record.record_id.startswith(f"{self._corpus.id}/"), f"record_id {record.record_id!r}")
        self._expect(
            record.dialogue_id is None or record.dialogue_id.startswith(f"{self._corpus.id}:"),
            f"dialogue_id {record.dialogue_id!r}",
        )

    def _content(self, rows: list[Row], blocks: list[Block]) -> None:
        for block in blocks:
            lengths = {name: len(column) for name, column in block.columns.items()}
            self._expect(len(set(lengths.values())) == 1, f"columns of {block.kind.TABLE} of lengths {lengths}")
        schemes = {row.scheme for row in rows if type(row) is Annotation}
        self._expect(schemes <= self._schemes, f"undeclared schemes {sorted(schemes - self._schemes)}")

    def _expect(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise ReaderError(f"the reader of '{self._corpus.id}' broke its contract: {otherwise}")
