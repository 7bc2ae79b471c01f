"""Where the records of a corpus stand, in the order of the files, and between which rows of which table to look."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

import duckdb

from talkhouse.ingest.rows import (
    Annotation,
    Candidate,
    Dialogue,
    Part,
    Participant,
    PersonaUse,
    Record,
    Row,
    Turn,
    TurnSpeaker,
)
from talkhouse.schema.tables import metadata, owned_by, qualified

Span = tuple[int, int]
"""First and last row number of a table between which rows stand."""

_RECORDS = 2_000
_ROWS = 60_000
"""What is gathered by one set of queries: so many records, and so many rows on them. More rows are more memory,
fewer are more scans of the table of texts (120,000 records of 51 candidates: 0.2 s for each scan)."""

HANGING: dict[type[Row], str] = {
    Record: "record_id",
    Annotation: "record_id",
    PersonaUse: "record_id",
    Candidate: "record_id",
    Dialogue: "dialogue_id",
    Participant: "dialogue_id",
    Turn: "dialogue_id",
    TurnSpeaker: "dialogue_id",
    Part: "dialogue_id",
}
"""What is looked up by the key of a record or of its dialogue."""

# A key begins with the corpus's and the file's name, so that DuckDB's statistics, which know 8 characters, can't tell
# where it stands: without the row numbers each chunk would read the whole column (283 ms among 6 million candidates,
# 30 ms with them).
_PLACES = """
with
{spans},
places as (
    select source_file_id, record_id, null as pointer, dialogue_id, subset, release, split, record_index, rowid as place
    from main.records where corpus_id = $corpus
    union all
    select source_file_id, null, pointer, null, subset, release, split, coalesce(record_index, 0), rowid
    from meta.quarantine where corpus_id = $corpus
    union all
    select source_file_id, null, null, null, null, null, null, -1, null
    from meta.source_files
    where corpus_id = $corpus and kind = 'read' and (extra is not null or records_in = 0)
),
lists as (
    select source_file_id from places group by source_file_id having count(distinct record_index) < count(*)
),
ordered as (
    select *, if(source_file_id in (from lists), min(place) filter (pointer is null) over (
        partition by source_file_id, subset, release, split
    ), 0) as list_place
    from places
)
select
    source_file_id,
    coalesce(ordered.record_id, pointer, ''),
    coalesce(ordered.dialogue_id, ''),
    pointer is not null,
    place,
    {columns}
from ordered
{joins}
order by source_file_id, record_index >= 0, list_place, record_index, ordered.record_id, pointer
"""


class RecordPosition(NamedTuple):
    """Where something stands in the files: an envelope (no key), a record, or a quarantined one (its pointer)."""

    file_id: str
    key: str
    dialogue_id: str
    is_quarantined: bool
    row: int | None = None
    spans: tuple[Span | None, ...] = (None,) * len(HANGING)


def positions_of(
    con: duckdb.DuckDBPyConnection, corpus_id: str, files: Collection[str] | None
) -> Iterator[RecordPosition]:
    """Stream the positions of a corpus's records, each with the row numbers between which its rows stand."""
    tables = {kind: metadata.tables[kind.TABLE] for kind in HANGING}
    spans = [
        f"of_{kind.TABLE} as (select {key}, min(rowid) as first, max(rowid) as last from {qualified(tables[kind])} "
        f"where {owned_by(tables[kind], corpus_id)} group by {key})"
        for kind, key in HANGING.items()
    ]
    query = _PLACES.format(
        spans=",\n".join(spans),
        columns=", ".join(f"of_{kind.TABLE}.first, of_{kind.TABLE}.last" for kind in HANGING),
        joins="\n".join(
            f"left join of_{kind.TABLE} on of_{kind.TABLE}.{key} = ordered.{key}" for kind, key in HANGING.items()
        ),
    )
    places = con.cursor().execute(query, {"corpus": corpus_id})
    while rows := places.fetchmany(_RECORDS):
        for file_id, key, dialogue_id, is_quarantined, row, *ends in rows:
            if files is None or file_id in files:
                pairs = zip(ends[::2], ends[1::2], strict=True)
                spans_of = tuple((first, last) if first is not None else None for first, last in pairs)
                yield RecordPosition(file_id, key, dialogue_id, is_quarantined, row, spans_of)


def chunks(positions: Iterator[RecordPosition]) -> Iterator[list[RecordPosition]]:
    """Group as many positions as are worth a set of queries."""
    chunk: list[RecordPosition] = []
    rows = 0
    for position in positions:
        rows += sum(span[1] - span[0] + 1 for span in position.spans if span)
        if len(chunk) == _RECORDS or (chunk and rows > _ROWS):
            yield chunk
            chunk, rows = [], 0
        chunk.append(position)
    if chunk:
        yield chunk
