"""Files that are read: of several of one name, the first in path order makes the examples, and all are kept."""

from dataclasses import dataclass

from ingest.corpora.mpchat.format import CORPUS
from ingest.keys import Keys, digest
from ingest.outcomes import ReaderFinding
from ingest.sources import SourceFile


@dataclass(frozen=True)
class Given:
    """One file that is not refused; ``repeats`` is the file of its name that came before, which then counts."""

    file: SourceFile
    prefix: str
    """What its records' keys begin with."""
    repeats: str | None

    @property
    def variant(self) -> str:
        """What tells a repeated file's keys from the plain ones: ``~`` and a hash; empty for the first."""
        return "".join(self.prefix.partition("~")[1:])

    def notes(self) -> list[ReaderFinding]:
        """Report a file of a name that came before."""
        if self.repeats is None:
            return []
        detail = f"a file of this name came before, from {self.repeats}: that one makes the examples"
        return [ReaderFinding("MP-13", detail, self.file, "")]


class Files:
    """The files of a build by what they are; one that was refused whole is none of them."""

    def __init__(self) -> None:
        self._prefixes = Keys()
        self._first: dict[str, str] = {}

    def take(self, file: SourceFile, subset: str) -> Given:
        """Give the file its place among those that came before."""
        prefix, _ = self._prefixes.assign(f"{CORPUS}/{subset}", digest(file.id))
        first = self._first.setdefault(subset, file.id)
        return Given(file, prefix, None if first == file.id else first)
