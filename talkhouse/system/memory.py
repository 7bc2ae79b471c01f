"""Less memory: for DuckDB for a while, so that what is above goes to the disk, and for the whole process."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import duckdb

from talkhouse.schema.errors import TalkhouseError
from talkhouse.schema.sql import literal

_NO_MEMORY = "Out of Memory"
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")

_BESIDE = 1_000_000_000
"""Bytes for what is not DuckDB's: Python, Arrow, threads."""

Result = TypeVar("Result")


def in_little_memory(con: duckdb.DuckDBPyConnection, most: int, work: Callable[[], Result]) -> Result:
    """Do something while DuckDB holds ``most`` bytes; where that is not enough, again with all that it may have."""
    try:
        with lowered(con, most):
            return work()
    except (duckdb.Error, TalkhouseError) as error:
        if _NO_MEMORY not in str(error):
            raise
    return work()


@contextmanager
def lowered(con: duckdb.DuckDBPyConnection, most: int) -> Iterator[None]:
    """Lower DuckDB's memory for a while, unless it is low already."""
    # A connection of its own to the same database: one with an open result takes no settings.
    with con.cursor() as settings:
        before = _limit(settings)
        if _in_bytes(before) <= most:
            yield
            return
        settings.execute(f"set memory_limit = '{most}B'")
        try:
            yield
        finally:
            settings.execute("reset memory_limit")
            # Not in any case: DuckDB tells its limit rounded.
            if _limit(settings) != before:
                settings.execute(f"set memory_limit = {literal(before)}")


def _limit(con: duckdb.DuckDBPyConnection) -> str:
    return str(con.execute("select current_setting('memory_limit')").fetchall()[0][0])


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
    most = int(taken[1]) * 1024 + _in_bytes(_limit(con)) + beside
    lowest = min((most, *(size for size in (before, hard) if size != resource.RLIM_INFINITY)))
    resource.setrlimit(resource.RLIMIT_DATA, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))
