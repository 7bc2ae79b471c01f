"""Gathers all rows that belong to a record, for the corpus's writer: in the order of the files, a chunk at a time."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import duckdb

from talkhouse.ingest.rows import (
    Annotation,
    Candidate,
    Dialogue,
    FileRow,
    Image,
    Part,
    Participant,
    Persona,
    PersonaUse,
    Quarantined,
    Record,
    Row,
    Speaker,
    Turn,
    TurnSpeaker,
)
from talkhouse.ingest.stored_record import StoredRecord, TextReferences, no_text_ids
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.tables import metadata, owned_by, qualified

Span = tuple[int, int]
"""First and last row number of a table between which rows stand."""


_RECORDS = 2_000


_ROWS = 60_000
"""What is gathered by one set of queries: so many records, and so many rows on them. More rows are more memory,
fewer are more scans of the table of texts (120,000 records of 51 candidates: 0.2 s for each scan)."""


KEY_COLUMNS: dict[type[Row], str] = {
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


class RecordPosition(NamedTuple):
    """Where something stands in the files: an envelope (no key), a record, or a quarantined one (its pointer)."""

    file_id: str
    key: str
    dialogue_id: str
    is_quarantined: bool
    row: int | None = None
    spans: tuple[Span | None, ...] = (None,) * len(KEY_COLUMNS)


def positions_of(
    con: duckdb.DuckDBPyConnection, corpus_id: str, files: Collection[str] | None
) -> Iterator[RecordPosition]:
    """Stream the positions of a corpus's records, each with the row numbers between which its rows stand."""
    tables = {kind: metadata.tables[kind.TABLE] for kind in KEY_COLUMNS}
    spans = [
        f"of_{kind.TABLE} as (select {key}, min(rowid) as first, max(rowid) as last from {qualified(tables[kind])} "
        f"where {owned_by(tables[kind], corpus_id)} group by {key})"
        for kind, key in KEY_COLUMNS.items()
    ]
    query = sql_of(
        __file__,
        "places",
        spans=",\n".join(spans),
        columns=", ".join(f"of_{kind.TABLE}.first, of_{kind.TABLE}.last" for kind in KEY_COLUMNS),
        joins="\n".join(
            f"left join of_{kind.TABLE} on of_{kind.TABLE}.{key} = ordered.{key}" for kind, key in KEY_COLUMNS.items()
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
    """Group as many positions as are worth a set of queries; the rows of a dialogue of several records count once."""
    chunk: list[RecordPosition] = []
    counted: set[tuple[int, Span]] = set()
    rows = 0
    for position in positions:
        spans = {(table, span) for table, span in enumerate(position.spans) if span}
        added = sum(last - first + 1 for _, (first, last) in spans - counted)
        if len(chunk) == _RECORDS or (chunk and added and rows + added > _ROWS):
            yield chunk
            chunk, counted, rows = [], set(), 0
            added = sum(last - first + 1 for _, (first, last) in spans)
        chunk.append(position)
        counted |= spans
        rows += added
    if chunk:
        yield chunk


R = TypeVar("R", bound=Row)


def stored_records(
    con: duckdb.DuckDBPyConnection,
    corpus_id: str,
    files: Collection[str] | None = None,
    text_ids_of: TextReferences = no_text_ids,
) -> Iterator[StoredRecord]:
    """Return every record of a corpus or of some of its files, quarantined ones too, in the order of the files.

    Where a file has several lists, which count from 0 each, they come one after the other as they were read. A file's
    envelope comes before its records; a file that was read and holds none has only that. ``text_ids_of`` is the
    corpus's own.
    """
    for chunk in chunks(positions_of(con, corpus_id, files)):
        yield from _Gathered.read(con, chunk, text_ids_of).stored(chunk)


def stored_record(
    con: duckdb.DuckDBPyConnection, record_id: str, text_ids_of: TextReferences = no_text_ids
) -> StoredRecord:
    """Return one loaded record; KeyError where there is none."""
    places = con.execute("select source_file_id, dialogue_id from main.records where record_id = ?", [record_id])
    for file_id, dialogue_id in places.fetchall():
        positions = [RecordPosition(file_id, record_id, dialogue_id or "", is_quarantined=False)]
        return next(_Gathered.read(con, positions, text_ids_of).stored(positions))
    raise KeyError(record_id)


@dataclass(frozen=True)
class _Gathered:
    """All rows that some positions need, by the key of what they belong to."""

    files: Mapping[str, FileRow]
    records: Mapping[str, Record]
    raw: Mapping[tuple[str, str], bytes]
    dialogues: Mapping[str, Dialogue]
    participants: defaultdict[str, list[Participant]]
    speakers: Mapping[str, Speaker]
    turns: defaultdict[str, list[Turn]]
    turn_speakers: defaultdict[str, list[TurnSpeaker]]
    parts: defaultdict[str, list[Part]]
    annotations: defaultdict[str, list[Annotation]]
    persona_uses: defaultdict[str, list[PersonaUse]]
    candidates: defaultdict[str, list[Candidate]]
    personas: Mapping[str, Persona]
    texts: Mapping[str, str]
    images: defaultdict[str, list[Image]]

    @classmethod
    def read(
        cls, con: duckdb.DuckDBPyConnection, positions: list[RecordPosition], text_ids_of: TextReferences
    ) -> "_Gathered":
        """Read the rows of some positions, a query for each table."""
        tables = _Tables(con, positions)
        files = sorted({position.file_id for position in positions})
        participants = tables.keyed(Participant, "all")
        turns = tables.keyed(Turn, "dialogue_id, turn_index")
        together = tables.keyed(TurnSpeaker, "dialogue_id, turn_index, position")
        annotations = tables.keyed(Annotation, _ORDER_OF_ANNOTATIONS)
        uses = tables.keyed(PersonaUse, "turn_index, persona_set, position")
        candidates = tables.keyed(Candidate, "turn_index, candidate_set, position, item_index")
        personas = {use.persona_id for use in uses} | {row.persona_id for row in candidates if row.persona_id}
        personas |= {row.persona_id for row in annotations if row.persona_id}
        records = tables.keyed(Record)
        text_ids = {row.text_id for row in candidates if row.text_id}.union(*map(text_ids_of, records))
        people = {person.speaker_id for person in participants} | {row.speaker_id for row in turns if row.speaker_id}
        people |= {row.speaker_id for row in together}
        return cls(
            files={row.source_file_id: row for row in tables.rows(FileRow, "source_file_id", files)},
            records={row.record_id: row for row in records},
            raw={(row.source_file_id, row.pointer): row.raw for row in tables.quarantined()},
            dialogues={row.dialogue_id: row for row in tables.keyed(Dialogue)},
            participants=_group(participants, "dialogue_id"),
            speakers={row.speaker_id: row for row in tables.rows(Speaker, "speaker_id", people)},
            turns=_group(turns, "dialogue_id"),
            turn_speakers=_group(together, "dialogue_id"),
            parts=_group(tables.keyed(Part, "dialogue_id, turn_index, part_index"), "dialogue_id"),
            annotations=_group(annotations, "record_id"),
            persona_uses=_group(uses, "record_id"),
            candidates=_group(candidates, "record_id"),
            personas={row.persona_id: row for row in tables.rows(Persona, "persona_id", personas)},
            texts=tables.texts(text_ids),
            images=_group(tables.rows(Image, "source_file_id", files, "kind, image_index"), "source_file_id"),
        )

    def stored(self, positions: list[RecordPosition]) -> Iterator[StoredRecord]:
        """Return the values at the positions, in their order."""
        for position in positions:
            file = self.files[position.file_id]
            if position.is_quarantined:
                yield StoredRecord(file, raw=self.raw[position.file_id, position.key], pointer=position.key)
            elif not position.key:
                yield StoredRecord(file)
            else:
                yield self._record(file, self.records[position.key])

    def _record(self, file: FileRow, record: Record) -> StoredRecord:
        key = record.dialogue_id or ""
        return StoredRecord(
            file,
            record,
            pointer=record.source_pointer,
            dialogue=self.dialogues.get(key),
            speakers=self.speakers,
            participants=self.participants[key],
            turns=self.turns[key],
            turn_speakers=self.turn_speakers[key],
            parts=self.parts[key],
            annotations=self.annotations[record.record_id],
            persona_uses=self.persona_uses[record.record_id],
            personas=self.personas,
            candidates=self.candidates[record.record_id],
            texts=self.texts,
            images=self.images[file.source_file_id],
        )


_ORDER_OF_ANNOTATIONS = "turn_index, annotator_index, scheme, persona_set, persona_position, item_index"


class _Tables:
    """Reads the rows that some positions need."""

    def __init__(self, con: duckdb.DuckDBPyConnection, positions: list[RecordPosition]) -> None:
        self._con, self._positions = con, positions
        self._is_placed = all(position.row is not None for position in positions if position.key)
        self._keys = {
            "record_id": {position.key for position in positions if position.key and not position.is_quarantined},
            "dialogue_id": {position.dialogue_id for position in positions if position.dialogue_id},
        }

    def keyed(self, kind: type[R], order: str = "") -> list[R]:
        """Read the rows of a table that belong to the records or their dialogues."""
        key = KEY_COLUMNS[kind]
        index = list(KEY_COLUMNS).index(kind)
        spans = [span for position in self._positions if (span := position.spans[index])]
        if not spans and self._is_placed:
            return []
        between = f"rowid between {min(spans)[0]} and {max(last for _, last in spans)}" if spans else "true"
        return self.rows(kind, key, self._keys[key], order, between)

    def rows(
        self, kind: type[R], key: str, values: Collection[str], order: str = "", condition: str = "true"
    ) -> list[R]:
        """Read the rows of a table whose key is among the values."""
        if not values:
            return []
        ordered = f" order by {order}" if order else ""  # only lists are: to sort texts takes longer than to read them
        return self._read(kind, f"{condition} and {key} in (select unnest(?::varchar[])){ordered}", list(values))

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        """Read candidate texts by id."""
        query = "select text_id, text from main.texts where text_id in (select unnest(?::varchar[]))"
        return dict(self._con.execute(query, [list(ids)]).fetchall()) if ids else {}

    def quarantined(self) -> list[Quarantined]:
        """Read the quarantined records, and no others of their files: they may be large."""
        rows = [position.row for position in self._positions if position.is_quarantined]
        return self._read(Quarantined, "rowid in (select unnest(?::bigint[]))", rows) if rows else []

    def _read(self, kind: type[R], condition: str, values: Collection[object]) -> list[R]:
        columns = ", ".join(kind.__struct_fields__)
        query = f"select {columns} from {qualified(metadata.tables[kind.TABLE])} where {condition}"
        return [kind(*row) for row in self._con.execute(query, [values]).fetchall()]


def _group(rows: list[R], key: str) -> defaultdict[str, list[R]]:
    """Group rows by a key, keeping their order."""
    groups: defaultdict[str, list[R]] = defaultdict(list)
    for row in rows:
        groups[getattr(row, key)].append(row)
    return groups


# A key begins with the corpus's and the file's name, so that DuckDB's statistics, which know 8 characters, can't tell
# where it stands: without the row numbers each chunk would read the whole column (283 ms among 6 million candidates,
# 30 ms with them).
