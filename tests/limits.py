"""Limits of a process."""

import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


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
    """Forbid this process to write files of more bytes, as if the disk were full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def small_disk(options: str) -> Iterator[Path]:
    """Mount a file system in memory; skip the test where that is not allowed."""
    with TemporaryDirectory(dir="/tmp") as name:
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", name]
        mounted = subprocess.run(words, check=False, capture_output=True, text=True)
        if mounted.returncode != 0:
            pytest.skip(f"a small disk can't be mounted here: {mounted.stderr.strip()}")
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "--lazy", name], check=True)
