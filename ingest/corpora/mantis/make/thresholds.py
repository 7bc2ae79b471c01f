"""How positive an asker's last words must be: the authors' lowest VADER score of each of their sites."""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import NamedTuple

from talkhouse.ingest.corpora.mantis.files import SITES
from talkhouse.ingest.making import WrongInput

_OTHER = 0.05
"""VADER's own line between neutral and positive; the authors' code stops at another site."""


class Threshold(NamedTuple):
    """A site's threshold, and whose it is."""

    value: float
    source: str


def thresholds(sites: Iterable[str], given: Mapping[str, float]) -> dict[str, Threshold]:
    """Return the threshold of each site. Raises WrongInput for one that no site has, or that is no score."""
    names = list(sites)
    for name, value in given.items():
        if name not in names:
            raise WrongInput(
                f"--threshold names the site {name}, which is not made",
                expected="one of: " + ", ".join(names),
                next_step="name it as its dump is named",
            )
        if not isfinite(value) or abs(value) > 1:
            raise WrongInput(f"the threshold of {name} is no score", expected="a number from -1 to 1", found=str(value))
    return {name: _of(name, given) for name in names}


def _of(name: str, given: Mapping[str, float]) -> Threshold:
    if name in given:
        return Threshold(given[name], "--threshold")
    if name in SITES:
        return Threshold(SITES[name], "the authors'")
    return Threshold(_OTHER, "VADER's line for positive; the authors have none for this site")
