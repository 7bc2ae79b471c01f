"""The sentiment of an utterance, from -1 to 1: VADER's compound score as NLTK 3.4 gives it, which the authors had.

NLTK's class, with what later versions changed put back, and the lexicon that the package ``vaderSentiment`` ships,
with the entries put back in which it differs from NLTK's: so nothing is downloaded.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import NamedTuple

from talkhouse.ingest.corpora.mantis.files import SITES
from talkhouse.ingest.making import WrongInput

_LEXICON = "vader_lexicon.txt"
_ADDED = ("flawed", "heart", "hearts")
"""Words that NLTK's lexicon does not have."""

_CHANGED = {":p": 1.4, "badass": -0.6}
"""Words that have another value in NLTK's lexicon."""

PACKAGES = ("nltk", "vaderSentiment")
"""The packages whose versions a manifest names; both are in the extra ``make``."""


@cache
def scorer() -> Callable[[str], float]:
    """Return the function that scores a text. Raises ImportError where the packages are not installed."""
    # Needs a second, which other commands spare.
    from nltk.sentiment.vader import SentimentIntensityAnalyzer, VaderConstants

    class Analyzer(SentimentIntensityAnalyzer):  # type: ignore[misc]
        def __init__(self) -> None:
            self.lexicon = _lexicon()
            self.constants = VaderConstants()

        def _but_check(self, words: list[str], sentiments: list[float]) -> list[float]:
            """Halve what comes before a "but", and raise what follows; a capitalised "But" is none (NLTK 3.4).

            A value is looked up by itself, so of two equal ones the first is changed twice.
            """
            word = next((word for word in ("but", "BUT") if word in words), None)
            if word is None:
                return sentiments
            but = words.index(word)
            for sentiment in sentiments:
                index = sentiments.index(sentiment)
                if index != but:
                    sentiments[index] = sentiment * (0.5 if index < but else 1.5)
            return sentiments

    analyzer = Analyzer()
    return lambda text: float(analyzer.polarity_scores(text)["compound"])


def _lexicon() -> dict[str, float]:
    """Read the lexicon; a word that is repeated has its last value."""
    lines = (files("vaderSentiment") / _LEXICON).read_text(encoding="utf-8").split("\n")
    values = {word: float(value) for word, value, *_ in (line.split("\t") for line in lines if line.strip())}
    return {word: value for word, value in values.items() if word not in _ADDED} | _CHANGED


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
