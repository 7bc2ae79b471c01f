"""A file that was given, what it is, and the records that come of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ingest import decode
from ingest.corpora.blended_skill_talk.files import Kind
from ingest.corpora.blended_skill_talk.names import CORPUS, SPLITS
from ingest.decode import BadRecord
from ingest.keys import Keys, digest
from ingest.outcomes import ReaderFinding, Rejected, SourceLocation, reject
from ingest.rows import Record
from ingest.sources import SourceFile


@dataclass(frozen=True)
class Given:
    """One file; ``repeats`` is the file of the same kind that came before, which then is the one that counts."""

    file: SourceFile
    kind: Kind
    prefix: str
    """What its records' keys begin with."""
    repeats: str | None = None

    def record(
        self,
        index: int,
        pointer: str,
        extra: Mapping[str, Any],
        *,
        dialogue_id: str | None = None,
        native_id: str | None = None,
    ) -> Record:
        """Give the record at a place of the file; what is empty in ``extra`` is left out."""
        stated = {key: value for key, value in {**extra, "repeats": self.repeats}.items() if value or value == ""}
        return Record(
            record_id=f"{self.prefix}/{index}",
            corpus_id=CORPUS,
            dialogue_id=dialogue_id,
            native_id=native_id,
            main_speaker_id=None,
            subset=self.kind.subset,
            release=self.kind.release,
            split=self.kind.split,
            standard_split=SPLITS.get(self.kind.split or ""),
            record_index=index,
            source_file_id=self.file.id,
            source_pointer=pointer,
            extra=decode.dump(stated),
        )

    def place(self, index: int | None = None, pointer: str = "", size: int = 0) -> SourceLocation:
        """Give the place of a record in the file, or of the file itself."""
        kind = self.kind
        return SourceLocation(
            self.file,
            pointer,
            subset=kind.subset,
            release=kind.release,
            split=kind.split,
            record_index=index,
            size=size if pointer else self.file.size,
        )

    def refused(self, problem: BadRecord, raw: bytes) -> Rejected:
        """Refuse the file whole."""
        return reject(self.place(), problem, raw)


class Files:
    """The files of a build by what they are: the first of a kind in path order is the one that counts."""

    def __init__(self) -> None:
        self._prefixes = Keys()
        self._first: dict[Kind, str] = {}

    def take(self, file: SourceFile, kind: Kind) -> Given:
        """Give the file its place among those that came before."""
        prefix, _ = self._prefixes.assign(f"{CORPUS}/{kind.prefix}", digest(file.id))
        first = self._first.setdefault(kind, file.id)
        return Given(file, kind, prefix, None if first == file.id else first)

    def refuse(self, given: Given) -> None:
        """Forget a file that was refused whole: the next of its kind counts."""
        if given.repeats is None:
            del self._first[given.kind]


def twice(given: Given) -> ReaderFinding:
    """Report a file of a kind that came before."""
    detail = f"a file of this kind came before, from {given.repeats}: that one makes the examples and lists"
    return ReaderFinding("BS-10", detail, given.file, "")
