"""What a user may choose; a command line that only shows its help imports nothing else."""

from enum import StrEnum


class Layout(StrEnum):
    """How predictions come."""

    AUTO = "auto"
    TABLE = "table"
    DBDC3 = "dbdc3"
    PARLAI = "parlai"
    MANTIS = "mantis"
    MPCHAT = "mpchat"


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
