"""Groups' files to rows: one record and one dialogue per file, a turn per row."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from ingest import decode
from ingest.corpora.delidata.dialogue import CORPUS, conversation, opening, turn_row
from ingest.corpora.delidata.format import LINE_END, Cells, Table, looks_like_a_table, parse, unquote
from ingest.corpora.delidata.labels import annotation_rows
from ingest.corpora.delidata.render import cells
from ingest.corpora.delidata.repeats import Repeats
from ingest.corpora.delidata.warnings import oddities
from ingest.decode import BadRecord, pointer
from ingest.keys import Keys, digest
from ingest.outcomes import Loaded, Outcome, SourceLocation, Unrecognised, reject
from ingest.rows import Annotation, Record, Row
from ingest.sources import SourceFile

SPLIT = "all"


def read(files: list[SourceFile]) -> Iterator[Outcome]:
    """Read every group in path order."""
    reader = _Reader()
    for file in files:
        yield reader.group(file)


class _Group(NamedTuple):
    """A file's rows: with quotes taken off, and as published with the ends of their lines."""

    rows: list[Cells]
    table: Table


class _Reader:
    """Reads one build's groups; keeps keys and ids of what it has given out, never texts."""

    def __init__(self) -> None:
        self._dialogues = Keys()
        self._records = Keys()
        self._repeats = Repeats()
        self._folders: Counter[PurePosixPath] = Counter()

    def group(self, file: SourceFile) -> Outcome:
        """Turn one file into its record."""
        raw = file.read()
        if not looks_like_a_table(raw):
            return Unrecognised(file, "its first line is not the header of a group's file, and has no tab")
        folder = PurePosixPath(*file.path.parts[1:-1])
        place = SourceLocation(
            file,
            subset=folder.name or None,
            split=SPLIT,
            record_index=self._folders[folder],
            native_id=file.name,
            size=file.size,
        )
        self._folders[folder] += 1
        try:
            return self._loaded(place, _group(raw, file.name))
        except BadRecord as bad:
            return reject(place, bad, raw)

    def _loaded(self, place: SourceLocation, group: _Group) -> Loaded:
        rows, raw = group.rows, group.table.rows
        words = digest(*(part for row in rows for part in (row.message_type, row.origin, row.original_text)))
        dialogue_id, is_new = self._dialogues.assign(f"{CORPUS}:{place.native_id}", words)
        record_id, _ = self._records.assign(f"{CORPUS}/{place.native_id}", digest(place.file.id))
        record = _record(place, record_id, dialogue_id)
        labels = [list(annotation_rows(record, index, row)) for index, row in enumerate(rows)]
        differs = _differs(record, group, labels) | self._repeats.restated(dialogue_id, raw)
        record.extra = decode.dump(_extra(group.table, differs))
        found: list[Row] = [record]
        if is_new:
            found += conversation(dialogue_id, rows, raw)
        found += (label for some in labels for label in some)
        notes = list(self._repeats.notes(place.file.id, dialogue_id, rows))
        notes += (note for index, row in enumerate(rows) for note in oddities(index, row, raw[index]))
        return Loaded(place, found, notes)


def _group(raw: bytes, group_id: str) -> _Group:
    """Read a file's rows; raises BadRecord where it is no group's file (TH-02, DE-01, DE-02)."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise decode.json_problem(raw, error) from error
    table = parse(text, group_id)
    rows = [Cells(*map(unquote, row)) for row in table.rows]
    opening(rows)
    return _Group(rows, table)


def _record(place: SourceLocation, record_id: str, dialogue_id: str) -> Record:
    return Record(
        record_id=record_id,
        corpus_id=CORPUS,
        dialogue_id=dialogue_id,
        native_id=place.native_id,
        main_speaker_id=None,
        subset=place.subset,
        release=None,
        split=place.split,
        standard_split=None,
        record_index=place.record_index or 0,
        source_file_id=place.file.id,
        source_pointer="",
    )


def _differs(record: Record, group: _Group, labels: Sequence[Sequence[Annotation]]) -> dict[str, str]:
    """Give the cells that the tables alone would spell in another way, by row and column."""
    found = {}
    for index, (row, raw) in enumerate(zip(group.rows, group.table.rows, strict=True)):
        turn = turn_row(record.dialogue_id or "", index, row, raw)
        shown = cells(record.native_id or "", turn, labels[index])
        for name, ours, theirs in zip(Cells._fields, shown, raw, strict=True):
            if ours != theirs:
                found[pointer(index, name)] = theirs
    return found


def _extra(table: Table, differs: dict[str, str]) -> dict[str, object]:
    """Give what the rows do not say of a file, and nothing where it is as all are."""
    line_end = "" if table.line_end == LINE_END else table.line_end
    extra = {"differs": differs, "line_end": line_end, "lacks_final_newline": table.lacks_final_newline}
    return {key: value for key, value in extra.items() if value}
