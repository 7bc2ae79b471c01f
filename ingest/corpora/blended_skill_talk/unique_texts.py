"""Candidate texts and persona sentences by reference: each is a row once, under a key from a hash of its content."""

from collections.abc import Iterable
from typing import Any

from ingest.corpora.blended_skill_talk.format import CORPUS
from ingest.keys import Keys, digest
from ingest.rows import Candidate, ColumnBatch, Persona, PersonaUse, Record, Row
from ingest.texts import Texts

_DIGITS = 16


class UniqueTexts:
    """The texts of a build; keys and hashes are held, never texts."""

    def __init__(self) -> None:
        self.texts = Texts(CORPUS)
        self._personas = Keys()

    def persona(self, text: str, rows: list[Row]) -> str:
        """Return the key of a persona sentence; adds its row where it is new."""
        content = digest(text)
        key, is_new = self._personas.assign(f"{CORPUS}:persona/{content.hex()[:_DIGITS]}", content)
        if is_new:
            rows.append(Persona(key, CORPUS, None, None, text))
        return key

    def persona_uses(
        self, record: Record, name: str, sentences: Iterable[str], speaker_id: str | None = None
    ) -> list[Row]:
        """Return the rows of a persona: its sentences where they are new, and their uses."""
        rows: list[Row] = []
        for position, text in enumerate(sentences):
            persona_id = self.persona(text, rows)
            rows.append(PersonaUse(record.record_id, None, name, position, record.dialogue_id, persona_id, speaker_id))
        return rows

    def candidates(
        self, record: Record, name: str, lists: Iterable[tuple[int, list[str]]], golds: Iterable[bool] = ()
    ) -> tuple[list[Row], list[ColumnBatch]]:
        """Return the lists of candidate texts of a record, each with its turn: new texts as rows, and all uses.

        ``golds``: for every text whether it is the right answer; none where nothing says.
        """
        rows: list[Row] = []
        lists = list(lists)
        columns: dict[str, list[Any]] = {
            "turn_index": [turn for turn, texts in lists for _ in texts],
            "position": [position for _, texts in lists for position in range(len(texts))],
            "text_id": self.texts.ids((text for _, texts in lists for text in texts), rows),
        }
        if is_known := list(golds):
            columns["is_gold"] = is_known
        shared = {
            "record_id": record.record_id,
            "candidate_set": name,
            "item_index": 0,
            "dialogue_id": record.dialogue_id,
        }
        return rows, [ColumnBatch(Candidate, shared, columns)] if columns["position"] else []
