"""The names that fields have in the wild, by what they mean, from ``field_names.toml``."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_DATA: Mapping[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

NAMES: Mapping[str, tuple[str, ...]] = {meaning: tuple(names) for meaning, names in _DATA.items() if meaning != "pairs"}
"""Meaning -> names as words, the likeliest first."""
PAIRS: Mapping[str, tuple[tuple[str, str], ...]] = {
    meaning: tuple((first, second) for first, second in pairs) for meaning, pairs in _DATA["pairs"].items()
}
"""The same of two fields that belong together."""
