"""How much memory DuckDB may take while it builds; what does not fit is written to the workspace."""

import re
from dataclasses import dataclass

from schema.errors import UsageError

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(%|[KMGT]i?B)", re.IGNORECASE)


@dataclass(frozen=True)
class MemoryLimit:
    """A size, or a share of the memory that the machine or its container has; DuckDB takes the text as it is."""

    text: str = "10%"

    def __post_init__(self) -> None:
        """Raise UsageError for what is neither."""
        match = _SIZE.fullmatch(self.text)
        if not match or not 0 < float(match[1]) <= (100 if match[2] == "%" else float("inf")):
            raise UsageError(
                "--memory-limit is neither a size nor a percentage",
                expected="a size such as 500MB or 2GB, or a share of the machine's memory such as 25%",
                found=f"'{self.text}'",
            )
