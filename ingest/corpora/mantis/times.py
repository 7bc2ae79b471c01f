"""Times as published, to the millisecond and without a zone; and which of them a timestamp gives back."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ingest.corpora.mantis.shapes import Value


class Times(NamedTuple):
    """The times of a dialogue's utterances."""

    found: list[datetime | None]
    """None for what is no time."""
    inexact: list[int]
    """The utterances whose time is written otherwise."""


def moments(values: Sequence[Value]) -> Times:
    """Read the times of all utterances of a dialogue."""
    found = list(map(moment, values))
    pairs = enumerate(zip(found, values, strict=True))
    return Times(found, [index for index, (one, value) in pairs if text_of(one) != value])


def moment(value: Value) -> datetime | None:
    """Read a time, its zone left out; None for what is none."""
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo is None else found.replace(tzinfo=None)


def text_of(found: datetime | None) -> str | None:
    """Write a time as the publisher does."""
    return found.isoformat(timespec="milliseconds") if found else None
