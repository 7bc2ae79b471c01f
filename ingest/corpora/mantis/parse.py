"""A dialogue's JSON to columns: decoded, strictly checked, and every key accounted for."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from types import NoneType
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from ingest import decode
from ingest.corpora.mantis.duplicates import check_duplicates, text_count
from ingest.corpora.mantis.shapes import NAN, SPOKEN, Talk, Value
from ingest.corpora.mantis.stand_in import replaced
from ingest.corpora.mantis.times import Times, moment, moments
from ingest.decode import BadRecord, pointer

Column: TypeAlias = list[Value]
Decoder: TypeAlias = msgspec.json.Decoder[Any]


class Spoken(NamedTuple):
    """The utterances of a dialogue, a column for each field; UNSET where it is absent."""

    texts: list[str]
    times: Column
    positions: Column
    roles: list[str]
    names: Column
    users: Column
    votes: Column
    ids: Column
    answers: Column


@dataclass(eq=False)
class Parsed:
    """A dialogue as a file has it."""

    facts: dict[str, Value]
    """The dialogue's fields in published order."""
    spoken: Spoken
    orders: list[int]
    """The number of each utterance's order of keys."""
    others: dict[int, dict[str, Value]]
    """By utterance: its intents, and the fields that no documentation names."""

    @cached_property
    def times(self) -> Times:
        """The times of the utterances."""
        return moments(self.spoken.times)

    @cached_property
    def started_at(self) -> datetime | None:
        """The time of the dialogue; None where it is none."""
        return moment(self.facts.get("dialog_time", UNSET))


class Parser:
    """Decodes dialogues; numbers the orders of keys of their utterances: the usual one is 0."""

    def __init__(self) -> None:
        self.orders: dict[tuple[str, ...], int] = {SPOKEN: 0}

    def parse(self, published: bytes) -> Parsed:
        """Decode one dialogue; raises BadRecord MA-02 where its shape is wrong, TH-01 to TH-04 where its JSON is."""
        raw, number = replaced(published)
        decoder = _decoder(number)
        facts, utterances = _decoded(raw, decoder)
        others = _others(utterances)
        spoken = Spoken._make([[said.get(name, UNSET) for said in utterances] for name in SPOKEN])
        _check_utterances(raw, spoken, others)
        if type(facts.get("category")) is not str or "user" not in spoken.roles:
            raise _misshapen(raw)
        check_duplicates(raw, text_count(facts))
        return Parsed(facts, spoken, [self.number(tuple(said)) for said in utterances], others)

    def number(self, order: tuple[str, ...]) -> int:
        """Give the number of an order of keys."""
        return self.orders.setdefault(order, len(self.orders))


@cache
def _decoder(stand_in: bytes) -> Decoder:
    """Give a decoder that keeps the literal of a float, and NaN for a number that stands for it."""

    def literal(text: str) -> bytes:
        return NAN if (raw := text.encode()) == stand_in else raw

    return msgspec.json.Decoder(float_hook=literal if stand_in else str.encode)


_SPOKEN = frozenset(SPOKEN)
_SCALARS = {str, int, bytes, bool, NoneType, UnsetType}


def _decoded(raw: bytes, decoder: Decoder) -> tuple[dict[str, Value], list[dict[str, Value]]]:
    """Decode a dialogue as far as its list of utterances."""
    try:
        facts = decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise decode.json_problem(raw, error) from error
    utterances = facts.get("utterances") if type(facts) is dict else None
    if type(utterances) is not list or not utterances or set(map(type, utterances)) != {dict}:
        raise _misshapen(raw)
    return facts, utterances


def _others(utterances: list[dict[str, Value]]) -> dict[int, dict[str, Value]]:
    """Give the fields of each utterance that are no columns."""
    return {
        index: {name: value for name, value in said.items() if name not in _SPOKEN}
        for index, said in enumerate(utterances)
        if not _SPOKEN.issuperset(said)
    }


def _check_utterances(raw: bytes, spoken: Spoken, others: dict[int, dict[str, Value]]) -> None:
    """Raise BadRecord MA-02 where a field is missing or of a type that the tables can't hold."""
    for name, column in zip(SPOKEN, spoken, strict=True):
        if not _SCALARS.issuperset(map(type, column)):
            wrong = next(index for index, value in enumerate(column) if type(value) not in _SCALARS)
            raise BadRecord("MA-02", f"{name} is a list or an object", pointer("utterances", wrong, name))
    is_typed = {*map(type, spoken.texts), *map(type, spoken.roles)} == {str} and UNSET not in spoken.positions
    intents = [some["intent"] for some in others.values() if some.get("intent") is not None]
    if not is_typed or not all(type(some) is list and set(map(type, some)) <= {str} for some in intents):
        raise _misshapen(raw)


def _misshapen(raw: bytes) -> BadRecord:
    """Find out what is wrong with the shape of a dialogue."""
    try:
        talk = decode.decoder(Talk).decode(raw)
    except msgspec.ValidationError as error:
        return decode.shape_problem(error, "MA-02")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return decode.json_problem(raw, error)
    said = "no utterance of the user" if talk.utterances else "no utterances"
    return BadRecord("MA-02", said, "/utterances")
