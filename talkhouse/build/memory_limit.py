"""How much memory DuckDB may take while it builds; what does not fit is written to the workspace."""

import re
from dataclasses import dataclass

from talkhouse.schema.errors import UsageError

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(%|[KMGT]i?B)", re.IGNORECASE)

_KILO = 10**3
_LEAST, _MOST = _KILO, 10**18
"""Bytes: with less, DuckDB can't even take the setting; more is out of its range."""
_LEAST_SHARE = 0.1
"""Per cent."""


@dataclass(frozen=True)
class MemoryLimit:
    """A size, or a share of the memory that the machine or its container has; DuckDB takes the text as it is."""

    text: str = "10%"

    def __post_init__(self) -> None:
        """Raise UsageError for what is neither."""
        match = _SIZE.fullmatch(self.text)
        if not match or not self._is_possible(float(match[1]), match[2].upper()):
            raise UsageError(
                "--memory-limit is neither a size nor a percentage",
                expected="a size such as 500MB or 2GB, or a share of the machine's memory such as 25%: at least "
                f"{_LEAST / _KILO:g} KB or {_LEAST_SHARE:g}%",
                found=f"'{self.text}'",
            )

    @staticmethod
    def _is_possible(number: float, unit: str) -> bool:
        if unit == "%":
            return _LEAST_SHARE <= number <= 100
        base: int = 1024 if "I" in unit else 1000
        return bool(_LEAST <= number * base ** ("KMGT".index(unit[0]) + 1) <= _MOST)
