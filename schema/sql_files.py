"""SQL that a module runs, read from a file next to it; without DuckDB, which the help of a command must not import."""

import re
from functools import cache
from pathlib import Path


def sql_of(module: str, name: str, /, **fragments: object) -> str:
    """Return the SQL of ``<name>.sql`` next to a module, which is named by its ``__file__``.

    ``${fragment}`` is a piece of SQL that the module writes, such as a name, a condition or a number; KeyError for one
    that is missing. ``$parameter`` is left to DuckDB, which binds a value. What others wrote is bound, or comes through
    ``sql.literal`` and ``sql.identifier``.
    """
    return re.sub(r"\$\{(\w+)\}", lambda found: str(fragments[found[1]]), _text(Path(module).with_name(f"{name}.sql")))


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
