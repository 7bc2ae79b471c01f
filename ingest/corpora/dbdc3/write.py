"""Rows back to dialogue logs and background paragraphs: equal in every value, keys in published order."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import msgspec

from talkhouse.ingest.corpora.dbdc3.format import BREAKDOWN, CONTEXT, ROLES, UNGRAMMATICAL, Attributes, LogExtra
from talkhouse.ingest.decode import decoder, literals, pointer
from talkhouse.ingest.rows import Annotation, Turn
from talkhouse.ingest.stored_record import StoredRecord, as_published

_FLAGS = {role: flag for flag, role in ROLES.items()}
_SPACES = 4


def write_record(stored: StoredRecord) -> bytes:
    """Write a log as JSON, a background paragraph or a table of people: each is the whole of its file."""
    if stored.loaded.source_file_id.endswith(CONTEXT):
        paragraph = (_dialogue_extra(stored) | literals(stored.loaded.extra))["background"]
        text: str = decoder(str).decode(paragraph)
        return text.encode()
    if stored.path.endswith(".tsv"):
        table = decoder(Attributes).decode(stored.loaded.extra or "{}")
        return as_published(stored, table.text().encode(), lambda text: Attributes.parse(text)[0])
    return as_published(stored, msgspec.json.format(msgspec.json.encode(_log(stored)), indent=_SPACES))


def _log(stored: StoredRecord) -> dict[str, Any]:
    """Build one log: what its record states differently, and else what the tables of its dialogue have."""
    user = next(person for person in stored.participants if person.role == "user")
    objects = _Objects(decoder(LogExtra).decode(stored.loaded.extra or "{}"))
    log = {
        "dialogue-id": stored.loaded.native_id,
        "group-id": _dialogue_extra(stored).get("group-id", ""),
        "speaker-id": stored.speakers[user.speaker_id].native_id,
        "turns": [objects.turn(turn, stored.annotations_by_turn[turn.turn_index]) for turn in stored.turns],
    }
    return objects.with_keys(log, "", objects.extra.fields)


def _dialogue_extra(stored: StoredRecord) -> dict[str, msgspec.Raw]:
    return literals(stored.dialogue.extra if stored.dialogue else None)


class _Objects:
    """Builds the objects of one log, each with the keys that it was published with, in their order."""

    def __init__(self, extra: LogExtra) -> None:
        self.extra = extra
        self._stated = extra.lists | extra.differs | extra.unknown

    def turn(self, turn: Turn, annotations: list[Annotation]) -> dict[str, Any]:
        """Build one turn with its labels."""
        at, extra = f"/turns/{turn.turn_index}", literals(turn.extra)
        said_at = turn.said_at.isoformat(" ") if turn.said_at else ""
        by_annotator = groupby(annotations, key=lambda row: row.annotator_index)
        known = {
            "turn-index": extra.get("turn-index", turn.turn_index),
            "speaker": extra.get("speaker", _FLAGS[turn.role]),
            "time": extra.get("time", said_at),
            "annotation-id": turn.native_id,
            "utterance": turn.text,
            "annotations": [self._label(f"{at}/annotations/{index}", list(rows)) for index, rows in by_annotator],
        }
        return self.with_keys(known, at, self.extra.turn_fields)

    def _label(self, at: str, rows: list[Annotation]) -> dict[str, Any]:
        """Build one annotator's label from its rows, one per scheme."""
        by_scheme = {row.scheme: row for row in rows}
        breakdown = by_scheme[BREAKDOWN]
        extra = literals(breakdown.extra)
        grammar = by_scheme.get(UNGRAMMATICAL)
        known = {
            "annotator-id": breakdown.annotator_id,
            "breakdown": breakdown.label,
            "ungrammatical-sentence": grammar.label if grammar else extra.get("ungrammatical-sentence", ""),
            "comment": extra.get("comment", ""),
        }
        return self.with_keys(known, at, self.extra.label_fields)

    def with_keys(self, known: Mapping[str, Any], at: str, fields: list[str]) -> dict[str, Any]:
        """Build an object with the keys that it was published with: ``fields``, unless its own are kept."""
        keys = self.extra.fields_at.get(at, fields)
        if not self._stated:
            return {key: known[key] for key in keys}
        pointers = {key: at + pointer(key) for key in keys}
        return {key: self._stated[inner] if inner in self._stated else known[key] for key, inner in pointers.items()}
