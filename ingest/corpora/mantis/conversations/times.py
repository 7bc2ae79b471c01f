"""Times as published, to the millisecond and without a zone."""

from datetime import datetime

from ingest.corpora.mantis.format import Value


def moment(value: Value) -> datetime | None:
    """Read a time, its zone left out; None for what is not a time."""
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo is None else found.replace(tzinfo=None)


def text_of(found: datetime | None) -> str | None:
    """Write a time as the publisher does."""
    return found.isoformat(timespec="milliseconds") if found else None
