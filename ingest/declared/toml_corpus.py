"""Makes a corpus of a declaration: what it says of itself, its schemes, and a reader and writer of its format."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

from talkhouse.ingest.common_rules import format_rules
from talkhouse.ingest.corpus import Corpus, Exempt, Scheme
from talkhouse.ingest.declared.declaration.model import (
    FORMATS_VERSION,
    Annotations,
    Declaration,
    Files,
    Splits,
    matches,
    which,
)
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.documents.document_format import DocumentFormat
from talkhouse.ingest.declared.speakers import SpeakerFiles, Speakers
from talkhouse.ingest.declared.turn_tallies import TurnTallies
from talkhouse.ingest.declared.whole_records import file_back, record_back
from talkhouse.ingest.keys import Memory, Tallies
from talkhouse.ingest.outcomes import Outcome, ReaderFinding, Unrecognised
from talkhouse.ingest.sources import SourceFile
from talkhouse.ingest.stored_record import FileWriter, RecordWriter, StoredRecord, Writer, file_by_file
from talkhouse.schema.errors import RegistryError, closest

_QUERIES = "queries/"
_PICKLES = (".p", ".pkl", ".pickle")
_PICKLE = "a pickle, which is never opened"


def declared_corpus(declaration: Declaration) -> Corpus:
    """Return the corpus that a declaration declares."""
    patterns = ", ".join(files.path for files in _entries(declaration))
    writers = writers_of(declaration)
    return Corpus(
        id=declaration.corpus_id,
        version=FORMATS_VERSION,
        title=declaration.title,
        description=declaration.description,
        homepage=declaration.homepage,
        licence=declaration.licence,
        licence_url=declaration.licence_url,
        terms=declaration.terms,
        citation=declaration.citation,
        languages=declaration.languages,
        files=f"the files that {declaration.place} names: {patterns}",
        splits=Splits(declaration),
        schemes=tuple(_scheme(declaration, spec) for spec in declaration.annotations),
        exceptions=tuple(
            Exempt("labels_are_declared", declaration.scheme(spec.scheme), "any label may occur")
            for spec in declaration.annotations
            if spec.labels is None
        ),
        has_dialogues_of_files=declaration.dialogue.is_folder,
        common_rules=("TH-01", "TH-02", "TH-03", "TH-04", "TH-05", *(rule.id for rule in format_rules())),
        read=DeclaredReader(declaration),
        parts=None if _needs_other_files(declaration) else DeclaredReader(declaration),
        write=writers.write,
        write_record=writers.write_record,
        folder=declaration.folder,
        declaration=declaration.text,
    )


def _entries(declaration: Declaration) -> tuple[Files, ...]:
    return (*declaration.files, *([declaration.speakers.files] if declaration.speakers is not None else []))


def _scheme(declaration: Declaration, spec: Annotations) -> Scheme:
    return Scheme(
        declaration.scheme(spec.scheme),
        spec.description,
        "turn" if spec.on == "response" else spec.on,
        spec.labels or {},
    )


def _needs_other_files(declaration: Declaration) -> bool:
    """Whether a file is read by what others say: of labels, or of conversations and speakers."""
    beside = any(files.holds == "annotations" for files in declaration.files)
    return (
        beside or declaration.dialogue.is_folder or declaration.format == "convokit" or declaration.speakers is not None
    )


@dataclass(frozen=True)
class DeclaredReader:
    """Reads the files of a declared corpus: all of them, or some that are a part."""

    declaration: Declaration
    together: ClassVar[bool] = False

    def __call__(self, files: list[SourceFile]) -> Iterator[Outcome]:
        """Read the files that the declaration names; RegistryError for a pattern that fits none."""
        passed_over, wanted = self.sort_out(files)
        yield from passed_over
        yield from read_wanted(self.declaration, self._with_entries(wanted))

    def corpus(self) -> Corpus:
        """Return the corpus, in another process too."""
        return declared_corpus(self.declaration)

    @property
    def has_speaker_facts(self) -> bool:
        """Whether messages say more of a speaker than the name that is the key, and a role."""
        speaker = self.declaration.speaker
        return speaker.scope == "corpus" and (speaker.name is not None or speaker.is_bot is not None)

    def sort_out(self, files: list[SourceFile], others: Collection[str] = ()) -> tuple[list[Outcome], list[SourceFile]]:
        """Return the outcomes of files not to be read, and the others; RegistryError for a pattern that fits none."""
        outcomes: list[Outcome] = []
        wanted: list[SourceFile] = []
        unused = set(_entries(self.declaration)) - {self._entry(path.partition("/")[2]) for path in others}
        for file in files:
            path = _inside(file)
            entry = self._entry(path)
            if entry is not None:
                unused.discard(entry)
            passed_over = _passed_over(self.declaration, file, path, entry)
            outcomes += passed_over
            if entry is not None and not passed_over:
                wanted.append(file)
        for entry in sorted(unused, key=lambda entry: entry.line):
            raise _no_file(
                self.declaration, entry, [*map(_inside, files), *(path.partition("/")[2] for path in others)]
            )
        return outcomes, wanted

    def read(self, files: list[SourceFile], memory: Memory) -> Iterator[Outcome]:
        """Read some of the files that are wanted, in their order."""
        speakers = Speakers(self.declaration, memory)
        yield from reader_of(self.declaration, speakers)(self._with_entries(files), memory)

    def end(self, tallies: Tallies) -> Iterator[tuple[str, ReaderFinding]]:
        """Yield what is found of all files together, by what was counted in each."""
        path = self.declaration.turn.text or (("text",) if self.declaration.format in _ROWS else ())
        yield from TurnTallies(self.declaration, tallies).findings(path_text(path))

    def _entry(self, path: str) -> Files | None:
        return None if path.startswith(_QUERIES) else which(self.declaration, path)

    def _with_entries(self, files: list[SourceFile]) -> list[tuple[SourceFile, Files]]:
        entries = ((file, self._entry(_inside(file))) for file in files)
        return [(file, entry) for file, entry in entries if entry is not None]


def _inside(file: SourceFile) -> str:
    return str(file.path).partition("/")[2]


def read_wanted(declaration: Declaration, wanted: Sequence[tuple[SourceFile, Files]]) -> Iterator[Outcome]:
    """Read files, each with what the declaration says of it: dialogues, labels and speakers."""
    memory = Memory()
    speakers = Speakers(declaration, memory)
    files = [file for file, _ in wanted]
    if declaration.speakers is None:
        yield from reader_of(declaration, speakers)(wanted, memory)
        yield from _end(declaration, files, memory.tallies)
        return
    of_speakers = [pair for pair in wanted if pair[1].holds == "speakers"]
    people = SpeakerFiles(declaration, declaration.speakers, of_speakers, speakers)
    people.look_up()
    yield from reader_of(declaration, speakers)([pair for pair in wanted if pair[1].holds != "speakers"], memory)
    yield from _end(declaration, files, memory.tallies)
    yield from people.load()


def _end(declaration: Declaration, files: Iterable[SourceFile], tallies: Tallies) -> Iterator[Outcome]:
    by_id = {file.id: file for file in files}
    for file_id, finding in DeclaredReader(declaration).end(tallies):
        yield replace(finding, file=by_id[file_id])


def _passed_over(declaration: Declaration, file: SourceFile, path: str, entry: Files | None) -> list[Outcome]:
    """Return why a file is not read; nothing for one with dialogues or labels."""
    if path.startswith(_QUERIES):
        return [Unrecognised(file, "SQL next to data is never run: keep it and the declaration under --corpora")]
    if entry is not None and entry.skip is not None:
        return [Unrecognised(file, f"skipped by {declaration.place}: {entry.skip}", is_meant=True)]
    if file.path.suffix.lower() in _PICKLES:
        finding = ReaderFinding("GF-17", f"{_PICKLE}; what points into it stays as it is", file)
        return [Unrecognised(file, _PICKLE, is_meant=True), finding]
    if entry is None:
        return [Unrecognised(file, f"no [[files]] of {declaration.place} names it")]
    return []


def _no_file(declaration: Declaration, entry: Files, paths: list[str]) -> RegistryError:
    near = closest(entry.path, paths)
    return RegistryError(
        f"no file fits the pattern {entry.path!r}",
        where=f"{declaration.place}:{entry.line}",
        expected="a file for each [[files]], inside the corpus's folder",
        found=", ".join(near[:5]) or "no file",
        next_step="correct the path, put the file there, or remove the [[files]]",
    )


_ROWS = ("turns", "convokit")


def reader_of(
    declaration: Declaration, speakers: Speakers
) -> Callable[[Iterable[tuple[SourceFile, Files]], Memory], Iterator[Outcome]]:
    """Return the reader of the dialogues and labels of a corpus; it takes files, each with its ``[[files]]``."""
    match declaration.format:
        case "turns":
            from talkhouse.ingest.declared.rows.read_rows import read_turns

            return partial(read_turns, declaration, speakers)
        case "convokit":
            from talkhouse.ingest.declared.rows.convokit import read_convokit

            return partial(read_convokit, declaration, speakers)
    from talkhouse.ingest.declared.documents.document_files import read_documents

    return partial(read_documents, declaration, speakers, _document_format)


class DeclaredWriters(NamedTuple):
    """The writers of the files of a corpus, and of a record alone."""

    write: Writer
    write_record: RecordWriter


def writers_of(declaration: Declaration) -> DeclaredWriters:
    """Return the writers of its format; files of speakers have one of their own."""
    of_file: FileWriter
    of_record: RecordWriter
    if declaration.format in _ROWS:
        from talkhouse.ingest.declared.rows.write_rows import RowFilesWriter

        rows = RowFilesWriter(declaration)
        of_file, of_record = rows.write_file, rows.write_record
    else:
        from talkhouse.ingest.declared.documents.document_files import DocumentFilesWriter

        documents = DocumentFilesWriter(_document_format(declaration), are_bare=declaration.dialogue.are_bare)
        of_file, of_record = documents.write_file, documents.write_record

    def write_file(first: StoredRecord, others: Iterator[StoredRecord]) -> Iterable[bytes]:
        return (file_back if _has_speakers(declaration, first.path) else of_file)(first, others)

    def write_record(stored: StoredRecord) -> bytes:
        return (record_back if _has_speakers(declaration, stored.path) else of_record)(stored)

    return DeclaredWriters(file_by_file(write_file), write_record)


def _has_speakers(declaration: Declaration, path: str) -> bool:
    return declaration.speakers is not None and matches(declaration.speakers.files.path, path)


def _document_format(declaration: Declaration) -> DocumentFormat:
    match declaration.format:
        case "pairs":
            if declaration.pair.zip is not None:
                from talkhouse.ingest.declared.documents.pairs import ZippedPairs

                return ZippedPairs(declaration)
            from talkhouse.ingest.declared.documents.pairs import Pairs

            return Pairs(declaration)
        case "preference":
            from talkhouse.ingest.declared.documents.preference import Preference

            return Preference(declaration)
        case "transcript":
            from talkhouse.ingest.declared.documents.transcript import Transcript

            return Transcript(declaration)
        case "tree":
            from talkhouse.ingest.declared.documents.message_formats import TreeFormat

            return TreeFormat(declaration)
    from talkhouse.ingest.declared.documents.message_formats import DialogueFormat

    return DialogueFormat(declaration)
