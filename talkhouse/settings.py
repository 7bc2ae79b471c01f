"""Where the warehouse is, and which Talkhouse this is."""

import os
from importlib.metadata import version as installed_version
from pathlib import Path

DEFAULT_DATABASE = "talkhouse.duckdb"


def database(given: str | Path | None = None) -> Path:
    """Give the warehouse's path: as given, or ``$TALKHOUSE_DB``, or ``talkhouse.duckdb`` in this folder."""
    return Path(given or os.environ.get("TALKHOUSE_DB") or DEFAULT_DATABASE)


def version() -> str:
    """Give the version of the installed Talkhouse."""
    return installed_version("talkhouse")
