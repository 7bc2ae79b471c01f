"""Sentence BLEU as ParlAI has it from NLTK: smoothing method 1, tokens between single blanks."""

import math
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
    hits = [_matches(hypothesis, reference, size) for size in range(1, _LONGEST + 1)]
    if hits[0] == 0:
        return [0.0] * _LONGEST
    short = len(hypothesis) < len(reference)
    penalty = math.exp(1 - len(reference) / len(hypothesis)) if short else 1.0
    logs = [math.log((count or _EPSILON) / max(1, len(hypothesis) - size)) for size, count in enumerate(hits)]
    return [penalty * math.exp(math.fsum(log / size for log in logs[:size])) for size in range(1, _LONGEST + 1)]


def _matches(hypothesis: Sequence[str], reference: Sequence[str], size: int) -> int:
    """Count the n-grams of a size that both have, each as often as both have it."""
    return (_grams(hypothesis, size) & _grams(reference, size)).total()


def _grams(tokens: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(size)), strict=False))


def with_bleu(workspace: Workspace, scored: Table) -> Table:
    """Create what each example scores with the columns bleu_1 to bleu_4 too; they are null where there is no guess."""
    query = f"select rowid, guess, answer from {scored} where guess is not null"
    rows = workspace.con.execute(query).fetchall()
    values = [sentence_bleu(guess, answer) for _, guess, answer in rows]
    columns = {"place": pa.array([row[0] for row in rows], pa.int64())}
    for index in range(_LONGEST):
        columns[f"bleu_{index + 1}"] = pa.array([value[index] for value in values], pa.float64())
    bleu = workspace.create_arrow("bleu", pa.table(columns))
    with_columns = workspace.create(
        "scored",
        f"select scored.*, bleu.* exclude (place) from {scored} as scored "
        f"left join {bleu} as bleu on bleu.place = scored.rowid order by scored.rowid",
    )
    workspace.drop([bleu, scored])
    return with_columns
