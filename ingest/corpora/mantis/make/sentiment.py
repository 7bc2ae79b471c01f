"""The sentiment of an utterance, from -1 to 1: VADER's compound score as NLTK 3.4 gives it, which the authors had.

NLTK's class, with what later versions changed put back, and the lexicon that the package ``vaderSentiment`` ships,
with the entries put back in which it differs from NLTK's: so nothing is downloaded.
"""

from collections.abc import Callable
from functools import cache
from importlib.resources import files

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
