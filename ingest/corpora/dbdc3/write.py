"""Rows back to dialogue logs and background paragraphs: equal in every value, keys in published order."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Raw

from ingest.corpora.dbdc3.dialogue import BREAKDOWN, ROLES, UNGRAMMATICAL
from ingest.corpora.dbdc3.files import Layout, laid_out
from ingest.corpora.dbdc3.format import CONTEXT
from ingest.decode import decoder, pointer
from ingest.rows import Annotation, Turn
from ingest.stored_record import StoredRecord

_FLAGS = {role: flag for flag, role in ROLES.items()}
_SPACES = 4


def write(records: Iterable[StoredRecord]) -> Iterator[tuple[str, bytes]]:
    """Give (path inside the corpus's folder, bytes) of every file; archives are folders of their members."""
    for published in records:
        content = write_record(published) if published.record else published.raw or b""
        yield published.path, content


def write_record(published: StoredRecord) -> bytes:
    """Give a log as JSON, or a background paragraph: each is the whole of its file."""
    record = published.record
    if record is not None and record.source_file_id.endswith(CONTEXT):
        paragraph = (_extra(published.dialogue) | _extra(record))["background"]
        text: str = decoder(str).decode(paragraph)
        return text.encode()
    return msgspec.json.format(msgspec.json.encode(_log(published)), indent=_SPACES)


def _log(published: StoredRecord) -> dict[str, Any]:
    """Build one log: what its record states differently, and else what the tables of its dialogue have."""
    record = published.record
    assert record is not None and published.dialogue is not None  # noqa: S101, PT018 - a log is a dialogue
    user = next(person for person in published.participants if person.role == "user")
    by_turn = defaultdict(list)
    for annotation in published.annotations:
        by_turn[annotation.turn_index].append(annotation)
    objects = _Objects(laid_out(record.extra))
    log = {
        "dialogue-id": record.native_id,
        "group-id": _extra(published.dialogue).get("group-id", ""),
        "speaker-id": published.speakers[user.speaker_id].native_id,
        "turns": [objects.turn(turn, by_turn[turn.turn_index]) for turn in published.turns],
    }
    return objects.laid(log, "", objects.layout.fields)


class _Objects:
    """Builds the objects of one log, each with the keys that it was published with, in their order."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._stated = layout.lists | layout.differs | layout.unknown

    def turn(self, turn: Turn, annotations: list[Annotation]) -> dict[str, Any]:
        """Build one turn with its labels."""
        place, extra = f"/turns/{turn.turn_index}", _extra(turn)
        said_at = turn.said_at.isoformat(" ") if turn.said_at else ""
        by_annotator = groupby(annotations, key=lambda row: row.annotator_index)
        known = {
            "turn-index": extra.get("turn-index", turn.turn_index),
            "speaker": extra.get("speaker", _FLAGS[turn.role]),
            "time": extra.get("time", said_at),
            "annotation-id": turn.native_id,
            "utterance": turn.text,
            "annotations": [self._label(f"{place}/annotations/{index}", list(rows)) for index, rows in by_annotator],
        }
        return self.laid(known, place, self.layout.turn_fields)

    def _label(self, place: str, rows: list[Annotation]) -> dict[str, Any]:
        """Build one annotator's label from its rows, one per scheme."""
        by_scheme = {row.scheme: row for row in rows}
        breakdown = by_scheme[BREAKDOWN]
        extra = _extra(breakdown)
        grammar = by_scheme.get(UNGRAMMATICAL)
        known = {
            "annotator-id": breakdown.annotator_id,
            "breakdown": breakdown.label,
            "ungrammatical-sentence": grammar.label if grammar else extra.get("ungrammatical-sentence", ""),
            "comment": extra.get("comment", ""),
        }
        return self.laid(known, place, self.layout.label_fields)

    def laid(self, known: Mapping[str, Any], place: str, fields: list[str]) -> dict[str, Any]:
        """Give an object the keys that it was published with: ``fields``, unless its own are kept."""
        keys = self.layout.fields_at.get(place, fields)
        if not self._stated:
            return {key: known[key] for key in keys}
        places = {key: place + pointer(key) for key in keys}
        return {key: self._stated[at] if at in self._stated else known[key] for key, at in places.items()}


def _extra(row: Any) -> dict[str, Raw]:
    """Decode ``extra``; its values stay the literals that they are."""
    return {} if row is None or row.extra is None else decoder(dict[str, Raw]).decode(row.extra)
