"""A dialogue's JSON of any kind: decoded, strictly checked, every key accounted for, and what is unusual about it."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from types import NoneType
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.mantis.files import SITES
from talkhouse.ingest.corpora.mantis.format import NAN, PLACEHOLDER, SPOKEN, DialogueShape, Value, literal, moment
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import ReaderFinding

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


_PEOPLE = 2
_AGENT_UTTERANCES = 2
_MISSING = (UNSET, None, NAN)

ID = r"\d+(?:[-_]\d+(?:\.\d+)?)?"
_ID = re.compile(ID, re.ASCII)
_NUMBER = re.compile(r"[-+]?\d+", re.ASCII)


def warnings(dialogue: PublishedDialogue, sites: frozenset[str]) -> list[ReaderFinding]:
    """List a finding for each rule that a dialogue breaks, with the pointer of the first and what else there is.

    ``sites``: categories that are expected beside those of the published corpus.
    """
    broken = {
        "MA-03": list(_order(dialogue)),
        "MA-04": list(_content(dialogue, sites)),
        "MA-05": list(_values(dialogue)),
    }
    return [
        ReaderFinding(rule, "; ".join(said for _, said in unusual), pointer=unusual[0][0])
        for rule, unusual in broken.items()
        if unusual
    ]


def _content(dialogue: PublishedDialogue, sites: frozenset[str]) -> Iterator[tuple[str, str]]:
    """MA-04: what the publisher's filters should have left out; the order of time is a check in SQL."""
    category, spoken = dialogue.facts["category"], dialogue.spoken
    if category not in SITES and category not in sites:
        yield "/category", f"the category {category!r} is none of the {len(SITES)} sites"
    if len(people := set(spoken["user_id"]).difference(_MISSING)) > _PEOPLE:
        yield "/utterances", f"{len(people)} user ids"
    if (said := spoken["actor_type"].count("agent")) < _AGENT_UTTERANCES:
        yield "/utterances", f"only {said} of the utterances are the agent's"


def _order(dialogue: PublishedDialogue) -> Iterator[tuple[str, str]]:
    """MA-03: numbers and roles."""
    numbers, roles = dialogue.spoken["utterance_pos"], dialogue.spoken["actor_type"]
    is_due = (type(said) is int and said == due for due, said in enumerate(numbers, 1))
    yield from _odd("utterance_pos", numbers, is_due)
    other = [] if roles[0] == "user" else [0]
    yield from _first("actor_type", other, lambda at: f"the first utterance is of {roles[at]!r}")
    twice = [at for at, (one, following) in enumerate(pairwise(roles), 1) if one == following]
    yield from _first("actor_type", twice, lambda at: f"{roles[at]!r} speaks twice in a row")
    strange = [at for at, role in enumerate(roles) if role not in ("user", "agent")]
    yield from _first("actor_type", strange, lambda at: f"the actor_type {roles[at]!r}")


def _values(dialogue: PublishedDialogue) -> Iterator[tuple[str, str]]:
    """MA-05: values that are not written as the others are."""
    spoken = dialogue.spoken
    for name, is_fine in _FINE.items():
        yield from _odd(name, spoken[name], map(is_fine, spoken[name]))
    if dialogue.started_at is None:
        yield "/dialog_time", f"the dialog_time {_shown(dialogue.facts.get('dialog_time', UNSET))}"
    empty = [at for at, text in enumerate(spoken["utterance"]) if text == PLACEHOLDER]
    yield from _first("utterance", empty, lambda _: "only a placeholder instead of a text")


def _odd(name: str, values: Sequence[Value], is_fine: Iterable[bool]) -> Iterator[tuple[str, str]]:
    wrong = [at for at, fine in enumerate(is_fine) if not fine]
    return _first(name, wrong, lambda at: f"the {name} {_shown(values[at])}")


def _first(name: str, found: list[int], detail: Callable[[int], str]) -> Iterator[tuple[str, str]]:
    """Report the first of some utterances, and how many there are; ``name`` is the field that shows it."""
    if found:
        times = f" ({len(found)} times)" if len(found) > 1 else ""
        yield pointer("utterances", found[0], name), detail(found[0]) + times


def _shown(value: Value) -> str:
    return "is missing" if value is UNSET else literal(value)


_FINE: dict[str, Callable[[Value], bool]] = {
    "id": lambda value: isinstance(value, str) and _ID.fullmatch(value) is not None,
    "votes": lambda value: type(value) is int or (isinstance(value, str) and _NUMBER.fullmatch(value) is not None),
    "is_answer": lambda value: type(value) is int and value == 0,
    "utterance_time": lambda value: moment(value) is not None,
}
