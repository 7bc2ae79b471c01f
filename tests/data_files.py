"""The tables, texts and expected outputs of a test module, read from the TOML file next to it."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def data_of(module: str) -> dict[str, Any]:
    """Return what ``test_name.toml`` next to a module has, which is named by its ``__file__``."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
