"""Rows back to the publisher's files: JSON equal in every value, TSV, lookup and CSV files byte for byte."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

import talkhouse.ingest.corpora.mantis.conversations.write as conversations
import talkhouse.ingest.corpora.mantis.ranking.write as ranking
from talkhouse.ingest.corpora.mantis import intent_table
from talkhouse.ingest.corpora.mantis.files import CONVERSATIONS, INTENTS_CSV, MANIFEST, RANKING, role, write_manifest
from talkhouse.ingest.rows import Record
from talkhouse.ingest.stored_record import StoredRecord, file_by_file


def write(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
    """Write files in pieces: (path inside the corpus's folder, bytes). Lookup files come last, from blocks' keys."""
    rankings = ranking.Rankings()

    def write_file(first: StoredRecord, following: Iterator[StoredRecord]) -> Iterator[bytes]:
        one = role(PurePosixPath(first.path).name)
        assert one is not None  # noqa: S101 - the reader gave it by this name
        if one.subset in CONVERSATIONS:
            return conversations.write(first, following)
        if one.subset == INTENTS_CSV:
            return intent_table.write(first, following)
        if one.subset == MANIFEST:
            return iter([write_manifest(first)])
        return rankings.write(first, following, one)

    yield from file_by_file(write_file)(records)
    yield from rankings.lookups()


def text_ids_of(record: Record) -> list[str]:
    """List the texts of a block's context that is in no dialogue."""
    return ranking.own_texts(record) if record.subset in RANKING else []


def write_record(stored: StoredRecord) -> bytes:
    """Write one record as its file has it: a dialogue's JSON, the lines of a block, a line of the table of intents."""
    subset = stored.loaded.subset
    if subset in CONVERSATIONS:
        return conversations.write_record(stored)
    if subset == INTENTS_CSV:
        return intent_table.write_record(stored)
    return ranking.lines(stored) if subset in RANKING else ranking.runs(stored)
