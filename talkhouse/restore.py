"""Gives back what a publisher's files said: gathers each record's rows and hands them to the corpus's writer."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

import duckdb

from ingest.corpus import Corpus, Published
from ingest.rows import Annotation, Dialogue, FileRow, Participant, Quarantined, Record, Row, Speaker, Turn
from schema.errors import BuildFailed
from schema.tables import metadata, qualified

R = TypeVar("R", bound=Row)

_FILES_AT_ONCE = 200


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
    found = con.execute(
        "select source_file_id from meta.source_files where corpus_id = ? and records_in > 0 order by all",
        [corpus_id],
    )
    names = iter([name for (name,) in found.fetchall()])
    while chunk := list(islice(names, _FILES_AT_ONCE)):
        yield from _gather(con, chunk)


def _gather(con: duckdb.DuckDBPyConnection, files: list[str]) -> Iterator[Published]:
    """Give the records of some files."""
    by_file = {row.source_file_id: row for row in _rows(con, FileRow, "source_file_id", files)}
    records = _rows(con, Record, "source_file_id", files)
    quarantined = _rows(con, Quarantined, "source_file_id", files)
    dialogue_ids = list({record.dialogue_id for record in records if record.dialogue_id})
    dialogues = {row.dialogue_id: row for row in _rows(con, Dialogue, "dialogue_id", dialogue_ids)}
    participants = _group(_rows(con, Participant, "dialogue_id", dialogue_ids), "dialogue_id")
    turns = _group(_rows(con, Turn, "dialogue_id", dialogue_ids, "turn_index"), "dialogue_id")
    people = list({person.speaker_id for group in participants.values() for person in group})
    speakers = {row.speaker_id: row for row in _rows(con, Speaker, "speaker_id", people)}
    annotations = _group(
        _rows(
            con,
            Annotation,
            "record_id",
            [record.record_id for record in records],
            "turn_index, annotator_index, scheme, item_index",
        ),
        "record_id",
    )
    places: list[tuple[str, int, Published]] = [
        (row.source_file_id, row.record_index or 0, Published(by_file[row.source_file_id], raw=row.raw))
        for row in quarantined
    ]
    for record in records:
        key = record.dialogue_id or ""
        whole = Published(
            by_file[record.source_file_id],
            record,
            dialogue=dialogues.get(key),
            speakers=speakers,
            participants=participants[key],
            turns=turns[key],
            annotations=annotations[record.record_id],
        )
        places.append((record.source_file_id, record.record_index, whole))
    for _, _, item in sorted(places, key=lambda place: place[:2]):
        yield item


def _rows(con: duckdb.DuckDBPyConnection, kind: type[R], key: str, values: list[str], order: str = "all") -> list[R]:
    """Read the rows of one table whose key is among the values."""
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
