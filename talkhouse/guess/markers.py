r"""Marks of who speaks in a transcript: ``\n\nHuman: ``, ``Agent: ``, ``<|user|>``; each a literal text."""

import re
from collections import Counter
from collections.abc import Sequence

from talkhouse.guess.fields import BOTS, USERS
from talkhouse.guess.values import MOST

_MOST_MARKS = 8
_MOST_TEXTS = 500
_MOST_LETTERS = 100_000
"""Of a text: a mark that is not in the beginning is not proposed."""

_NAMED = re.compile(
    r"(?:\A[\r\n]*|(?:\r?\n)+)(?:#{1,4} ?|\*{2})?[A-Z\[][\w\]]{0,30}(?: [\w\]]{1,20}){0,2}:(?:\*{2})? ?"
)
_TOKEN = re.compile(r"(?:\r?\n)*<\|(?:im_start\|>)?\w{1,20}(?:\|>)?\n?")
_RARE = 0.05
"""Share of a speaker's marks below which a spelling is a slip, which is left in the text."""


def markers_of(texts: Sequence[str]) -> dict[str, str]:
    """Return the marks with the role that each means, where almost all texts begin with one, and half have another."""
    sampled = [text[:_MOST_LETTERS] for text in texts if text][:_MOST_TEXTS]
    for pattern in (_TOKEN, _NAMED):
        marks = _marks(sampled, pattern)
        if marks and _fit(sampled, marks):
            return {mark: _role(mark) for mark in marks}
    return {}


def _marks(texts: Sequence[str], pattern: re.Pattern[str]) -> list[str]:
    """Return the marks that begin lines and recur, as they stand in the texts, those that begin texts first."""
    first, later = Counter[str](), Counter[str]()
    for text in texts:
        for match in pattern.finditer(text):
            (later if match.start() else first)[match[0]] += 1
    counts = Counter[str]()
    for mark, count in (first + later).items():
        counts[_word(mark)] += count
    least = max(2, len(texts) // 50) if len(texts) > 1 else 1
    speakers = {word for word, count in counts.items() if count >= least}
    if not 2 <= len(speakers) <= _MOST_MARKS:
        return []
    return _unified([mark for mark in (*first, *later) if _word(mark) in speakers], first + later)


def _unified(marks: Sequence[str], counts: Counter[str]) -> list[str]:
    """Take the commonest spelling of each speaker's mark behind the same line ends, but for rare ones.

    Whoever speaks may begin a text, and a line: where one speaker has a mark behind some line ends, all have.
    """
    chosen: dict[tuple[str, str], str] = {}
    totals = Counter[str]()
    for mark in set(marks):
        totals[_word(mark)] += counts[mark]
    for mark in sorted(set(marks), key=lambda mark: (-counts[mark], mark)):
        if counts[mark] >= _RARE * totals[_word(mark)]:
            chosen.setdefault((_word(mark), mark[: len(mark) - len(mark.lstrip("\r\n"))]), mark)
    for begin in {begin for _, begin in chosen}:
        for (word, _), mark in list(chosen.items()):
            chosen.setdefault((word, begin), begin + mark.lstrip("\r\n"))
    return sorted(chosen.values(), key=lambda mark: (-len(mark) + len(mark.lstrip("\r\n")), -counts[mark], mark))


def _fit(texts: Sequence[str], marks: Sequence[str]) -> bool:
    begins = sum(text.startswith(tuple(marks)) for text in texts)
    has_two = sum(sum(text.count(mark) for mark in marks) > 1 for text in texts)
    all_but_one = begins > 1 and begins == len(texts) - 1
    return (begins >= MOST * len(texts) or all_but_one) and has_two >= len(texts) / 2


def _word(mark: str) -> str:
    """Return the speaker that a mark names."""
    return re.sub(r"im_start|[^\w ]", "", mark).strip()


def _role(mark: str) -> str:
    """Return the role that a mark means: its own word, but for those that mean user and assistant everywhere."""
    word = _word(mark).lower().replace(" ", "_")
    return "user" if word in USERS else "assistant" if word in BOTS else word
