"""Sentence BLEU as ParlAI has it from NLTK: smoothing method 1, tokens between single blanks."""

import math
from array import array
from collections import Counter
from collections.abc import Sequence

from pyarrow import lib as pa

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
        if set(ours).isdisjoint(theirs):  # no longer one either: it would begin with one of this size
            break
        counts, others = Counter(ours), Counter(theirs)
        hits[size - 1] = sum(min(count, others[gram]) for gram, count in counts.items())
    return hits


def _grams(tokens: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[start:] for start in range(size)), strict=False))


def with_bleu(workspace: Workspace, scored: Table) -> Table:
    """Create what each example scores with the columns bleu_1 to bleu_4 too; they are null where there is no guess."""
    query = f"select rowid, guess, answer from {scored} where guess is not null"
    rows = workspace.con.execute(query).fetchall()
    values = array("d", (value for _, guess, answer in rows for value in sentence_bleu(guess, answer)))
    columns = {"place": _column(array("q", (place for place, *_ in rows)), pa.int64())}
    columns |= {f"bleu_{size + 1}": _column(values[size::_LONGEST], pa.float64()) for size in range(_LONGEST)}
    bleu = workspace.create_arrow("bleu", pa.table(columns))
    with_columns = workspace.create(
        "scored",
        f"select scored.*, bleu.* exclude (place) from {scored} as scored "
        f"left join {bleu} as bleu on bleu.place = scored.rowid order by scored.rowid",
    )
    workspace.drop([bleu, scored])
    return with_columns


def _column(numbers: "array[float] | array[int]", kind: pa.DataType) -> pa.Array:
    """Return numbers as a column; of a list, Arrow would import pandas where that is installed."""
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])
