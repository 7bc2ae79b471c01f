"""A dialogue's JSON of any kind to columns: decoded, strictly checked, and every key accounted for."""

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from types import NoneType
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.mantis.format import NAN, SPOKEN, DialogueShape, Value, moment
from talkhouse.ingest.decode import BadRecord, pointer

Columns: TypeAlias = dict[str, list[Value]]
"""The utterances of a dialogue, a column for each field of ``SPOKEN``; UNSET where it is absent."""

KeyOrders: TypeAlias = dict[tuple[str, ...], int]
"""The orders of keys that utterances have, each with its number; the publisher's is 0."""


@dataclass(eq=False)
class PublishedDialogue:
    """A dialogue as a file has it."""

    facts: dict[str, Value]
    """The dialogue's fields in published order."""
    spoken: Columns
    orders: list[int]
    """The number of each utterance's order of keys."""
    others: dict[int, dict[str, Value]]
    """By utterance: its intents, and the fields that no documentation names."""

    @cached_property
    def times(self) -> list[datetime | None]:
        """The times of the utterances; None for what is not a time."""
        return list(map(moment, self.spoken["utterance_time"]))

    @cached_property
    def started_at(self) -> datetime | None:
        """The time of the dialogue; None where it is not a time."""
        return moment(self.facts.get("dialog_time", UNSET))

    def unknown(self, index: int) -> dict[str, Value]:
        """Return the fields of an utterance that no documentation names."""
        return {name: value for name, value in self.others.get(index, {}).items() if name != "intent"}


def decoded(raw: bytes, orders: KeyOrders) -> PublishedDialogue:
    """Decode one dialogue; numbers its utterances' orders of keys, also the new ones.

    Raises BadRecord: MA-02 where its shape is wrong, TH-01 to TH-04 where its JSON is.
    """
    facts = _json(raw)
    utterances: list[dict[str, Value]] = facts["utterances"]
    others = {
        index: {name: value for name, value in said.items() if name not in _SPOKEN}
        for index, said in enumerate(utterances)
        if not _SPOKEN.issuperset(said)
    }
    spoken = {name: [said.get(name, UNSET) for said in utterances] for name in SPOKEN}
    for name, column in spoken.items():
        if not _SCALARS.issuperset(map(type, column)):
            wrong = next(index for index, value in enumerate(column) if type(value) not in _SCALARS)
            raise BadRecord("MA-02", f"{name} is a list or an object", pointer("utterances", wrong, name))
    if "user" not in spoken["actor_type"]:
        raise BadRecord("MA-02", "no utterance of the user" if utterances else "no utterances", "/utterances")
    numbers = [orders.setdefault(tuple(said), len(orders)) for said in utterances]
    return PublishedDialogue(facts, spoken, numbers, others)


_SPOKEN = frozenset(SPOKEN)
_SCALARS = {str, int, bytes, bool, NoneType, UnsetType}
_ZERO = b"0.0"
"""A number as long as NaN, so that a decoder that doesn't know NaN names the right position of anything else."""


def _json(raw: bytes) -> dict[str, Any]:
    """Decode a dialogue of the right shape; a float is the bytes of its literal, and so is NaN."""
    decode.check_depth(raw)
    numeric = raw.replace(NAN, _ZERO)
    try:
        decode.decoder(Any).decode(numeric)
        facts = json.loads(raw, object_pairs_hook=_object, parse_float=str.encode, parse_constant=str.encode)
        decode.decoder(DialogueShape).decode(numeric)
    except msgspec.ValidationError as error:
        raise decode.shape_problem(error, "MA-02") from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise decode.json_problem(numeric, error) from error
    return dict(facts)


def _object(members: list[tuple[str, Value]]) -> dict[str, Value]:
    """Take an object's members; BadRecord where a key occurs twice, or NaN is an item of a list."""
    for name, value in members:
        if type(value) is list and NAN in value:
            raise BadRecord("TH-04", f"NaN is not a JSON number, in the list {name!r}")
    return decode.unique(members)
