"""What is asked of a comparison, apart from what compares: a help page need not load DuckDB."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

from talkhouse.schema.errors import UsageError


class Unit(StrEnum):
    """What is compared, one of these at a time."""

    TURN = "turn"
    CANDIDATE = "candidate"
    CONTEXT = "context"
    DIALOGUE = "dialogue"
    PERSONA = "persona"


EVIDENCE = ("dialogue", "both", "turn", "context")
"""Verdicts that are evidence, the worst first."""

VERDICTS = (*EVIDENCE, "phrase", "clean", "unjudged")

DROPPED = ("dialogue", "both", "turn")
"""Verdicts of examples that are left out where no others are named: a context alone is no answer."""

LEAST_THRESHOLD = Fraction(1, 2)
"""With less, texts are near that have little in common, and each meets many."""


@dataclass(frozen=True)
class OverlapRequest:
    """What is to be compared, and where it is written."""

    against: Sequence[str] = ()
    """Places that examples get verdicts against, or beginnings of places up to a slash."""
    threshold: Fraction = Fraction(7, 10)
    contains: Fraction = Fraction(7, 10)
    units: Sequence[str] = tuple(Unit)
    pairs: Path | None = None
    """Where all pairs are written."""
    output: Path | None = None
    threads: int | None = None
    memory_limit: str | None = None
    force: bool = False


_NUMBER = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,9})?|\.[0-9]{1,9}")


def share(option: str, text: str, least: Fraction | None) -> Fraction:
    """Read the value of an option exactly, as a share up to 1; without ``least``, more than 0. Raises UsageError."""
    number = Fraction(text) if _NUMBER.fullmatch(text) else None
    if number is None or number > 1 or (number <= 0 if least is None else number < least):
        raise UsageError(
            f"{option} is not a share by which two texts can be compared",
            expected=f"a number from {'above 0' if least is None else format(float(least), 'g')} to 1, such as 0.7, "
            "with at most 9 decimals",
            found=f"'{text}'",
        )
    return number


def checked_verdicts(text: str) -> tuple[str, ...]:
    """Read verdicts that are separated by commas. Raises UsageError for what is none."""
    named = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in named:
        if name not in VERDICTS:
            raise UsageError(
                "--verdicts names what is not a verdict",
                expected=f"some of: {', '.join(VERDICTS)}; separated by commas",
                found=f"'{name}'",
            )
    return named
