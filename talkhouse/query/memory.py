"""Less memory for DuckDB for a while, so that it does not grow with rows: what is above goes to the disk."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import duckdb

from schema.errors import TalkhouseError
from schema.sql import literal

_NO_MEMORY = "Out of Memory"
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")

Result = TypeVar("Result")


def in_little_memory(con: duckdb.DuckDBPyConnection, most: int, work: Callable[[], Result]) -> Result:
    """Do something while DuckDB holds ``most`` bytes; where that is not enough, again with all that it may have."""
    try:
        with _lowered(con, most):
            return work()
    except (duckdb.Error, TalkhouseError) as error:
        if _NO_MEMORY not in str(error):
            raise
    return work()


@contextmanager
def _lowered(con: duckdb.DuckDBPyConnection, most: int) -> Iterator[None]:
    """Lower DuckDB's memory for a while, unless it is low already."""
    # A connection of its own to the same database: one with an open result takes no settings.
    with con.cursor() as settings:
        before = _limit(settings)
        number, unit = before.split()
        if float(number) * 1024 ** _UNITS.index(unit) <= most:
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
