"""Limits of a process."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """Called in a process, it limits a resource there."""

    kind: int
    number: int

    def __call__(self) -> None:
        """Limit it."""
        resource.setrlimit(self.kind, (self.number, self.number))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let this process write no file of more bytes, as if the disk were full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
