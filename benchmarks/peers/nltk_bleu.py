# /// script
# requires-python = ">=3.11"
# dependencies = ["nltk==3.10.3", "polars==2.1.0"]
# ///
"""Scores pairs of texts and rankings in a loop, with NLTK's BLEU, as the task's own program does; checks nothing.

nltk_bleu.py PAIRS.parquet
"""

import re
import sys
from collections import Counter

import polars
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

ARTICLES, PUNCTUATION = re.compile(r"\b(a|an|the)\b"), re.compile(r"[!\"#$%&()*+,\-./:;<=>?@\[\]\\^`{|}~_']")
WEIGHTS = (1 / 4, 1 / 4, 1 / 4, 1 / 4)
SMOOTH = SmoothingFunction(epsilon=1e-12).method1


def normalised(text: str) -> list[str]:
    """Return the tokens in lower case, without articles and punctuation."""
    return ARTICLES.sub(" ", PUNCTUATION.sub(" ", text.lower())).split()


def f1(guess: list[str], answer: list[str]) -> float:
    """Return the F1 of the tokens of two texts."""
    same = (Counter(guess) & Counter(answer)).total()
    return 2 * same / (len(guess) + len(answer)) if same else 0.0


bleu = overlap = reciprocal = 0.0
rows = polars.read_parquet(sys.argv[1])
for guess, answer, scores in rows.iter_rows():
    predicted, wanted = normalised(guess), normalised(answer)
    overlap += f1(predicted, wanted)
    bleu += sentence_bleu([wanted], predicted, weights=WEIGHTS, smoothing_function=SMOOTH)
    ranking = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    reciprocal += 1 / (1 + ranking.index(0))
print(overlap / rows.height, bleu / rows.height, reciprocal / rows.height)
