"""What a corpus of your own may import: these names stay, and mean what they mean, as long as ``API`` is the same.

Everything else of Talkhouse may change from one version to the next. A corpus declares a ``Corpus``: what it is, the
``schemes`` and ``rules`` of its rows, a reader and a writer.

- The declaration: ``Corpus``, ``Scheme``, ``Exempt``, ``Source``, ``Rule``, ``API``; how to cite it: ``Author``,
  ``Reference``; what its licence asks: ``LicenceTerms``; what leads to people: ``People``;
  its ``Release``, where it has several; what a user should know: ``Datasheet``.
- What a reader gets: ``SourceFile``; what it yields: ``Loaded``, ``LoadedBatch``, ``Rejected``, ``Unrecognised``,
  ``FileEnvelope``, ``ReaderFinding`` (together ``Outcome``), with a ``SourceLocation`` and rows.
- Rows, a class for each table: ``Record``, ``Dialogue``, ``Speaker``, ``Participant``, ``Turn``, ``TurnSpeaker``,
  ``Part``, ``Annotation``, ``Label``, ``Candidate``, ``CandidateText``, ``Persona``, ``PersonaUse``, ``Image``; many of
  them at once: ``ColumnBatch``, which ``Record.annotations`` makes of the labels of a record.
- What readers have in common: ``read_each`` with ``DialogueKeys`` and ``people_and_turns`` (a file for each dialogue),
  ``InputFiles`` and ``InputFile`` (files of several kinds), ``Keys``, ``digest``, ``Restatements``, ``Texts``,
  ``duplicate_part``.
- Strict decoding: the modules ``decode`` and ``json_members``; ``BadRecord`` says what is wrong with a record, and
  ``reject`` makes a ``Rejected`` of it.
- What a maker takes, raises and shows (``Corpus.make``): ``MakeOptions``, ``NotMade``, ``WrongInput``, ``Progress``.
- What a writer gets: ``StoredRecord``; writers are made by ``whole_files`` and ``file_by_file``.
"""

from talkhouse.ingest import decode, json_members
from talkhouse.ingest.common_rules import Rule
from talkhouse.ingest.corpus import (
    API,
    Author,
    Corpus,
    Datasheet,
    Exempt,
    LicenceTerms,
    MakeOptions,
    Maker,
    NotMade,
    People,
    Reference,
    Release,
    Scheme,
    Source,
    WrongInput,
)
from talkhouse.ingest.decode import BadRecord
from talkhouse.ingest.input_files import (
    DialogueKeys,
    DialogueRecord,
    InputFile,
    InputFiles,
    people_and_turns,
    read_each,
)
from talkhouse.ingest.keys import Keys, Restatements, Texts, digest
from talkhouse.ingest.outcomes import (
    FileEnvelope,
    Loaded,
    LoadedBatch,
    Outcome,
    Reader,
    ReaderFinding,
    Rejected,
    SourceLocation,
    Unrecognised,
    reject,
)
from talkhouse.ingest.progress import Progress
from talkhouse.ingest.rows import (
    Annotation,
    Candidate,
    CandidateText,
    ColumnBatch,
    Dialogue,
    Image,
    Label,
    Part,
    Participant,
    Persona,
    PersonaUse,
    Record,
    Row,
    Speaker,
    Turn,
    TurnSpeaker,
)
from talkhouse.ingest.sources import SourceFile, duplicate_part
from talkhouse.ingest.stored_record import RecordWriter, StoredRecord, Writer, file_by_file, whole_files

__all__ = [
    "API",
    "Annotation",
    "Author",
    "BadRecord",
    "Candidate",
    "CandidateText",
    "ColumnBatch",
    "Corpus",
    "Datasheet",
    "Dialogue",
    "DialogueKeys",
    "DialogueRecord",
    "Exempt",
    "FileEnvelope",
    "Image",
    "InputFile",
    "InputFiles",
    "Keys",
    "Label",
    "LicenceTerms",
    "Loaded",
    "LoadedBatch",
    "MakeOptions",
    "Maker",
    "NotMade",
    "Outcome",
    "Part",
    "Participant",
    "People",
    "Persona",
    "PersonaUse",
    "Progress",
    "Reader",
    "ReaderFinding",
    "Record",
    "RecordWriter",
    "Reference",
    "Rejected",
    "Release",
    "Restatements",
    "Row",
    "Rule",
    "Scheme",
    "Source",
    "SourceFile",
    "SourceLocation",
    "Speaker",
    "StoredRecord",
    "Texts",
    "Turn",
    "TurnSpeaker",
    "Unrecognised",
    "Writer",
    "WrongInput",
    "decode",
    "digest",
    "duplicate_part",
    "file_by_file",
    "json_members",
    "people_and_turns",
    "read_each",
    "reject",
    "whole_files",
]
