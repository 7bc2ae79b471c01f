"""How a corpus is made from what its publisher made it from, for those corpora that declare a maker."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from talkhouse.ingest.files.archives import points_outside as points_outside
from talkhouse.ingest.progress import Progress
from talkhouse.schema.errors import TalkhouseError


class NotMade(TalkhouseError):
    """A corpus can't be made from these inputs."""


class WrongInput(NotMade):
    """An input or an option is not what a maker takes; nothing was begun."""

    exit_code = 2


@dataclass(frozen=True, kw_only=True)
class MakeOptions:
    """What a user asks for."""

    sites: Sequence[str] = ()
    """Only these, in this order; empty: all."""
    thresholds: Mapping[str, float] | None = None
    """Lowest sentiment of a last utterance, by site, where it is not the maker's own."""
    negatives: Sequence[int] = ()
    """Sizes of the sets of wrong responses; empty: none."""
    seed: int = 0
    jobs: int = 1
    """Processes that work at the same time."""


Maker: TypeAlias = Callable[[Sequence[Path], MakeOptions, Path | None, Progress], Mapping[str, Any]]
"""Takes inputs, options, and a folder to write to (None in a dry run); returns the manifest, which it has written too.

Raises WrongInput or NotMade. The same inputs, options and version of Talkhouse give the same bytes.
"""
