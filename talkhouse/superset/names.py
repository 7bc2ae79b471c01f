"""The identifiers by which Superset recognises what it has imported before."""

from uuid import UUID, uuid5

VERSION = "1.0.0"
"""Version of Superset's import format."""

_NAMESPACE = UUID("8a7d1d4e-0f5c-4c0b-9a53-6f2f3f0f6c11")


def identity(database: str, kind: str, name: str = "") -> str:
    """Return the same UUID for the same thing of the same database in every bundle."""
    return str(uuid5(_NAMESPACE, "\0".join((database, kind, name))))
