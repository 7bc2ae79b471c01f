"""What a corpus's writer takes: one record as the tables hold it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ingest import rows
from ingest.sources import BOM, BOM_NOTE, unpacked


@dataclass(frozen=True)
class StoredRecord:
    """One record as the tables hold it, for writing it back: its row, and the rows that hang on it.

    ``turns``, ``participants`` and ``speakers`` are those of its dialogue, each in order; ``file`` is the row of
    its source file. ``personas`` and ``texts`` hold at least those that the uses and candidates refer to.
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
    annotations: list[rows.Annotation] = field(default_factory=list)
    persona_uses: list[rows.PersonaUse] = field(default_factory=list)
    personas: Mapping[str, rows.Persona] = field(default_factory=dict)
    candidates: list[rows.Candidate] = field(default_factory=list)
    texts: Mapping[str, str] = field(default_factory=dict)
    """Candidate texts, and those to which ``record.extra`` refers (``Corpus.text_ids_of``), by ``text_id``."""
    images: list[rows.Image] = field(default_factory=list)
    """The images that the file names, in order; with a record that is a list of images."""

    @property
    def path(self) -> str:
        """The file's path inside the corpus's folder, archives as folders of their members."""
        return str(unpacked(self.file.path, self.file.member)).partition("/")[2]

    @property
    def bom(self) -> bytes:
        """The byte order mark that the file starts with, if it does; ``raw`` has its own."""
        return BOM if self.record and self.file.note == BOM_NOTE else b""


Writer: TypeAlias = Callable[[Iterable[StoredRecord]], Iterator[tuple[str, bytes]]]
"""Takes the records in the order of their files, gives files in pieces: (path inside the corpus's folder, bytes).

The pieces of one file are in order; those of several may alternate.
"""

TextReferences: TypeAlias = Callable[[rows.Record], Collection[str]]
"""Takes a record's row, returns the keys in ``main.texts`` to which its ``extra`` refers."""


def no_text_ids(_: rows.Record) -> Collection[str]:
    """Refer to no texts but those of candidates."""
    return ()


RecordWriter: TypeAlias = Callable[[StoredRecord], bytes]
"""Takes one loaded record, gives it as its file has it: the JSON of a dialogue, the line of a list."""
