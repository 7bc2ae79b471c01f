"""The format of a dialogue log as published, and what its rows don't say of it: the order of keys, null lists."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, NotRequired, TypedDict

from msgspec import Raw, Struct

Label = TypedDict(
    "Label",
    {
        "breakdown": str,
        "annotator-id": NotRequired[str | None],
        "ungrammatical-sentence": NotRequired[str | None],
        "comment": NotRequired[str | None],
    },
)
"""One annotator's label of one turn."""

LogTurn = TypedDict(
    "LogTurn",
    {
        "speaker": str,
        "utterance": str,
        "turn-index": NotRequired[Raw],
        "time": NotRequired[str | None],
        "annotation-id": NotRequired[str | None],
        "annotations": NotRequired[list[Label] | None],
    },
)
"""One utterance; its number is kept as the literal that was published."""

Log = TypedDict(
    "Log",
    {
        "dialogue-id": str,
        "turns": list[LogTurn],
        "group-id": NotRequired[str | None],
        "speaker-id": NotRequired[str | None],
    },
)
"""One dialogue."""


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


def stated(log: Log) -> dict[str, Any]:
    """Collect everything but words that a log states of its dialogue, by pointer; absent fields are left out."""
    facts = _facts("", log, ("group-id", "speaker-id"))
    for index, turn in enumerate(log["turns"]):
        facts |= _facts(f"/turns/{index}", turn, ("turn-index", "time", "annotation-id"))
    return facts


def _facts(at: str, values: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, Any]:
    return {f"{at}/{key}": values[key] for key in keys if key in values}


def published_keys(raw: bytes, log: Log, *, has_unknown: bool) -> dict[str, Any]:
    """Collect what is needed to write a log as it was: the keys of each object, and null lists."""
    # Fields that the format does not know are not in the log, but have their place among the keys.
    objects = json.loads(raw, parse_int=str) if has_unknown else log
    turns = [tuple(turn) for turn in objects["turns"]]
    labels = [[tuple(label) for label in turn.get("annotations") or ()] for turn in objects["turns"]]
    turn_fields, label_fields = _commonest(turns), _commonest(chain.from_iterable(labels))
    others = {f"/turns/{index}": keys for index, keys in enumerate(turns) if keys != turn_fields}
    others |= {
        f"/turns/{index}/annotations/{position}": keys
        for index, of_turn in enumerate(labels)
        for position, keys in enumerate(of_turn)
        if keys != label_fields
    }
    nulls = {
        f"/turns/{index}/annotations": None
        for index, turn in enumerate(log["turns"])
        if turn.get("annotations", ()) is None
    }
    return {
        "fields": list(objects),
        "turn_fields": turn_fields,
        "label_fields": label_fields,
        "fields_at": others,
        "lists": nulls,
    }


def _commonest(orders: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the keys that most objects have; of equals those that come first."""
    counts = Counter(orders)
    return counts.most_common(1)[0][0] if counts else ()
