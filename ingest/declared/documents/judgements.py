"""Which of several answers are the best: by a number of each, or by the record's word for it."""

import math
from collections.abc import Callable, Sequence

from msgspec import Raw

from talkhouse.ingest.declared.declaration.model import AnswerFields
from talkhouse.ingest.declared.shapes import SplitObject, is_null, text_of
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import ReaderFinding

Judgement = list[bool | None]
"""Of each answer: whether it is one of the best; None where nobody says."""


class Judge:
    """Reads the judgements of one corpus."""

    def __init__(self, fields: AnswerFields) -> None:
        self._winner, self._winners = fields.winner, fields.winners
        self._numbers = fields.score or fields.rank
        self._best: Callable[[Sequence[float]], float] = max if fields.score else min

    def read(
        self, record: SplitObject, answers: Sequence[tuple[SplitObject | None, str]], findings: list[ReaderFinding]
    ) -> Judgement:
        """Return which answers are the best; ``answers``: the object that each one's number is in, and where that is.

        GF-26 for a word or number by which that can't be told.
        """
        if self._winner is not None:
            return self._by_word(record, len(answers), findings)
        if not self._numbers:
            return [None] * len(answers)
        paths = self._numbers * len(answers) if len(self._numbers) == 1 else self._numbers
        numbers: list[float | None] = []
        for (inside, at), path in zip(answers, paths, strict=True):
            raw = None if inside is None else inside.find(path)
            numbers.append(_number(raw, at + pointer(*path), findings))
        known = [number for number in numbers if number is not None]
        return [None if number is None else number == self._best(known) for number in numbers]

    def _by_word(self, record: SplitObject, count: int, findings: list[ReaderFinding]) -> Judgement:
        path = self._winner or ()
        raw, at = record.find(path), pointer(*path)
        if raw is None or is_null(raw):
            return [None] * count
        word = _word(raw, at)
        best = self._winners.get(word)
        if best is None or (type(best) is int and best > count):
            found = "means nothing in [winners]" if best is None else f"is the answer {best}, of {count}"
            findings.append(ReaderFinding("GF-26", f"{word!r:.100} {found}", pointer=at))
            return [None] * count
        return [best == "all" or best == number for number in range(1, count + 1)]


def _word(raw: Raw, at: str) -> str:
    try:
        return text_of(raw, at, "the winner")[0]
    except BadRecord:
        return bytes(raw).decode()


def _number(raw: Raw | None, at: str, findings: list[ReaderFinding]) -> float | None:
    """Return a number, also one in quotes; None where there is none."""
    if raw is None or is_null(raw):
        return None
    word = _word(raw, at)
    try:
        number = float(word) if raw and bytes(raw)[:1] not in b"[{" else math.nan
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return number
    findings.append(ReaderFinding("GF-26", f"{word!r:.100} is not a number", pointer=at))
    return None
