"""Where the warehouse is, and which Talkhouse this is."""

import os
from importlib.metadata import version as installed_version
from pathlib import Path

DEFAULT_DATABASE = "talkhouse.duckdb"


def database(path: str | Path | None = None) -> Path:
    """Return the warehouse's path: ``path``, or ``$TALKHOUSE_DB``, or ``talkhouse.duckdb`` in this folder."""
    return Path(path or os.environ.get("TALKHOUSE_DB") or DEFAULT_DATABASE)


def version() -> str:
    """Return the version of the installed Talkhouse."""
    return installed_version("talkhouse")
