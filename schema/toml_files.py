"""Tables of values that a module has, read from a TOML file next to it."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def toml_of(module: str, name: str) -> dict[str, Any]:
    """Return the tables of ``<name>.toml`` next to a module, which is named by its ``__file__``; not to be changed."""
    return tomllib.loads(Path(module).with_name(f"{name}.toml").read_text(encoding="utf-8"))
