"""A dialogue's JSON to columns: decoded, strictly checked, and every key accounted for."""

from datetime import datetime
from itertools import chain
from types import NoneType
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from ingest import decode
from ingest.corpora.mantis.duplicates import check_duplicates, text_count
from ingest.corpora.mantis.shapes import SPOKEN, Talk, Value
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


class Parsed(NamedTuple):
    """A dialogue as a file has it."""

    facts: dict[str, Value]
    """The dialogue's fields in published order."""
    spoken: Spoken
    started_at: datetime | None
    times: Times
    is_usual: bool
    """Whether the fields of all utterances are of the types that the publisher's code writes."""
    orders: list[int]
    """The number of each utterance's order of keys."""
    others: dict[int, dict[str, Value]]
    """By utterance: its intents, and the fields that no documentation names."""


class Parser:
    """Decodes dialogues; numbers the orders of keys of their utterances as they come."""

    def __init__(self) -> None:
        self.orders: dict[tuple[str, ...], int] = {}

    def parse(self, raw: bytes, decoder: Decoder) -> Parsed:
        """Decode one dialogue; raises BadRecord MA-02 where its shape is wrong, TH-01 to TH-04 where its JSON is."""
        facts, utterances = _decoded(raw, decoder)
        texts = text_count({name: value for name, value in facts.items() if name != "utterances"}) + 1
        spoken = _usual(utterances)
        is_usual = spoken is not None
        others: dict[int, dict[str, Value]] = {}
        if spoken is None:
            orders = self._orders(utterances)
            spoken, others = _unusual(utterances), _others(utterances)
            is_usual = _is_usual(spoken)
            _check_utterances(raw, spoken, others)
            texts += text_count(utterances)
        else:
            orders = [self.orders.setdefault(SPOKEN, len(self.orders))] * len(utterances)
            texts += len(utterances) * (len(SPOKEN) + _TEXTS) + list(map(type, spoken.names)).count(str)
        if type(facts.get("category")) is not str or "user" not in spoken.roles:
            raise _misshapen(raw)
        check_duplicates(raw, texts)
        times, started = moments(spoken.times), facts.get("dialog_time", UNSET)
        # A dialogue begins when its first utterance is said.
        started_at = times.found[0] if started == spoken.times[0] else moment(started)
        return Parsed(facts, spoken, started_at, times, is_usual, orders, others)

    def _orders(self, utterances: list[dict[str, Value]]) -> list[int]:
        """Give the numbers of the orders of keys."""
        keys = list(map(tuple, utterances))
        if not self.orders.keys() >= set(keys):
            for one in keys:
                self.orders.setdefault(one, len(self.orders))
        return list(map(self.orders.__getitem__, keys))


_TEXTS = 5
"""Fields of an utterance that are always texts where all is usual; the name may be a NaN."""

_KEYS = list(SPOKEN)
_KINDS = (str, str, int, str, str, bytes, str, str, int)


def _usual(utterances: list[dict[str, Value]]) -> Spoken | None:
    """Give the columns of utterances that are written as usual: all keys in the usual order, values of usual types."""
    size = len(utterances)
    if list(chain.from_iterable(utterances)) != _KEYS * size:
        return None
    values = list(chain.from_iterable(map(dict.values, utterances)))
    spoken = Spoken._make([values[column :: len(SPOKEN)] for column in range(len(SPOKEN))])
    return spoken if tuple(map(type, values)) == _KINDS * size or _is_usual(spoken) else None


def _is_usual(spoken: Spoken) -> bool:
    """Whether all fields are of the types that the publisher's code writes; a NaN is bytes."""
    texts, times, positions, roles, names, users, votes, ids, answers = spoken
    return (
        set(map(type, texts + times + roles + votes + ids)) == {str}
        and set(map(type, positions + answers)) == {int}
        and {str, bytes}.issuperset(map(type, names))
        and {int, bytes}.issuperset(map(type, users))
    )


def _unusual(utterances: list[dict[str, Value]]) -> Spoken:
    """Give the columns of any utterances."""
    return Spoken._make([[said.get(name, UNSET) for said in utterances] for name in SPOKEN])


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
    found = ({name: value for name, value in said.items() if name not in SPOKEN} for said in utterances)
    return {index: some for index, some in enumerate(found) if some}


def _check_utterances(raw: bytes, spoken: Spoken, others: dict[int, dict[str, Value]]) -> None:
    """Raise BadRecord MA-02 where a field is missing or of a type that the tables can't hold."""
    for name, column in zip(SPOKEN, spoken, strict=True):
        wrong = next((index for index, value in enumerate(column) if type(value) not in _SCALARS), None)
        if wrong is not None:
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
