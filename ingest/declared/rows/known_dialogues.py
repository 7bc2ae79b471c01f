"""The dialogues that were read, for labels that come later: the ids of their turns, and their texts.

They lie in a temporary file; in memory is where each begins.
"""

from tempfile import SpooledTemporaryFile
from typing import Protocol, Self

import msgspec
import polars as pl
from msgspec import Struct

from talkhouse.ingest.declared.rows.columns import ID, TEXT, TURN_ID
from talkhouse.ingest.declared.rows.facts import OWNER

_IN_MEMORY = 16_000_000


class KnownRows(Protocol):
    """What remembers dialogues as they are read."""

    def add_rows(self, dialogues: pl.DataFrame, rows: pl.DataFrame) -> None:
        """Remember the dialogues of a batch of rows."""


class KnownDialogue(Struct, array_like=True, gc=False):
    """One dialogue."""

    dialogue_id: str
    texts: list[str]
    ids: list[str | None] | None
    """Of its turns; None where no column has them."""

    def turn(self, name: str) -> int | None:
        """Return the index of the turn that a label names, by its id or else its index; None where there is none."""
        if self.ids is not None:
            return self.ids.index(name) if name in self.ids else None
        is_index = name.isascii() and name.isdigit() and len(name) < 10
        return int(name) if is_index and int(name) < len(self.texts) else None


class KnownDialogues:
    """The dialogues of one build by the ids that their files have; use it in a ``with``."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed by __exit__
        self._end = 0

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the temporary file."""
        self._file.close()

    def add(self, native_id: str, dialogue: KnownDialogue) -> None:
        """Remember a dialogue; of those with one id, the first."""
        if native_id in self._places:
            return
        raw = msgspec.msgpack.encode(dialogue)
        self._places[native_id] = self._end
        self._file.seek(self._end)
        self._file.write(len(raw).to_bytes(8) + raw)
        self._end += 8 + len(raw)

    def add_rows(self, dialogues: pl.DataFrame, rows: pl.DataFrame) -> None:
        """Remember the dialogues of a batch of rows, by their ids, or by their keys where they have none."""
        ids = [pl.col(TURN_ID)] if TURN_ID in rows.columns else []
        said = rows.group_by(OWNER, maintain_order=True).agg(TEXT, *ids)
        turn_ids = said[TURN_ID] if ids else [None] * len(said)
        names = dialogues["native_id"] if ID in rows.columns else dialogues["dialogue_id"]
        for name, dialogue_id, texts, own in zip(names, dialogues["dialogue_id"], said[TEXT], turn_ids, strict=True):
            own_ids = None if own is None else own.to_list()
            self.add(name, KnownDialogue(dialogue_id, texts.to_list(), own_ids))

    def find(self, native_id: str) -> KnownDialogue | None:
        """Return a dialogue by its id."""
        place = self._places.get(native_id)
        if place is None:
            return None
        self._file.seek(place)
        size = int.from_bytes(self._file.read(8))
        return msgspec.msgpack.decode(self._file.read(size), type=KnownDialogue)
