"""What the rows do not say of a log and writing it back needs: the keys of its objects, null lists."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any

from msgspec import UNSET, Raw, Struct

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.dbdc3.format import Log


class Extra(Struct):
    """What ``records.extra`` has for writing a log back; values are kept as the literals that were published."""

    fields: list[str] = []
    """Keys of the log, in published order."""
    turn_fields: list[str] = []
    label_fields: list[str] = []
    fields_at: dict[str, list[str]] = {}
    """Keys of single turns and labels that have others, or in another order, by pointer."""
    lists: dict[str, Raw] = {}
    differs: dict[str, Raw] = {}
    unknown: dict[str, Raw] = {}


class _Objects(Struct):
    """A log as objects of any keys."""

    turns: list[dict[str, Raw]]


def stated(log: Log) -> dict[str, Any]:
    """Collect everything but words that a log states of its dialogue, by pointer; absent fields are left out."""
    facts: dict[str, Any] = {"/group-id": log.group_id, "/speaker-id": log.speaker_id}
    for index, turn in enumerate(log.turns):
        facts[f"/turns/{index}/turn-index"] = turn.turn_index
        facts[f"/turns/{index}/time"] = turn.time
        facts[f"/turns/{index}/annotation-id"] = turn.annotation_id
    return {pointer: value for pointer, value in facts.items() if value is not UNSET}


def published_keys(raw: bytes, log: Log) -> dict[str, Any]:
    """Collect what is needed to write a log as it was: the keys of each object, and null lists."""
    objects = decode.decoder(_Objects).decode(raw).turns
    turns, labels = [tuple(turn) for turn in objects], [_label_keys(turn) for turn in objects]
    turn_fields, label_fields = _commonest(turns), _commonest(chain.from_iterable(labels))
    others = {f"/turns/{index}": keys for index, keys in enumerate(turns) if keys != turn_fields}
    others |= {
        f"/turns/{index}/annotations/{position}": keys
        for index, of_turn in enumerate(labels)
        for position, keys in enumerate(of_turn)
        if keys != label_fields
    }
    nulls = {f"/turns/{index}/annotations": None for index, turn in enumerate(log.turns) if turn.annotations is None}
    return {
        "fields": decode.keys(raw),
        "turn_fields": turn_fields,
        "label_fields": label_fields,
        "fields_at": others,
        "lists": nulls,
    }


def _label_keys(turn: dict[str, Raw]) -> list[tuple[str, ...]]:
    """List the keys of every label of a turn."""
    raw = turn.get("annotations")
    labels = None if raw is None else decode.decoder(list[dict[str, Raw]] | None).decode(raw)
    return [tuple(label) for label in labels or ()]


def _commonest(orders: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the keys that most objects have; of equals those that come first."""
    counts = Counter(orders)
    return counts.most_common(1)[0][0] if counts else ()
