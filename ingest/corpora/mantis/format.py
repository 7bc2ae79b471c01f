"""The format of the JSON files: what the fields of a dialogue have to be, and how they are written.

A dialogue becomes plain dicts and lists, which keep the order of keys and fields that no documentation names. Two
kinds of number stay as they are written: a float is the ``bytes`` of its literal, and so is NaN (``NAN``).
"""

import json
import math
from datetime import datetime
from typing import Any, TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType

from talkhouse.ingest.corpora.mantis.files import CORPUS

INTENT = f"{CORPUS}.intent"
"""The annotation scheme."""

NAN = b"NaN"
"""What stands for a bare NaN in a decoded dialogue."""

PLACEHOLDER = "<Placeholder Response>"
"""What the authors' code writes for an utterance that has no text left."""

Value: TypeAlias = Any
"""A decoded JSON value, in which ``bytes`` is the literal of a float; UNSET where a field is absent."""


class UtteranceShape(Struct):
    """An utterance; all other fields may be any scalar, or absent."""

    utterance: str
    actor_type: str
    utterance_pos: Raw
    intent: list[str] | UnsetType | None = UNSET


class DialogueShape(Struct):
    """A dialogue; all other fields may be any scalar, or absent."""

    category: str
    utterances: list[UtteranceShape]


SPOKEN = (
    "utterance",
    "utterance_time",
    "utterance_pos",
    "actor_type",
    "user_name",
    "user_id",
    "votes",
    "id",
    "is_answer",
)
"""The fields of an utterance but for its intents, in the order of the publisher's code."""

FACTS = tuple(name for name in SPOKEN if name not in ("utterance", "actor_type"))
"""What a file says of an utterance beside its words, role and intents."""

DIALOGUE_FIELDS = ("category", "title", "dialog_time", "utterances", "has_concatenated_utterances")
"""The fields of a dialogue but for ``has_intent_labels``, in the order of the publisher's code."""

DIALOGUE_FACTS = tuple(name for name in DIALOGUE_FIELDS if name != "utterances")
KNOWN_FIELDS = frozenset({*DIALOGUE_FIELDS, "has_intent_labels"})


def literal(value: Value) -> str:
    """Write a decoded value as the publisher's code does (Python's json): floats and NaN as they were."""
    if isinstance(value, bytes):
        return value.decode()
    if type(value) is int:
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return json.dumps(value)


def is_storable(value: Value) -> bool:
    """Whether a database takes the value as JSON: no NaN, and no number beyond what a float can be."""
    if isinstance(value, dict):
        return all(map(is_storable, value.values()))
    if isinstance(value, list):
        return all(map(is_storable, value))
    if isinstance(value, bytes):
        return math.isfinite(float(value))
    return not isinstance(value, int) or abs(value) < _LARGEST


_LARGEST = 10**300


def keep(name: str, value: Value, extra: dict[str, Any], literals: dict[str, str]) -> None:
    """Put a value as published into ``extra``, or its text into ``literals`` where no database takes it as JSON."""
    if value is UNSET:
        return
    if is_storable(value):
        extra[name] = Raw(literal(value).encode())
    else:
        literals[name] = literal(value)


def moment(value: Value) -> datetime | None:
    """Read a time, its zone left out; None for what is not a time."""
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo is None else time.replace(tzinfo=None)


def text_of(time: datetime | None) -> str | None:
    """Write a time as the publisher does."""
    return time.isoformat(timespec="milliseconds") if time else None
