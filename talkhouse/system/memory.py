"""How much memory DuckDB, the whole process and other processes may take; what is said where that is not enough."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from talkhouse.schema.errors import TalkhouseError, UsageError
from talkhouse.schema.sql import literal

_NO_MEMORY = "Out of Memory Error"
_LONGEST = 500
"""Characters of what DuckDB says that are shown."""

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")

_BESIDE = 1_000_000_000
"""Bytes for what is not DuckDB's: Python, Arrow, threads."""

_OF_THREAD = 200_000_000
"""Bytes in which a thread of DuckDB's sorts rows of 1 kB on the disk; with 125 million it runs out of memory."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(%|[KMGT]i?B)", re.IGNORECASE)

_KILO = 10**3
_LEAST, _MOST = _KILO, 10**18
"""Bytes: with less, DuckDB can't even take the setting; more is out of its range."""
_LEAST_SHARE = 0.1
"""Per cent."""


@dataclass(frozen=True)
class MemoryLimit:
    """A size, or a share of the memory that the machine or its container has; DuckDB takes the text as it is."""

    text: str = "10%"

    def __post_init__(self) -> None:
        """Raise UsageError for what is neither."""
        match = _SIZE.fullmatch(self.text)
        if not match or not self._is_possible(float(match[1]), match[2].upper()):
            raise UsageError(
                "--memory-limit is neither a size nor a percentage",
                expected="a size such as 500MB or 2GB, or a share of the machine's memory such as 25%: at least "
                f"{_LEAST / _KILO:g} KB or {_LEAST_SHARE:g}%",
                found=f"'{self.text}'",
            )

    @staticmethod
    def _is_possible(number: float, unit: str) -> bool:
        if unit == "%":
            return _LEAST_SHARE <= number <= 100
        base: int = 1024 if "I" in unit else 1000
        return bool(_LEAST <= number * base ** ("KMGT".index(unit[0]) + 1) <= _MOST)


_MOST_READERS = 8
_OF_READER = 1_000_000_000
"""Bytes for a process that reads files, and as many bytes of files that the system keeps for all."""

_CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def usual_readers() -> int:
    """Return the number of processes that read files for this one, which inserts the rows; 1 if it reads itself."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [path.read_text().strip() for path in _CONTAINER if path.exists()]
    sizes = [
        os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        *(int(text) for text in limits if text.isdigit()),
    ]
    return max(1, min(cores // 2, _MOST_READERS, min(sizes) // _OF_READER))


Result = TypeVar("Result")
Kind = TypeVar("Kind", bound=TalkhouseError)


def has_run_out(error: BaseException) -> bool:
    """Whether there was too little memory; DuckDB says the same where its temporary folder is full."""
    return isinstance(error, MemoryError | duckdb.OutOfMemoryException) or _NO_MEMORY in str(error)


def out_of_memory(kind: type[Kind], who: str, error: BaseException, *, note: str = "", **parts: Any) -> Kind:
    """Return the error of what needs more memory than it may take; ``parts`` are those of every error."""
    text = str(error).strip().splitlines()[:1]
    return kind(f"{who} needs more memory than it may take{note}", found=text[0][:_LONGEST] if text else None, **parts)


def in_little_memory(con: duckdb.DuckDBPyConnection, most: int, work: Callable[[], Result]) -> Result:
    """Do something while DuckDB holds ``most`` bytes; where that is not enough, again with all that it may have.

    Before that, with fewer threads where there are many: each sorts in a part of the memory.
    """
    for way in _little_memory(con, most):
        try:
            with way:
                return work()
        except (duckdb.Error, TalkhouseError) as error:
            if not has_run_out(error):
                raise
    return work()


def _little_memory(con: duckdb.DuckDBPyConnection, most: int) -> Iterator[AbstractContextManager[None]]:
    yield lowered(con, most)
    fewer = max(1, min(most, _in_bytes(_setting(con, "memory_limit"))) // _OF_THREAD)
    if fewer < int(_setting(con, "threads")):
        yield lowered(con, most, fewer)


@contextmanager
def lowered(con: duckdb.DuckDBPyConnection, most: int, threads: int | None = None) -> Iterator[None]:
    """Lower DuckDB's memory for a while, unless it is low already, and perhaps its threads."""
    # A connection of its own to the same database: one with an open result takes no settings.
    with con.cursor() as settings, ExitStack() as changed:
        if most < _in_bytes(_setting(settings, "memory_limit")):
            changed.enter_context(_set(settings, "memory_limit", f"{most}B"))
        if threads is not None:
            changed.enter_context(_set(settings, "threads", str(threads)))
        yield


@contextmanager
def _set(con: duckdb.DuckDBPyConnection, name: str, value: str) -> Iterator[None]:
    before = _setting(con, name)
    con.execute(f"set {name} = {literal(value)}")
    try:
        yield
    finally:
        con.execute(f"reset {name}")
        # Not in any case: DuckDB tells its memory rounded.
        if _setting(con, name) != before:
            con.execute(f"set {name} = {literal(before)}")


def _setting(con: duckdb.DuckDBPyConnection, name: str) -> str:
    return str(con.execute(f"select current_setting('{name}')").fetchall()[0][0])


def _in_bytes(size: str) -> int:
    number, unit = size.split()
    return int(float(number) * 1024 ** _UNITS.index(unit))


@contextmanager
def capped(con: duckdb.DuckDBPyConnection, beside: int = _BESIDE) -> Iterator[None]:
    """Hold the whole process to DuckDB's limit and ``beside`` it a gigabyte, where the system can (Linux).

    DuckDB does not count everything: under a limit of 500 MB, ``len(range(1_000_000_000))`` takes 8 GB.
    """
    status = Path("/proc/self/status")
    taken = re.search(r"VmData:\s*(\d+) kB", status.read_text()) if status.exists() else None
    if taken is None:
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = int(taken[1]) * 1024 + _in_bytes(_setting(con, "memory_limit")) + beside
    lowest = min((most, *(size for size in (before, hard) if size != resource.RLIM_INFINITY)))
    resource.setrlimit(resource.RLIMIT_DATA, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))
