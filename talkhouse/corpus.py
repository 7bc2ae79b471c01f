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

# "as" says that a name is exported again.

from talkhouse.ingest import decode as decode
from talkhouse.ingest import json_members as json_members
from talkhouse.ingest.common_rules import Rule as Rule
from talkhouse.ingest.corpus import API as API
from talkhouse.ingest.corpus import Author as Author
from talkhouse.ingest.corpus import Corpus as Corpus
from talkhouse.ingest.corpus import Datasheet as Datasheet
from talkhouse.ingest.corpus import Exempt as Exempt
from talkhouse.ingest.corpus import LicenceTerms as LicenceTerms
from talkhouse.ingest.corpus import MakeOptions as MakeOptions
from talkhouse.ingest.corpus import Maker as Maker
from talkhouse.ingest.corpus import NotMade as NotMade
from talkhouse.ingest.corpus import People as People
from talkhouse.ingest.corpus import Reference as Reference
from talkhouse.ingest.corpus import Release as Release
from talkhouse.ingest.corpus import Scheme as Scheme
from talkhouse.ingest.corpus import Source as Source
from talkhouse.ingest.corpus import WrongInput as WrongInput
from talkhouse.ingest.decode import BadRecord as BadRecord
from talkhouse.ingest.input_files import DialogueKeys as DialogueKeys
from talkhouse.ingest.input_files import DialogueRecord as DialogueRecord
from talkhouse.ingest.input_files import InputFile as InputFile
from talkhouse.ingest.input_files import InputFiles as InputFiles
from talkhouse.ingest.input_files import people_and_turns as people_and_turns
from talkhouse.ingest.input_files import read_each as read_each
from talkhouse.ingest.keys import Keys as Keys
from talkhouse.ingest.keys import Restatements as Restatements
from talkhouse.ingest.keys import Texts as Texts
from talkhouse.ingest.keys import digest as digest
from talkhouse.ingest.outcomes import FileEnvelope as FileEnvelope
from talkhouse.ingest.outcomes import Loaded as Loaded
from talkhouse.ingest.outcomes import LoadedBatch as LoadedBatch
from talkhouse.ingest.outcomes import Outcome as Outcome
from talkhouse.ingest.outcomes import Reader as Reader
from talkhouse.ingest.outcomes import ReaderFinding as ReaderFinding
from talkhouse.ingest.outcomes import Rejected as Rejected
from talkhouse.ingest.outcomes import SourceLocation as SourceLocation
from talkhouse.ingest.outcomes import Unrecognised as Unrecognised
from talkhouse.ingest.outcomes import reject as reject
from talkhouse.ingest.progress import Progress as Progress
from talkhouse.ingest.rows import Annotation as Annotation
from talkhouse.ingest.rows import Candidate as Candidate
from talkhouse.ingest.rows import CandidateText as CandidateText
from talkhouse.ingest.rows import ColumnBatch as ColumnBatch
from talkhouse.ingest.rows import Dialogue as Dialogue
from talkhouse.ingest.rows import Image as Image
from talkhouse.ingest.rows import Label as Label
from talkhouse.ingest.rows import Part as Part
from talkhouse.ingest.rows import Participant as Participant
from talkhouse.ingest.rows import Persona as Persona
from talkhouse.ingest.rows import PersonaUse as PersonaUse
from talkhouse.ingest.rows import Record as Record
from talkhouse.ingest.rows import Row as Row
from talkhouse.ingest.rows import Speaker as Speaker
from talkhouse.ingest.rows import Turn as Turn
from talkhouse.ingest.rows import TurnSpeaker as TurnSpeaker
from talkhouse.ingest.sources import SourceFile as SourceFile
from talkhouse.ingest.sources import duplicate_part as duplicate_part
from talkhouse.ingest.stored_record import RecordWriter as RecordWriter
from talkhouse.ingest.stored_record import StoredRecord as StoredRecord
from talkhouse.ingest.stored_record import Writer as Writer
from talkhouse.ingest.stored_record import file_by_file as file_by_file
from talkhouse.ingest.stored_record import whole_files as whole_files
