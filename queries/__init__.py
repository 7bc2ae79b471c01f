"""The SQL of a warehouse: task views, macros, which turns are examples; one SELECT per file, path = name."""

from pathlib import Path


def of_command(name: str) -> str:
    """Return the SQL that a command runs, ``queries/<name>.sql``; it reads only what every warehouse has."""
    return Path(__path__[0], f"{name}.sql").read_text(encoding="utf-8")
