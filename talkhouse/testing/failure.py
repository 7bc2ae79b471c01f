"""What a corpus does not keep to."""

from collections.abc import Sequence

from talkhouse.schema.errors import TalkhouseError


class ContractFailure(TalkhouseError, AssertionError):
    """A corpus does not keep to the contract."""


class CannotCheck(Exception):
    """Something that a check needs is not here; the message says what, and how to get it."""


def require(
    condition: object, what: str, *, where: object = None, expected: object = None, found: object = None
) -> None:
    """Raise ContractFailure unless a condition holds."""
    __tracebackhide__ = True  # pytest shows who asked
    if not condition:
        raise ContractFailure(
            what,
            where=where,
            expected=None if expected is None else str(expected),
            found=None if found is None else str(found),
        )


def require_none(rows: Sequence[tuple[object, ...]], what: str, *, expected: str) -> None:
    """Raise ContractFailure where a query for what must not be there has rows; the first of them are shown."""
    shown = "; ".join(str(row) for row in rows[:_SHOWN])
    more = f"; and {len(rows) - _SHOWN:,} more" if len(rows) > _SHOWN else ""
    require(not rows, what, expected=expected, found=shown + more)


_SHOWN = 3
"""Rows that a message shows."""
