"""What a build reports while it runs, to whoever shows it."""

from typing import Protocol

from talkhouse.ingest.corpus import Corpus


class BuildObserver(Protocol):
    """What a build reports while it runs."""

    def waiting(self, holder: str) -> None:
        """Another build holds the lock."""

    def start(self, corpus: Corpus, size: int) -> None:
        """A corpus is read; ``size`` bytes lie ahead, archives unpacked."""

    def advance(self, records: int, size: int) -> None:
        """So many more records and bytes are read."""

    def finish(self, corpus: Corpus) -> None:
        """The corpus is loaded."""


class Silent:
    """A progress that shows nothing."""

    def waiting(self, holder: str) -> None:
        """Show nothing."""

    def start(self, corpus: Corpus, size: int) -> None:
        """Show nothing."""

    def advance(self, records: int, size: int) -> None:
        """Show nothing."""

    def finish(self, corpus: Corpus) -> None:
        """Show nothing."""
