"""Guards a connection to DuckDB: a file that somebody else has made can't reach other files, the network or settings.

A view is a query, and it runs with the rights of its reader. What was tried is in docs/decisions/0007-sandbox.md.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import duckdb

from talkhouse.schema.sql import literal

Settings = Mapping[str, str | bool | Sequence[str]]
"""Settings of DuckDB by name."""

NO_SETTINGS: Settings = MappingProxyType({})

_GUARD: Settings = {
    "allow_community_extensions": False,
    "allow_extension_repositories": "forbidden",
    "allow_persistent_secrets": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    # A query can't read the variables of this program as tables.
    "python_enable_replacements": False,
    # Its default names the home folder of the user, and a query can read every setting.
    "secret_directory": "",
    # What may still be set when all else is locked: nothing by which a query could reach anything.
    "allowed_configs": (
        *("TimeZone", "arrow_large_buffer_size", "enable_progress_bar", "memory_limit", "threads"),
        "python_enable_replacements",  # ibis sets it; without external access no variable is found either way
    ),
    "enable_external_access": False,
    "lock_configuration": True,
}
_LAST = ("enable_external_access", "disabled_filesystems", "lock_configuration")
"""In this order: without access to files, nothing more can be said about them."""


def guard(con: duckdb.DuckDBPyConnection, settings: Settings = NO_SETTINGS) -> None:
    """Bar a connection from files, the network, extensions and Python's variables for good, and lock its settings.

    ``settings`` are made before; afterwards only a few harmless ones can be.
    """
    options = {**_GUARD, **settings}
    first = [name for name in options if name not in _LAST]
    configure(con, {name: options[name] for name in (*first, *_LAST) if name in options})


def configure(con: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """Make settings; raises DuckDB's own errors."""
    for name, value in settings.items():
        # In Jupyter without ipywidgets, DuckDB draws no bar, and refuses to be told so.
        if name == _BAR and con.execute(f"select current_setting('{_BAR}')").fetchall() == [(value,)]:
            continue
        con.execute(f"set {name} = {_sql(value)}")


_BAR = "enable_progress_bar"


def _sql(value: str | bool | Sequence[str]) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return literal(value)
    return f"[{', '.join(map(literal, value))}]"
