"""What a later record states otherwise of a dialogue that an earlier record has published."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ingest.keys import digest


class Restatements:
    """Remembers a hash of what the first record of each dialogue stated beside its words, never the text."""

    def __init__(self) -> None:
        self._first: dict[str, bytes] = {}

    def differing(self, dialogue_id: str, stated: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give ``stated`` (JSON pointer -> value) if the dialogue's first record stated anything otherwise, or nothing.

        It is for ``records.extra``, under ``differs``.
        """
        fingerprint = digest(msgspec.json.encode(stated))
        return {} if self._first.setdefault(dialogue_id, fingerprint) == fingerprint else stated
