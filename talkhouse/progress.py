"""What shows how far a command is that works step by step."""

from typing import Protocol


class Progress(Protocol):
    """Shows how far a command is."""

    def begin(self, step: str, *, records: int = 0, unit: str = "records") -> None:
        """Show a new step, and no other; so many of the unit lie ahead."""

    def advance(self, records: int) -> None:
        """Count what is done."""
