"""A dialogue's JSON: decoded and strictly checked, every key accounted for, and what is unusual about it.

Nearly all dialogues are plain, which is found out quickly: the publisher's keys in their order, once each; two people
who take turns, numbers that count from 1 on, and every value written as the publisher's code writes it, so that the
columns of the tables give it back. A plain dialogue gives the same rows by ``decoded``, which takes any other.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from types import NoneType
from typing import Any, TypeAlias

import msgspec
import polars as pl
from msgspec import UNSET, UnsetType

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.mantis import format as layout
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import ReaderFinding

Columns: TypeAlias = dict[str, list[layout.Value]]
"""The utterances of a dialogue, a column for each field of ``SPOKEN``; UNSET where it is absent."""

KeyOrders: TypeAlias = dict[tuple[str, ...], int]
"""The orders of keys that utterances have, each with its number; the publisher's is 0."""


@dataclass(eq=False)
class PublishedDialogue:
    """A dialogue as a file has it."""

    facts: dict[str, layout.Value]
    """The dialogue's fields in published order."""
    spoken: Columns
    orders: list[int]
    """The number of each utterance's order of keys."""
    others: dict[int, dict[str, layout.Value]]
    """By utterance: its intents, and the fields that no documentation names."""

    @cached_property
    def times(self) -> list[datetime | None]:
        """The times of the utterances; None for what is not a time."""
        return list(map(layout.moment, self.spoken["utterance_time"]))

    @cached_property
    def started_at(self) -> datetime | None:
        """The time of the dialogue, or None if it is not a time."""
        return layout.moment(self.facts.get("dialog_time", UNSET))

    def unknown(self, index: int) -> dict[str, layout.Value]:
        """Return the fields of an utterance that no documentation names."""
        return {name: value for name, value in self.others.get(index, {}).items() if name != "intent"}


def decoded(raw: bytes, orders: KeyOrders) -> PublishedDialogue:
    """Decode one dialogue; numbers its utterances' orders of keys, also the new ones.

    Raises BadRecord: MA-02 where its shape is wrong, TH-01 to TH-04 where its JSON is.
    """
    facts = _json(raw)
    utterances: list[dict[str, layout.Value]] = facts["utterances"]
    others = {
        index: {name: value for name, value in utterance.items() if name not in _SPOKEN}
        for index, utterance in enumerate(utterances)
        if not _SPOKEN.issuperset(utterance)
    }
    spoken = {name: [utterance.get(name, UNSET) for utterance in utterances] for name in layout.SPOKEN}
    for name, column in spoken.items():
        if not _SCALARS.issuperset(map(type, column)):
            wrong = next(index for index, value in enumerate(column) if type(value) not in _SCALARS)
            raise BadRecord("MA-02", f"{name} is a list or an object", pointer("utterances", wrong, name))
    if "user" not in spoken["actor_type"]:
        raise BadRecord("MA-02", "no utterance of the user" if utterances else "no utterances", "/utterances")
    numbers = [orders.setdefault(tuple(utterance), len(orders)) for utterance in utterances]
    return PublishedDialogue(facts, spoken, numbers, others)


_SPOKEN = frozenset(layout.SPOKEN)
_SCALARS = {str, int, bytes, bool, NoneType, UnsetType}
_ZERO = b"0.0"
"""A number as long as NaN, so that a decoder that doesn't know NaN names the right position of anything else."""


def _json(raw: bytes) -> dict[str, Any]:
    """Decode a dialogue of the right shape; a float is the bytes of its literal, and so is NaN."""
    decode.check_depth(raw)
    numeric = raw.replace(layout.NAN, _ZERO)
    try:
        decode.decoder(Any).decode(numeric)
        facts = json.loads(raw, object_pairs_hook=_object, parse_float=str.encode, parse_constant=str.encode)
        decode.decoder(layout.DialogueShape).decode(numeric)
    except msgspec.ValidationError as error:
        raise decode.shape_problem(error, "MA-02") from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise decode.json_problem(numeric, error) from error
    return dict(facts)


def _object(members: list[tuple[str, layout.Value]]) -> dict[str, layout.Value]:
    """Return an object's members; raises BadRecord where a key occurs twice, or NaN is an item of a list."""
    for name, value in members:
        if type(value) is list and layout.NAN in value:
            raise BadRecord("TH-04", f"NaN is not a JSON number, in the list {name!r}")
    return decode.unique(members)


_PEOPLE = 2
_AGENT_UTTERANCES = 2
_MISSING = (UNSET, None, layout.NAN)

ID = r"\d+(?:[-_]\d+(?:\.\d+)?)?"
_ID = re.compile(ID, re.ASCII)
_NUMBER = re.compile(r"[-+]?\d+", re.ASCII)


def warnings(dialogue: PublishedDialogue, sites: frozenset[str]) -> list[ReaderFinding]:
    """List a finding for each rule that a dialogue breaks, with the pointer of the first and what else there is.

    ``sites``: categories that are expected in addition to those of the published corpus.
    """
    broken = {
        "MA-03": list(_order(dialogue)),
        "MA-04": list(_content(dialogue, sites)),
        "MA-05": list(_values(dialogue)),
    }
    return [
        ReaderFinding(rule, "; ".join(detail for _, detail in unusual), pointer=unusual[0][0])
        for rule, unusual in broken.items()
        if unusual
    ]


def _content(dialogue: PublishedDialogue, sites: frozenset[str]) -> Iterator[tuple[str, str]]:
    """MA-04: what the publisher's filters should have left out; the order of time is a check in SQL."""
    category, spoken = dialogue.facts["category"], dialogue.spoken
    if category not in layout.SITES and category not in sites:
        yield "/category", f"the category {category!r} is none of the {len(layout.SITES)} sites"
    if len(people := set(spoken["user_id"]).difference(_MISSING)) > _PEOPLE:
        yield "/utterances", f"{len(people)} user ids"
    if (count := spoken["actor_type"].count("agent")) < _AGENT_UTTERANCES:
        yield "/utterances", f"only {count} of the utterances are the agent's"


def _order(dialogue: PublishedDialogue) -> Iterator[tuple[str, str]]:
    """MA-03: numbers and roles."""
    numbers, roles = dialogue.spoken["utterance_pos"], dialogue.spoken["actor_type"]
    is_due = (type(number) is int and number == due for due, number in enumerate(numbers, 1))
    yield from _odd("utterance_pos", numbers, is_due)
    other = [] if roles[0] == "user" else [0]
    yield from _first("actor_type", other, lambda at: f"the first utterance is of {roles[at]!r}")
    twice = [at for at, (role, following) in enumerate(pairwise(roles), 1) if role == following]
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
    empty = [at for at, text in enumerate(spoken["utterance"]) if text == layout.PLACEHOLDER]
    yield from _first("utterance", empty, lambda _: "only a placeholder instead of a text")


def _odd(name: str, values: Sequence[layout.Value], is_fine: Iterable[bool]) -> Iterator[tuple[str, str]]:
    wrong = [at for at, fine in enumerate(is_fine) if not fine]
    return _first(name, wrong, lambda at: f"the {name} {_shown(values[at])}")


def _first(name: str, found: list[int], detail: Callable[[int], str]) -> Iterator[tuple[str, str]]:
    """Report the first of some utterances, and how many there are; ``name`` is the field that shows it."""
    if found:
        times = f" ({len(found)} times)" if len(found) > 1 else ""
        yield pointer("utterances", found[0], name), detail(found[0]) + times


def _shown(value: layout.Value) -> str:
    return "is missing" if value is UNSET else layout.literal(value)


_FINE: dict[str, Callable[[layout.Value], bool]] = {
    "id": lambda value: isinstance(value, str) and _ID.fullmatch(value) is not None,
    "votes": lambda value: type(value) is int or (isinstance(value, str) and _NUMBER.fullmatch(value) is not None),
    "is_answer": lambda value: type(value) is int and value == 0,
    "utterance_time": lambda value: layout.moment(value) is not None,
}


_HEX = "[0-9a-fA-F]"
_PAIR = rf"\\u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}"
_FIRST = rf"00(?:[01]{_HEX}|7[fF]|[89a-fA-F]{_HEX})|0[1-9a-fA-F]{_HEX}{{2}}"
_OTHER = rf"[1-9abcefABCEF]{_HEX}{{3}}|[dD][0-7]{_HEX}{{2}}"
_ESCAPE = rf'\\["\\/bfnrt]|\\u(?:{_FIRST}|{_OTHER})|{_PAIR}'
"""Of letters that JSON writes as they are, none is given as its number."""
_TEXT = rf'"(?:[^"\\\x00-\x1f]|{_ESCAPE})*"'
_DAY = r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
_TIME = rf'"[12]\d{{3}}-{_DAY}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{{3}}"'
"""29 February goes the long way."""


def _object_pattern(names: tuple[str, ...], values: dict[str, str]) -> str:
    """Return the pattern of an object with these keys in this order."""
    return r"\{\s*" + r"\s*,\s*".join(rf'"{name}"\s*:\s*{values[name]}' for name in names) + r"\s*\}"


def _utterance_pattern(role: str) -> str:
    """Return the pattern of an utterance."""
    values = {
        "utterance": _TEXT,
        "utterance_time": _TIME,
        "utterance_pos": r"[1-9]\d{0,2}",
        "actor_type": f'"{role}"',
        "user_name": f"(?:{_TEXT}|NaN)",
        "user_id": r"(?:0|[1-9]\d{0,14})\.0",
        "votes": r'"(?:0|-?[1-9]\d{0,8})"',
        "id": f'"{ID}"',
        "is_answer": "0",
    }
    return _object_pattern(layout.SPOKEN, values)


def _dialogue_pattern() -> str:
    """Return the pattern of a plain dialogue; an agent who speaks only once is unusual."""
    user, agent = _utterance_pattern("user"), _utterance_pattern("agent")
    turns = rf"{user}\s*,\s*{agent}(?:\s*,\s*{user}\s*,\s*{agent})+(?:\s*,\s*{user})?"
    values = {
        "category": f'"(?:{"|".join(sorted(layout.SITES))})"',
        "title": _TEXT,
        "dialog_time": _TIME,
        "utterances": rf"\[\s*{turns}\s*\]",
        "has_concatenated_utterances": "[01]",
    }
    whole = _object_pattern(layout.DIALOGUE_FIELDS, values)
    return rf"(?s)^{whole}$".replace(r"\d", "[0-9]").replace(r"\s", r"[ \t\r\n]")


_PATTERN = _dialogue_pattern()
_NAMELESS = r'("user_name"[ \t\r\n]*:[ \t\r\n]*)NaN'
"""In a text the quotes would be escaped."""

_UTTERANCE = pl.Struct(
    dict.fromkeys(("utterance", "utterance_time", "user_name", "votes", "id"), pl.String)
    | {"utterance_pos": pl.Int32, "user_id": pl.Float64}
)
_DIALOGUE = pl.Struct(
    dict.fromkeys(("category", "title", "dialog_time"), pl.String)
    | {"utterances": pl.List(_UTTERANCE), "has_concatenated_utterances": pl.Int32}
)


def plain_dialogues(raws: list[bytes]) -> pl.DataFrame:
    """Decode the plain ones of some dialogues, a row each; ``position`` is the position in the list.

    A name that is NaN is null. It all works without Python's lock.
    """
    texts = _as_texts(raws)
    is_plain = texts.str.contains(_PATTERN) & ~texts.str.contains(f'"{layout.PLACEHOLDER}"', literal=True)
    positions = is_plain.arg_true()
    decoded = texts.gather(positions).str.replace_all(_NAMELESS, "${1}null").str.json_decode(_DIALOGUE)
    dialogues = decoded.struct.unnest().with_columns(position=positions)
    return without(dialogues, utterances(dialogues).filter(~_TAKES_TURNS)["position"].to_list())


_TAKES_TURNS = (pl.col("utterance_pos") == pl.col("turn_index") + 1) & (
    (pl.col("turn_index") < 2)
    | ((pl.col("user_id") == pl.col("user_id").shift(2)) & pl.col("user_name").eq_missing(pl.col("user_name").shift(2)))
)
"""Whether an utterance has its number, and the same speaker as the utterance before the last."""


def utterances(dialogues: pl.DataFrame) -> pl.DataFrame:
    """Return the utterances of plain dialogues; ``owner`` is the row of the dialogue, ``position`` its own."""
    sizes = pl.col("utterances").list.len()
    owner = pl.int_range(pl.len(), dtype=pl.UInt32)
    numbered = dialogues.select("position", "utterances", owner=owner, turn_index=pl.int_ranges(sizes, dtype=pl.Int32))
    return numbered.explode("utterances", "turn_index").unnest("utterances")


def without(dialogues: pl.DataFrame, positions: Collection[int]) -> pl.DataFrame:
    """Leave some dialogues out."""
    return dialogues.filter(~pl.col("position").is_in(list(positions))) if positions else dialogues


def published(dialogues: pl.DataFrame) -> Iterator[PublishedDialogue]:
    """Return plain dialogues as the long way decodes them."""
    turns, sizes = utterances(dialogues), dialogues["utterances"].list.len().to_list()
    columns = {
        "utterance_pos": turns["turn_index"] + 1,
        "actor_type": pl.Series(["user", "agent"]).gather(turns["turn_index"] % 2),
        "is_answer": pl.Series([0]).gather(turns["turn_index"] * 0),
    }
    lists = {name: columns.get(name, turns.get_column(name, default=None)).to_list() for name in layout.SPOKEN}
    lists["user_name"] = [layout.NAN if name is None else name for name in lists["user_name"]]
    lists["user_id"] = [str(number).encode() for number in lists["user_id"]]
    facts = dialogues.select(pl.exclude("utterances", "position"), pl.lit(None).alias("utterances")).rows(named=True)
    start = 0
    for fact, size in zip(facts, sizes, strict=True):
        spoken = {name: column[start : start + size] for name, column in lists.items()}
        yield PublishedDialogue({name: fact[name] for name in layout.DIALOGUE_FIELDS}, spoken, [0] * size, {})
        start += size


def _as_texts(raws: list[bytes]) -> pl.Series:
    """Return dialogues as texts; null for one that is not UTF-8."""
    try:
        return pl.Series(raws, dtype=pl.Binary).cast(pl.String)
    except pl.exceptions.ComputeError:
        texts = [raw.decode(errors="replace") for raw in raws]
        whole = [text if text.encode() == raw else None for text, raw in zip(texts, raws, strict=True)]
        return pl.Series(whole, dtype=pl.String)
