"""The names that fields have in the wild, by what they mean, from ``field_names.toml``."""

from collections.abc import Mapping
from typing import Any

from talkhouse.schema.toml_files import toml_of

_DATA: Mapping[str, Any] = toml_of(__file__, "field_names")

NAMES: Mapping[str, tuple[str, ...]] = {meaning: tuple(names) for meaning, names in _DATA.items() if meaning != "pairs"}
"""Meaning -> names as words, the likeliest first."""
PAIRS: Mapping[str, tuple[tuple[str, str], ...]] = {
    meaning: tuple((first, second) for first, second in pairs) for meaning, pairs in _DATA["pairs"].items()
}
"""The same of two fields that belong together."""
