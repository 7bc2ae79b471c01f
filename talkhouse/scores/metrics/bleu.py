"""Sentence BLEU as ParlAI has it from NLTK: smoothing method 1, tokens between single blanks."""

import math
from collections import Counter
from collections.abc import Sequence

import polars as pl

from talkhouse.scores.tasks.workspace import Table, Workspace

_EPSILON = 1e-12
"""What counts in place of no match."""

_LONGEST = 4


def sentence_bleu(guess: str, answer: str) -> list[float]:
    """Return BLEU-1 to BLEU-4 of one normalised text against another, each with equal weights."""
    hypothesis, reference = guess.split(" "), answer.split(" ")
    hits = _matches(hypothesis, reference)
    if hits[0] == 0:
        return [0.0] * _LONGEST
    short = len(hypothesis) < len(reference)
    penalty = math.exp(1 - len(reference) / len(hypothesis)) if short else 1.0
    logs = [math.log((count or _EPSILON) / max(1, len(hypothesis) - size)) for size, count in enumerate(hits)]
    return [penalty * math.exp(math.fsum(log / size for log in logs[:size])) for size in range(1, _LONGEST + 1)]


def _matches(hypothesis: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Count the n-grams of each size that both have, each as often as both have it."""
    hits = [0] * _LONGEST
    for size in range(1, _LONGEST + 1):
        ours, theirs = _grams(hypothesis, size), _grams(reference, size)
        hits[size - 1] = sum(min(ours[gram], theirs[gram]) for gram in ours.keys() & theirs.keys())
        if hits[size - 1] == 0:  # no longer one either: it would begin with one of this size
            break
    return hits


def _grams(tokens: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(size)), strict=False))


def with_bleu(workspace: Workspace, scored: Table) -> Table:
    """Create what each example scores with the columns bleu_1 to bleu_4 too; they are null where there is no guess."""
    query = f"select rowid, guess, answer from {scored} where guess is not null"
    rows = workspace.con.execute(query).fetchall()
    values = [(place, *sentence_bleu(guess, answer)) for place, guess, answer in rows]
    kinds = {"place": pl.Int64} | {f"bleu_{size}": pl.Float64 for size in range(1, _LONGEST + 1)}
    # By Polars: to make an array of a list, Arrow imports pandas where that is installed.
    bleu = workspace.create_arrow("bleu", pl.DataFrame(values, kinds, orient="row").to_arrow())
    with_columns = workspace.create(
        "scored",
        f"select scored.*, bleu.* exclude (place) from {scored} as scored "
        f"left join {bleu} as bleu on bleu.place = scored.rowid order by scored.rowid",
    )
    workspace.drop([bleu, scored])
    return with_columns
