"""What shows how far long work is: a build, a fetch, an export or a maker reports to it step by step."""

from typing import Protocol


class Progress(Protocol):
    """Shows one step at a time, and how far it is."""

    def begin(self, step: str, *, records: int = 0, size: int = 0, unit: str = "records") -> None:
        """Show a new step, and no other; so many of the unit and so many bytes lie ahead, 0 where that is not known.

        Without a ``unit``, only bytes are counted.
        """

    def advance(self, records: int, size: int = 0) -> None:
        """Count what is done."""

    def end(self) -> None:
        """End the step."""

    def note(self, message: str) -> None:
        """Show why nothing moves, such as another build that holds the lock."""


class Silent:
    """A progress that shows nothing."""

    def begin(self, step: str, *, records: int = 0, size: int = 0, unit: str = "records") -> None:
        """Show nothing."""

    def advance(self, records: int, size: int = 0) -> None:
        """Show nothing."""

    def end(self) -> None:
        """Show nothing."""

    def note(self, message: str) -> None:
        """Show nothing."""
