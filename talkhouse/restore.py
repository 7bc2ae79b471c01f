"""Gives back what a publisher's files said: gathers each record's rows and hands them to the corpus's writer."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import duckdb

from ingest.corpus import Corpus, Published
from ingest.rows import (
    Annotation,
    Candidate,
    CandidateText,
    Dialogue,
    FileRow,
    Image,
    Participant,
    Persona,
    PersonaUse,
    Quarantined,
    Record,
    Row,
    Speaker,
    Turn,
)
from schema.errors import BuildFailed
from schema.tables import metadata, qualified

R = TypeVar("R", bound=Row)

_AT_ONCE = 500
"""Records that are gathered by one set of queries; each query scans a table once."""

_PLACES = """
select source_file_id, -1 as position, '' as key, false as is_quarantined
from meta.source_files
where corpus_id = $corpus and extra is not null
union all
select source_file_id, record_index, record_id, false from main.records where corpus_id = $corpus
union all
select source_file_id, coalesce(record_index, 0), pointer, true from meta.quarantine where corpus_id = $corpus
order by all
"""


class _Place(NamedTuple):
    """Where something stands in the files: a frame (no key), a record, or a quarantined one (its pointer)."""

    file_id: str
    position: int
    key: str
    is_quarantined: bool


def restore(con: duckdb.DuckDBPyConnection, corpus: Corpus, output: Path) -> list[Path]:
    """Write every file of a corpus below ``output``, archives as folders of their members; gives the paths.

    Raises BuildFailed where a name in the warehouse points outside of the folder.
    """
    written = []
    for name, content in corpus.write(published(con, corpus.id)):
        path = (output / name).resolve()
        if not path.is_relative_to(output.resolve()):
            raise BuildFailed("the file's name points outside of the output folder", where=name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written.append(path)
    return written


def published(con: duckdb.DuckDBPyConnection, corpus_id: str) -> Iterator[Published]:
    """Give every record of a corpus, quarantined ones too, in the order of files and records."""
    places = iter([_Place(*row) for row in con.execute(_PLACES, {"corpus": corpus_id}).fetchall()])
    while chunk := list(islice(places, _AT_ONCE)):
        yield from _Gathered.of(con, chunk).published(chunk)


@dataclass(frozen=True)
class _Gathered:
    """All rows that some records need, by what they hang on."""

    files: Mapping[str, FileRow]
    records: Mapping[str, Record]
    raw: Mapping[tuple[str, str], bytes]
    dialogues: Mapping[str, Dialogue]
    participants: defaultdict[str, list[Participant]]
    speakers: Mapping[str, Speaker]
    turns: defaultdict[str, list[Turn]]
    annotations: defaultdict[str, list[Annotation]]
    persona_uses: defaultdict[str, list[PersonaUse]]
    candidates: defaultdict[str, list[Candidate]]
    personas: Mapping[str, Persona]
    texts: Mapping[str, str]
    images: defaultdict[str, list[Image]]

    @classmethod
    def of(cls, con: duckdb.DuckDBPyConnection, places: list[_Place]) -> "_Gathered":
        """Read the rows of some places, a query for each table."""
        files = sorted({place.file_id for place in places})
        record_ids = [place.key for place in places if place.key and not place.is_quarantined]
        refused = sorted({place.file_id for place in places if place.is_quarantined})
        records = _rows(con, Record, "record_id", record_ids)
        dialogue_ids = sorted({record.dialogue_id for record in records if record.dialogue_id})
        participants = _rows(con, Participant, "dialogue_id", dialogue_ids)
        turns = _rows(con, Turn, "dialogue_id", dialogue_ids, "dialogue_id, turn_index")
        annotations = _rows(con, Annotation, "record_id", record_ids, _ORDER_OF_ANNOTATIONS)
        uses = _rows(con, PersonaUse, "record_id", record_ids, "turn_index, persona_set, position")
        candidates = _rows(con, Candidate, "record_id", record_ids, "turn_index, candidate_set, position, item_index")
        personas = {use.persona_id for use in uses} | {row.persona_id for row in candidates if row.persona_id}
        personas |= {row.persona_id for row in annotations if row.persona_id}
        text_ids = {row.text_id for row in candidates if row.text_id}
        people = {person.speaker_id for person in participants} | {row.speaker_id for row in turns if row.speaker_id}
        return cls(
            files={row.source_file_id: row for row in _rows(con, FileRow, "source_file_id", files)},
            records={row.record_id: row for row in records},
            raw={(r.source_file_id, r.pointer): r.raw for r in _rows(con, Quarantined, "source_file_id", refused)},
            dialogues={row.dialogue_id: row for row in _rows(con, Dialogue, "dialogue_id", dialogue_ids)},
            participants=_group(participants, "dialogue_id"),
            speakers={row.speaker_id: row for row in _rows(con, Speaker, "speaker_id", sorted(people))},
            turns=_group(turns, "dialogue_id"),
            annotations=_group(annotations, "record_id"),
            persona_uses=_group(uses, "record_id"),
            candidates=_group(candidates, "record_id"),
            personas={row.persona_id: row for row in _rows(con, Persona, "persona_id", sorted(personas))},
            texts={row.text_id: row.text for row in _rows(con, CandidateText, "text_id", sorted(text_ids))},
            images=_group(_rows(con, Image, "source_file_id", files, "kind, image_index"), "source_file_id"),
        )

    def published(self, places: list[_Place]) -> Iterator[Published]:
        """Give what stands at the places, in their order."""
        for place in places:
            file = self.files[place.file_id]
            if place.is_quarantined:
                yield Published(file, raw=self.raw[place.file_id, place.key], pointer=place.key)
            elif not place.key:
                yield Published(file)
            else:
                yield self._record(file, self.records[place.key])

    def _record(self, file: FileRow, record: Record) -> Published:
        key = record.dialogue_id or ""
        return Published(
            file,
            record,
            pointer=record.source_pointer,
            dialogue=self.dialogues.get(key),
            speakers=self.speakers,
            participants=self.participants[key],
            turns=self.turns[key],
            annotations=self.annotations[record.record_id],
            persona_uses=self.persona_uses[record.record_id],
            personas=self.personas,
            candidates=self.candidates[record.record_id],
            texts=self.texts,
            images=self.images[file.source_file_id],
        )


_ORDER_OF_ANNOTATIONS = "turn_index, annotator_index, scheme, persona_set, persona_position, item_index"


def _rows(con: duckdb.DuckDBPyConnection, kind: type[R], key: str, values: list[str], order: str = "all") -> list[R]:
    """Read the rows of one table whose key is among the values."""
    if not values:
        return []
    columns = ", ".join(kind.__struct_fields__)
    table = qualified(metadata.tables[kind.TABLE])
    query = f"select {columns} from {table} where {key} in (select unnest(?::varchar[])) order by {order}"
    return [kind(*row) for row in con.execute(query, [values]).fetchall()]


def _group(rows: list[R], key: str) -> defaultdict[str, list[R]]:
    """Group rows by a key, keeping their order."""
    groups: defaultdict[str, list[R]] = defaultdict(list)
    for row in rows:
        groups[getattr(row, key)].append(row)
    return groups
