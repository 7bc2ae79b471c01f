"""What a user asks to have scored."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from talkhouse.ingest.files.limits import DEFAULT, Limits
from talkhouse.scores.tasks.options import AUTO, Baseline


@dataclass(frozen=True)
class Request:
    """What is to be scored, and how."""

    paths: Sequence[Path]
    layout: str = AUTO
    """``table``, the name of one of the task's layouts, or ``auto``: as the name of the file says."""
    split: str | None = None
    release: str | None = None
    subsets: Sequence[str] = ()
    where: str | None = None
    """An SQL expression of the columns of the task's view, true of what is to be scored."""
    missing: str = "stop"
    """``wrong``: an example without a prediction counts as wrong."""
    unknown: str = "stop"
    """``wrong``: a label that nobody declared counts as wrong."""
    by: Sequence[str] = ()
    as_printed: bool = False
    """Take what the publisher's script takes, and score at its threshold."""
    as_published: bool = False
    """Leave the labels as the files have them, where the publisher's program changes them."""
    baseline: Baseline | None = None
    """Predictions that need no file."""
    interval: bool = False
    """Also compute the 95 % interval of each metric."""
    judged: str | None = None
    """SQL name of a table of verdicts on examples: score also without some, and these alone."""
    dropped: Sequence[str] = ()
    """The verdicts of the examples that are left out, and scored alone."""
    keep: bool = False
    """The run is to be saved: it must be of the classes that other runs of the task have."""
    limits: Limits = DEFAULT
    """How much of a file is read."""
