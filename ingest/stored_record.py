"""What a corpus's writer gets: one record as the tables hold it; and the types of writers."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import TypeAlias, TypeVar

from talkhouse.ingest import rows
from talkhouse.ingest.files.archives import unpacked
from talkhouse.ingest.sources import BOM, BOM_NOTE


@dataclass(frozen=True)
class StoredRecord:
    """One record as the tables hold it, for writing it back: its row, and the rows that belong to it.

    ``turns``, ``turn_speakers``, ``parts``, ``participants`` and ``speakers`` are those of its dialogue, each in order;
    ``file`` is the row of its source file. ``personas`` and ``texts`` hold at least those that the uses and candidates
    refer to.
    A quarantined record has only ``raw``. A file that has an envelope (``file.extra``) comes before its records, with
    neither ``record`` nor ``raw``.
    """

    file: rows.FileRow
    record: rows.Record | None = None
    raw: bytes | None = None
    pointer: str = ""
    """JSON pointer of the record in its file; of a quarantined one too."""
    dialogue: rows.Dialogue | None = None
    speakers: Mapping[str, rows.Speaker] = field(default_factory=dict)
    participants: list[rows.Participant] = field(default_factory=list)
    turns: list[rows.Turn] = field(default_factory=list)
    turn_speakers: list[rows.TurnSpeaker] = field(default_factory=list)
    parts: list[rows.Part] = field(default_factory=list)
    annotations: list[rows.Annotation] = field(default_factory=list)
    persona_uses: list[rows.PersonaUse] = field(default_factory=list)
    personas: Mapping[str, rows.Persona] = field(default_factory=dict)
    candidates: list[rows.Candidate] = field(default_factory=list)
    texts: Mapping[str, str] = field(default_factory=dict)
    """Candidate texts, and those to which ``record.extra`` refers (``Corpus.text_ids_of``), by ``text_id``."""
    images: list[rows.Image] = field(default_factory=list)
    """The images that the file names, in order; with a record that is a list of images."""

    @property
    def loaded(self) -> rows.Record:
        """The row of a loaded record, as every ``RecordWriter`` gets; ValueError for one that is not."""
        if self.record is None:
            raise ValueError(f"not a loaded record: {self.path} {self.pointer}")
        return self.record

    @cached_property
    def annotations_by_turn(self) -> Mapping[int | None, list[rows.Annotation]]:
        """The annotations by turn, in order; an empty list where there are none."""
        return _by_turn(self.annotations)

    @cached_property
    def parts_by_turn(self) -> Mapping[int | None, list[rows.Part]]:
        """The parts by turn, in order; an empty list where there are none."""
        return _by_turn(self.parts)

    @cached_property
    def speakers_by_turn(self) -> Mapping[int | None, list[rows.TurnSpeaker]]:
        """The speakers of the turns that several say together, in order; an empty list for all others."""
        return _by_turn(self.turn_speakers)

    @property
    def path(self) -> str:
        """The file's path inside the corpus's folder, archives as folders of their members."""
        return str(unpacked(self.file.path, self.file.member)).partition("/")[2]

    @property
    def bom(self) -> bytes:
        """The byte order mark that the file starts with, if it does; ``raw`` has its own."""
        return BOM if self.record and self.file.note == BOM_NOTE else b""


R = TypeVar("R", rows.Annotation, rows.Part, rows.TurnSpeaker)


def _by_turn(hanging: Iterable[R]) -> Mapping[int | None, list[R]]:
    """Group rows by turn, keeping their order."""
    by_turn: defaultdict[int | None, list[R]] = defaultdict(list)
    for row in hanging:
        by_turn[row.turn_index].append(row)
    return by_turn


Writer: TypeAlias = Callable[[Iterable[StoredRecord]], Iterator[tuple[str, bytes]]]
"""Takes the records in the order of their files and yields (path inside the corpus's folder, piece of the file).

The pieces of one file are in order; those of several may alternate.
"""

FileWriter: TypeAlias = Callable[[StoredRecord, Iterator[StoredRecord]], Iterable[bytes]]
"""Takes the first record of a file, or its envelope alone, and the others, and yields the file in pieces."""

TextReferences: TypeAlias = Callable[[rows.Record], Collection[str]]
"""Takes a record's row, returns the keys in ``main.texts`` to which its ``extra`` refers."""


def no_text_ids(_: rows.Record) -> Collection[str]:
    """Refer to no texts but those of candidates."""
    return ()


def _ordered(text: str) -> str:
    return json.dumps(json.loads(text))


def as_published(stored: StoredRecord, written: bytes, read: Callable[[str], object] = _ordered) -> bytes:
    """Return the record's text in ``extra``, if ``read`` reads the same in it as in the text that the tables give."""
    extra = stored.loaded.extra or ""
    text = json.loads(extra).get("verbatim") if '"verbatim":' in extra else None
    return written if text is None or read(text) != read(written.decode()) else str(text).encode()


RecordWriter: TypeAlias = Callable[[StoredRecord], bytes]
"""Takes one loaded record and returns it as its file has it: the JSON of a dialogue, the line of a list."""


class FileFailed(Exception):
    """What is raised while a file is written, ``error``, and which file: the others may be written without it."""

    def __init__(self, source_file_id: str, error: Exception) -> None:
        self.source_file_id, self.error = source_file_id, error
        super().__init__(str(error))


@contextmanager
def _writing(stored: StoredRecord) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise FileFailed(stored.file.source_file_id, error) from error


def whole_files(write_record: RecordWriter) -> Writer:
    """Make the writer of a corpus in which a file is one record; a rejected one comes back as it was."""

    def write(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
        for stored in records:
            with _writing(stored):
                raw = stored.raw if stored.raw is not None else write_record(stored)
            yield stored.path, raw

    return write


def file_by_file(write_file: FileWriter) -> Writer:
    """Make the writer of a corpus whose files have many records; a rejected file comes back as it was.

    ``write_file`` takes a file's envelope, or its first record where it has none, and the records that follow.
    """

    def write(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
        for _, stored in groupby(records, key=lambda record: record.file.source_file_id):
            first = next(stored)
            is_rejected = first.raw is not None and not first.pointer
            with _writing(first):
                for piece in (first.raw or b"",) if is_rejected else write_file(first, stored):
                    yield first.path, piece

    return write
