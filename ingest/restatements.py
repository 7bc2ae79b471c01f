"""What a later record states differently about a dialogue that an earlier record has published."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from ingest.keys import digest

T = TypeVar("T")


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
