"""Limits of a process."""

import resource
from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """Called in a process, it limits a resource there."""

    kind: int
    number: int

    def __call__(self) -> None:
        """Limit it."""
        resource.setrlimit(self.kind, (self.number, self.number))
