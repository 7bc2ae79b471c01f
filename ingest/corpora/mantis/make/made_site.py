"""What became of one site's dump."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from talkhouse.ingest.corpora.mantis.make.dialogues import Kept
from talkhouse.ingest.corpora.mantis.make.dump import Site
from talkhouse.ingest.corpora.mantis.make.findings import Findings
from talkhouse.ingest.corpora.mantis.make.splits import Boundaries
from talkhouse.ingest.corpora.mantis.make.thresholds import Threshold


@dataclass(frozen=True)
class MadeSite:
    """What became of one site's dump."""

    site: Site
    threshold: Threshold
    rows: Mapping[str, int]
    """Rows of each file."""
    questions: int
    counts: Kept
    cut: Boundaries
    times: Sequence[Any]
    """The questions' times, dialogue by dialogue."""
    licences: Mapping[str, int]
    findings: Findings
