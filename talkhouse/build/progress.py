"""How a build tells what it does, whoever listens."""

from typing import Protocol

from ingest.corpus import Corpus


class Progress(Protocol):
    """How a build tells what it does."""

    def waiting(self, holder: str) -> None:
        """Another build holds the lock."""

    def start(self, corpus: Corpus, size: int) -> None:
        """A corpus is read; ``size`` bytes lie ahead, archives unpacked."""

    def advance(self, size: int, records: int) -> None:
        """So many more bytes and records are read."""

    def finish(self, corpus: Corpus) -> None:
        """The corpus is loaded."""


class Silent:
    """A progress that tells nobody."""

    def waiting(self, holder: str) -> None:
        """Say nothing."""

    def start(self, corpus: Corpus, size: int) -> None:
        """Say nothing."""

    def advance(self, size: int, records: int) -> None:
        """Say nothing."""

    def finish(self, corpus: Corpus) -> None:
        """Say nothing."""
