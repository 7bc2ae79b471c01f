"""A persona back to the element that was published: its columns, its other fields, and what a mention adds."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ingest.corpora.mpchat.lists import ENTAILMENT, OVERALL
from ingest.rows import Annotation, Persona

_REMEMBERED = 20_000
"""Written elements that are remembered; beyond, all are forgotten and written again."""


class _Extra(Struct):
    """What ``extra`` of a persona, or of a mention of it, holds beside plain fields."""

    fields: int | None = None
    unknown: dict[str, Raw] = {}


class Personas:
    """Writes persona elements of one file; ``orders`` are the orders of keys that occur in it."""

    def __init__(self, orders: list[list[str]]) -> None:
        self._orders = orders
        self._plain: dict[str, Raw] = {}

    def element(self, persona: Persona, use_extra: str | None, labels: list[Annotation]) -> Raw:
        """Give the JSON of one element; without anything of its own, the same for every mention."""
        if use_extra is None and persona.persona_id in self._plain:
            return self._plain[persona.persona_id]
        said: dict[str, Any] = msgspec.json.decode(use_extra or "{}")
        own = said.pop("fields", None)
        extra = msgspec.json.decode(persona.extra or "{}", type=_Extra)
        values = _values(persona) | extra.unknown | _labels(labels) | said
        order = self._orders[own if own is not None else extra.fields or 0]
        written = Raw(msgspec.json.encode({name: values.get(name) for name in order}))
        if use_extra is None:
            if len(self._plain) >= _REMEMBERED:
                self._plain.clear()
            self._plain[persona.persona_id] = written
        return written


def _values(persona: Persona) -> dict[str, Any]:
    """Give the fields of a persona by their published names; what is null may be missing."""
    values: dict[str, Any] = msgspec.json.decode(persona.extra or "{}", type=dict[str, Raw])
    return values | {
        "id": persona.native_id,
        "title": persona.text,
        "file_name": persona.image_file,
        "author": persona.speaker_id.partition(":")[2] if persona.speaker_id else None,
        "direct_url": persona.image_url,
    }


def _labels(labels: list[Annotation]) -> dict[str, Any]:
    votes = [_vote(row) for row in labels if row.scheme == ENTAILMENT]
    overall = next((row.label for row in labels if row.scheme == OVERALL), None)
    return {"label_overall": overall, "label_per_worker": votes}


def _vote(row: Annotation) -> list[Any]:
    worker = row.annotator_id if row.extra is None else msgspec.json.decode(row.extra)["worker"]
    return [worker, Raw((row.label or "null").encode())]
