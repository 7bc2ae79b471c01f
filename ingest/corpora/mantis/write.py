"""Rows back to the publisher's files: JSON equal in every value, TSV, lookup and CSV files byte for byte."""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import PurePosixPath

import ingest.corpora.mantis.write_conversations as conversations
import ingest.corpora.mantis.write_csv as intents_csv
import ingest.corpora.mantis.write_ranking as ranking
from ingest.corpora.mantis.layout import INTENTS, INTENTS_CSV, MERGED, RANKING, Role, role
from ingest.stored_record import StoredRecord


def write(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
    """Give files in pieces: (path inside the corpus's folder, bytes). Lookup files come last, from the blocks' keys."""
    rankings = ranking.Rankings()
    lookups: list[tuple[Role, list[StoredRecord]]] = []
    for _, group in groupby(records, key=lambda one: one.file.source_file_id):
        yield from _file(group, rankings, lookups)
    for one, (frame, *rest) in lookups:
        if rest and rest[0].record:
            yield frame.path, ranking.runs(rest[0])
        else:
            yield from rankings.lookup(frame, iter(rest), one)


def _file(
    published: Iterator[StoredRecord], rankings: ranking.Rankings, lookups: list[tuple[Role, list[StoredRecord]]]
) -> Iterator[tuple[str, bytes]]:
    """Give one file, one that was refused as it came; a lookup file is put off."""
    first = next(published)
    one = role(PurePosixPath(first.path).name)
    assert one is not None  # noqa: S101 - the reader gave it by this name
    everything = chain([first], published)
    if first.raw is not None and not first.pointer:
        yield first.path, first.raw
    elif one.subset in RANKING:
        yield from rankings.tsv(first, published, one)
    elif one.subset in (MERGED, INTENTS):
        yield from conversations.write(everything)
    elif one.subset == INTENTS_CSV:
        yield from intents_csv.write(everything)
    else:
        lookups.append((one, list(everything)))


def write_record(published: StoredRecord) -> bytes:
    """Give one record as its file has it: a dialogue's JSON, the lines of a block, a line of the table of intents."""
    record = published.record
    subset = record.subset if record else None
    if subset in (MERGED, INTENTS):
        return conversations.write_record(published)
    if subset == INTENTS_CSV:
        return intents_csv.write_record(published)
    return ranking.lines(published) if subset in RANKING else ranking.runs(published)
