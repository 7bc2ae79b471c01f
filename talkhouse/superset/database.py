"""The connection to the warehouse as Superset imports it."""

from pathlib import PurePosixPath
from typing import Any

from talkhouse.superset.names import VERSION, identity

_SANDBOX = {
    "read_only": True,
    # Without these two, a query in SQL Lab reads any file that the server's user can read.
    "config": {"enable_external_access": False, "lock_configuration": True},
}


def database_name(path: PurePosixPath) -> str:
    """Name the connection after the file: a bundle of a file of the same name updates it."""
    return "Talkhouse" if path.stem == "talkhouse" else f"Talkhouse {path.stem}"


def database(path: PurePosixPath) -> dict[str, Any]:
    """Describe the connection: read-only, and with no way from SQL to the server's files, network or settings."""
    name = database_name(path)
    return {
        "database_name": name,
        "sqlalchemy_uri": f"duckdb:///{path}",
        "cache_timeout": None,
        "expose_in_sqllab": True,
        "allow_run_async": False,
        "allow_ctas": False,
        "allow_cvas": False,
        "allow_dml": False,
        "allow_csv_upload": False,
        "extra": {"allows_virtual_table_explore": True, "engine_params": {"connect_args": _SANDBOX}},
        "uuid": identity(name, "database"),
        "version": VERSION,
    }
