"""What a corpus folder declares, and what its reader yields and its writer takes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ingest import rows
from ingest.decode import BadRecord
from ingest.rows import Block
from ingest.sources import BOM, BOM_NOTE, SourceFile, unpacked

Severity: TypeAlias = Literal["reject_file", "reject_dialogue", "reject_example", "warn", "note"]


@dataclass(frozen=True)
class Rule:
    """A rule that a source record can break: when it applies, how grave that is, and what to do."""

    id: str
    severity: Severity
    condition: str
    remedy: str


@dataclass(frozen=True)
class Scheme:
    """An annotation scheme: what is labelled, and what each label means."""

    name: str
    description: str
    target: Literal["turn", "dialogue", "record", "persona"]
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Exempt:
    """Something that a check finds and that is as its publisher means it."""

    check: str
    scope: str
    """In the check's own words: two splits ('train/test'), a scheme."""
    reason: str


@dataclass(frozen=True)
class Source:
    """A file as its publisher offers it; ``sha256`` is None where none is known."""

    path: str
    url: str
    sha256: str | None = None


@dataclass(frozen=True)
class Place:
    """Where a source record stands: its file, its JSON pointer or line there, and what the path says of it."""

    file: SourceFile
    pointer: str = ""
    subset: str | None = None
    release: str | None = None
    split: str | None = None
    record_index: int | None = None
    native_id: str | None = None
    size: int = 0
    """Bytes of the record, for progress and batches."""


@dataclass(frozen=True)
class Note:
    """A finding that a reader reports: the rule, and what was found where.

    ``severity`` is the rule's own unless this case is less grave.
    """

    rule: str
    detail: str
    file: SourceFile | None = None
    pointer: str | None = None
    record_id: str | None = None
    task: str | None = None
    turn_index: int | None = None
    severity: Severity | None = None


@dataclass(frozen=True)
class Loaded:
    """One source record and all rows that it became, its ``Record`` row among them."""

    place: Place
    rows: list[rows.Row]
    notes: list[Note] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    """Rows of long lists, column by column; they are inserted like the others."""


@dataclass(frozen=True)
class LoadedMany:
    """Many source records of one file, with all rows that they became: for files of hundreds of thousands.

    There is one ``Record`` row for each; a note names its record and its place.
    """

    file: SourceFile
    records: int
    size: int
    """Bytes of the records."""
    rows: list[rows.Row]
    blocks: list[Block]
    notes: list[Note]
    held: int | None = None
    """Bytes that the rows take, about; None: as many as the records."""


@dataclass(frozen=True)
class Rejected:
    """One source record that can't be loaded, verbatim; it goes to the quarantine whole."""

    place: Place
    rule: str
    detail: str
    raw: bytes
    at: str = ""
    """JSON pointer of the defect inside the record."""


def reject(place: Place, problem: BadRecord, raw: bytes) -> Rejected:
    """Quarantine a record for what was found wrong when it was decoded."""
    where = f" - at {problem.pointer}" if problem.pointer else ""
    return Rejected(place, problem.rule, problem.detail + where, raw, problem.pointer)


@dataclass(frozen=True)
class Unrecognised:
    """A file that is none of this corpus's."""

    file: SourceFile
    detail: str


class ReadAgain(Exception):
    """Raised by a reader that gave out records of a file, and finds now that it is not what it was taken for.

    Nothing of the corpus is loaded then, and all of its files are read once more, with ``SourceFile.is_doubtful``.
    """


@dataclass(frozen=True)
class Frame:
    """What a file of many records is beside them: its keys in published order, say, kept for writing it back."""

    file: SourceFile
    extra: Mapping[str, object]
    records: int | None = None
    """How many records the file was split into; each must be loaded or rejected, which a check holds against this."""


Outcome: TypeAlias = Loaded | LoadedMany | Rejected | Unrecognised | Frame | Note
Reader: TypeAlias = Callable[[list[SourceFile]], Iterator[Outcome]]


@dataclass(frozen=True)
class Published:
    """One record as the tables hold it, for writing it back: its row, and the rows that hang on it.

    ``turns``, ``participants`` and ``speakers`` are those of its dialogue, each in order; ``file`` is the row of
    its source file. ``personas`` and ``texts`` hold at least those that the uses and candidates refer to.
    A quarantined record has only ``raw``. A file that has a frame (``file.extra``) comes before its records, with
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
    """Candidate texts by ``text_id``."""
    images: list[rows.Image] = field(default_factory=list)
    """The images that the file names, in order; with a record that is a list of images."""

    @property
    def path(self) -> str:
        """The file's path inside the corpus's folder, archives as folders of their members."""
        return str(unpacked(self.file.path, self.file.member)).partition("/")[2]

    @property
    def mark(self) -> bytes:
        """The byte order mark that the file starts with, if it does; ``raw`` has its own."""
        return BOM if self.record and self.file.note == BOM_NOTE else b""


Writer: TypeAlias = Callable[[Iterable[Published]], Iterator[tuple[str, bytes]]]
"""Takes the records in the order of their files, gives files in pieces: (path inside the corpus's folder, bytes).

The pieces of one file are in order; those of several may alternate.
"""

RecordWriter: TypeAlias = Callable[[Published], bytes]
"""Takes one loaded record, gives it as its file has it: the JSON of a dialogue, the line of a list."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Everything that is particular to one corpus, declared in ``ingest/corpora/<id>/__init__.py``."""

    id: str
    version: int
    """Raise it when ``read`` changes what it yields: the corpus is then loaded again."""
    title: str
    description: str
    homepage: str
    licence: str
    licence_url: str | None = None
    terms: str = ""
    citation: str
    languages: tuple[str, ...]
    files: str
    """The files that the reader takes, in words, for messages."""
    sources: tuple[Source, ...] = ()
    splits: Mapping[str, str | None] = field(default_factory=dict)
    """The publisher's splits, each with its standard name (train, validation, test) or None."""
    schemes: tuple[Scheme, ...] = ()
    rules: tuple[Rule, ...] = ()
    house_rules: tuple[str, ...] = ("TH-01", "TH-02", "TH-03", "TH-04", "TH-05")
    """The rules of the house that files of this format can break."""
    exceptions: tuple[Exempt, ...] = ()
    """What checks would find and what is known and meant."""
    has_record_per_file: bool = False
    """A refused file is one record; otherwise nobody knows how many were in it."""
    read: Reader
    write: Writer
    write_record: RecordWriter | None = None
    """For ``talkhouse show ID --raw``, which says so where there is none."""


HOUSE_RULES = (
    Rule(
        "TH-01",
        "reject_file",
        "The JSON is malformed.",
        "Compare the file with the publisher's and take that one; a truncated download is the usual cause.",
    ),
    Rule(
        "TH-02",
        "reject_file",
        "The text is not UTF-8, or holds half of a surrogate pair, which no database can store.",
        "Save the file as UTF-8; a lone \\ud800 ... \\udfff escape has to be mended by hand.",
    ),
    Rule(
        "TH-03",
        "reject_dialogue",
        "An object has the same key twice, so that one of the values would be lost.",
        "Decide which of the values is meant and remove the other.",
    ),
    Rule(
        "TH-04",
        "reject_dialogue",
        "NaN or Infinity, which this format does not have.",
        "Replace it by null or a number.",
    ),
    Rule(
        "TH-05",
        "warn",
        "A file or folder that nothing recognises.",
        "Take it out of the folder, or put it into the folder of its corpus.",
    ),
    Rule(
        "TH-06",
        "warn",
        "A write-ahead log of DuckDB lay beside the published file, which is never written to: it was moved aside.",
        "Delete it, unless somebody changed the file by hand and wants to know what is in it.",
    ),
)
"""Rules that hold for every corpus."""
