"""Invented words, for texts that look like English to searches and counts."""

import random

_LETTERS = "etaoinshrdlcumwfgypbvkjxqz"
_SHARES = (12.7, 9.1, 8.2, 7.5, 7, 6.7, 6.3, 6.1, 6, 4.3, 4, 2.8, 2.8, 2.4, 2.4, 2.2, 2, 2, 1.9, 1.5, 1, 0.8, 0.15)
"""How often English has its letters, per cent; the last three are as rare as the one before."""


def vocabulary(chance: random.Random) -> list[str]:
    """Invent words of English letters, the most frequent first."""
    shares = (*_SHARES, *[_SHARES[-1]] * (len(_LETTERS) - len(_SHARES)))
    lengths = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
    return ["".join(chance.choices(_LETTERS, shares, k=chance.choice(lengths))) for _ in range(20_000)]
