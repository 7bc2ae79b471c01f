"""Copies of a corpus's files that were written back, read as if they were the publisher's own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.file_buffer import FileBuffer
from talkhouse.ingest.outcomes import FileEnvelope, Loaded, Outcome, Rejected
from talkhouse.ingest.sources import SourceFile
from talkhouse.restore.output_paths import RestoredSource
from talkhouse.schema.errors import BuildFailed


@dataclass(frozen=True)
class ReaderOfCopies:
    """Passes a corpus's reader copies of its files as if they were the publisher's."""

    corpus: Corpus
    known: Mapping[str, RestoredSource]

    def read(self, files: list[SourceFile]) -> Iterator[Outcome]:
        """Read the copies; BuildFailed where the reader now takes a file whose content the warehouse does not have."""
        for outcome in self.corpus.read([_Copy(file, self.known[file.id].sha256) for file in files]):
            file = _file_of(outcome)
            if file is not None and not self.known[file.id].is_data:
                raise BuildFailed(
                    "the reader now takes a file that was not data before: its content is not in the warehouse",
                    where=file.id,
                    next_step="read it from the publisher's files, with: talkhouse build --data DIR",
                )
            yield outcome


def _file_of(outcome: Outcome) -> SourceFile | None:
    match outcome:
        case Loaded(location) | Rejected(location):
            return location.file
        case FileEnvelope(file):
            return file
        case _:
            return None


class _Copy(SourceFile):
    """A file that was written back: JSON is spelled in another way, and the hash is that of the publisher's file."""

    def __init__(self, file: SourceFile, published_sha256: str) -> None:
        super().__init__(file.disk, file.member, file.size)
        self._file, self._published_sha256 = file, published_sha256

    def read(self) -> bytes:
        """Return the bytes."""
        raw = self._file.read()
        self._note()
        return raw

    def hold(self) -> FileBuffer:
        """Return the bytes in memory that can be freed bit by bit."""
        buffer = self._file.hold()
        self._note()
        return buffer

    def chunks(self) -> Iterator[bytes]:
        """Return the bytes in pieces."""
        for piece in self._file.chunks():
            self._note()
            yield piece
        self._note()

    def _note(self) -> None:
        self.has_bom, self.sha256 = self._file.has_bom, self._published_sha256
