"""Rows back to the publisher's files: JSON equal in every value, TSV, lookup and CSV files byte for byte."""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import PurePosixPath

import ingest.corpora.mantis.conversations.write as conversations
import ingest.corpora.mantis.intent_table.write as intent_table
import ingest.corpora.mantis.ranking.write as ranking
from ingest.corpora.mantis.files import INTENTS, INTENTS_CSV, MERGED, RANKING, Role, role
from ingest.rows import Record
from ingest.stored_record import StoredRecord


def write(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
    """Write files in pieces: (path inside the corpus's folder, bytes). Lookup files come last, from blocks' keys."""
    rankings = ranking.Rankings()
    lookups: list[tuple[Role, list[StoredRecord]]] = []
    for _, group in groupby(records, key=lambda one: one.file.source_file_id):
        yield from _file(group, rankings, lookups)
    for one, (envelope, *rest) in lookups:
        if rest and rest[0].record:
            yield envelope.path, ranking.runs(rest[0])
        else:
            yield from rankings.lookup(envelope, iter(rest), one)


def _file(
    stored: Iterator[StoredRecord], rankings: ranking.Rankings, lookups: list[tuple[Role, list[StoredRecord]]]
) -> Iterator[tuple[str, bytes]]:
    """Write one file, a rejected one as it came; a lookup file is put off."""
    first = next(stored)
    one = role(PurePosixPath(first.path).name)
    assert one is not None  # noqa: S101 - the reader gave it by this name
    everything = chain([first], stored)
    if first.raw is not None and not first.pointer:
        yield first.path, first.raw
    elif one.subset in RANKING:
        yield from rankings.tsv(first, stored, one)
    elif one.subset in (MERGED, INTENTS):
        yield from conversations.write(everything)
    elif one.subset == INTENTS_CSV:
        yield from intent_table.write(everything)
    else:
        lookups.append((one, list(everything)))


def text_ids_of(record: Record) -> list[str]:
    """List the texts of a block's context that is in no dialogue."""
    return ranking.own_texts(record) if record.subset in RANKING else []


def write_record(stored: StoredRecord) -> bytes:
    """Write one record as its file has it: a dialogue's JSON, the lines of a block, a line of the table of intents."""
    record = stored.record
    subset = record.subset if record else None
    if subset in (MERGED, INTENTS):
        return conversations.write_record(stored)
    if subset == INTENTS_CSV:
        return intent_table.write_record(stored)
    return ranking.lines(stored) if subset in RANKING else ranking.runs(stored)
