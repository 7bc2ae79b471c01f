"""The published files: CSV as Python's ``csv`` writes it."""

import csv
import io
from collections.abc import Iterable

SPLITS = {"train": "train", "test": "test"}  # the publisher's name -> the standard one
COLUMNS = ["exchange", "by", "text", "tone"]
TONES = {"calm": "Calm.", "cross": "Cross."}


def rows_in(text: str) -> list[list[str]]:
    """Read CSV; no type is ever inferred, so that ``007`` stays what it is."""
    return list(csv.reader(io.StringIO(text, newline="")))


def written(rows: Iterable[list[str]]) -> bytes:
    """Write CSV."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
