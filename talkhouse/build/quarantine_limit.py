"""How much of a corpus may be unreadable before a build stops."""

import math
from dataclasses import dataclass

from talkhouse.schema.errors import UsageError


@dataclass(frozen=True)
class QuarantineLimit:
    """How many records of a corpus may be in quarantine: a count, or a share of its records."""

    text: str = "1%"

    def __post_init__(self) -> None:
        """Refuse what is neither a count nor a percentage."""
        number = self.text.removesuffix("%")
        try:
            is_fine = 0 <= float(number) < math.inf and ("%" in self.text or number.isdigit())
        except ValueError:
            is_fine = False
        if not is_fine:
            raise UsageError(
                f"--max-quarantine {self.text}",
                expected="a count such as 5, or a percentage such as 0.5%",
                next_step="100% accepts everything",
            )

    def is_exceeded(self, quarantined: int, records: int, *, has_lost_count: bool) -> bool:
        """Whether so many of so many are too many; ``has_lost_count``: a file of unknown length was refused."""
        number = float(self.text.removesuffix("%"))
        if not self.text.endswith("%"):
            return quarantined > number
        if has_lost_count and number < 100:
            return True
        return quarantined * 100 > number * records
