"""What a user may choose; a command line that only shows its help imports nothing else."""

from enum import StrEnum
from pathlib import Path

from talkhouse import queries

AUTO, TABLE = "auto", "table"
"""Values of ``--format`` in addition to the layouts of the catalogue: by the name of the file, and a table."""


def layout_names() -> list[str]:
    """Return the names of the layouts of all corpora; their files have these names, and none is opened for it."""
    return sorted({path.stem for root in queries.__path__ for path in Path(root).glob("*/layouts/*.sql")})


class Otherwise(StrEnum):
    """What to do about what is missing or unknown."""

    STOP = "stop"
    WRONG = "wrong"


class Baseline(StrEnum):
    """Predictions that need no system."""

    MAJORITY = "majority"
    """The most frequent label, or text."""
    UNIFORM = "uniform"
    """Each label as likely as the others, all candidates with the same score."""
    RANDOM = "random"
    """The right prediction of another example, drawn; random scores."""
    ORACLE = "oracle"
    """The right prediction."""
