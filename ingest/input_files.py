"""Files of a corpus that has one file of a kind: further ones are kept too, and the first in path order counts."""

from dataclasses import dataclass, replace

from talkhouse.ingest.keys import Keys, digest
from talkhouse.ingest.outcomes import ReaderFinding, SourceLocation
from talkhouse.ingest.sources import SourceFile


@dataclass(frozen=True)
class InputFile:
    """One file among those of its kind."""

    location: SourceLocation
    """Of the file as a whole, with what its path says of all its records: subset, release, split."""
    kind: str
    prefix: str
    """What the keys of its records begin with: corpus and kind, and ``~`` with a hash for all files but the first."""
    repeats: str | None = None
    """The id of the file of this kind that came before and counts; to be kept in each record's ``extra``."""

    @property
    def file(self) -> SourceFile:
        """The file itself."""
        return self.location.file

    def record_location(self, index: int, pointer: str, size: int, *, split: str | None = None) -> SourceLocation:
        """Locate a record of the file; ``split`` where the file has several."""
        split = split or self.location.split
        return replace(self.location, pointer=pointer, split=split, record_index=index, size=size)

    def findings(self, rule: str, *, makes: str = "the examples") -> list[ReaderFinding]:
        """Report under this rule that a file of this kind came before, if one did; it ``makes`` what a user sees."""
        if self.repeats is None:
            return []
        detail = f"a file of this kind came before, from {self.repeats}: that one makes {makes}"
        return [ReaderFinding(rule, detail, self.file, "")]


class InputFiles:
    """The files of a build by kind, in path order."""

    def __init__(self, corpus_id: str) -> None:
        self._corpus_id = corpus_id
        self._prefixes = Keys()
        self._first: dict[str, str] = {}

    def take(self, location: SourceLocation, kind: str) -> InputFile:
        """Place a file among those of its kind that came before; ``kind`` becomes part of its records' keys."""
        prefix, _ = self._prefixes.assign(f"{self._corpus_id}/{kind}", digest(location.file.id))
        first = self._first.setdefault(kind, location.file.id)
        return InputFile(location, kind, prefix, None if first == location.file.id else first)

    def drop(self, rejected: InputFile) -> None:
        """Forget a file that was rejected whole: the next of its kind counts."""
        if rejected.repeats is None:
            del self._first[rejected.kind]
