"""What a later record states differently about a dialogue that an earlier record has published."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from talkhouse.ingest.keys import digest

T = TypeVar("T")

_WIDTH = 8
"""Bytes of the hash of one fact, which is compared within one dialogue only."""


class Restatements:
    """Remembers a hash of what the first record of each dialogue stated beside its words, never the text."""

    def __init__(self) -> None:
        self._first: dict[str, bytes] = {}

    def differing(self, dialogue_id: str, stated: Mapping[str, T]) -> dict[str, T]:
        """Return ``stated`` (JSON pointer -> value) if the dialogue's first record stated anything else, or nothing.

        It is for ``records.extra``, under ``differs``.
        """
        fingerprint = digest(msgspec.json.encode(stated))
        return {} if self._first.setdefault(dialogue_id, fingerprint) == fingerprint else dict(stated)

    def differing_names(self, dialogue_id: str, facts: Mapping[str, str]) -> set[str]:
        """Return the names of the facts that the dialogue's first record stated otherwise, each of them compared.

        ``facts`` have the same names in the same order each time.
        """
        fingerprints = [digest(fact)[:_WIDTH] for fact in facts.values()]
        first = self._first.setdefault(dialogue_id, b"".join(fingerprints))
        pairs = zip(facts, fingerprints, range(0, len(first), _WIDTH), strict=True)
        return {name for name, fingerprint, start in pairs if first[start : start + _WIDTH] != fingerprint}
