"""What is unusual about a dialogue that is loaded all the same: MA-03, MA-04 and MA-05, a finding for each."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from msgspec import UNSET

from ingest.corpora.mantis.conversations.dialogue import PublishedDialogue
from ingest.corpora.mantis.format import NAN, Value, literal, moment
from ingest.decode import pointer
from ingest.outcomes import ReaderFinding

DOMAINS = frozenset(
    {
        *("apple", "askubuntu", "dba", "diy", "electronics", "english", "gaming"),
        *("gis", "physics", "scifi", "security", "stats", "travel", "worldbuilding"),
    }
)
PLACEHOLDER = "<Placeholder Response>"
"""What the authors' code writes for an utterance that has no text left."""

_PEOPLE = 2
_AGENT = 2
"""Utterances of the agent, at least."""

_MISSING = (UNSET, None, NAN)

ID = r"\d+(?:[-_]\d+(?:\.\d+)?)?"
_ID = re.compile(ID, re.ASCII)
_NUMBER = re.compile(r"[-+]?\d+", re.ASCII)


def warnings(dialogue: PublishedDialogue) -> list[ReaderFinding]:
    """List a finding for each rule that a dialogue breaks, with its first place and what else there is."""
    found = {
        "MA-03": list(_order(dialogue)),
        "MA-04": list(_content(dialogue)),
        "MA-05": list(_values(dialogue)),
    }
    return [
        ReaderFinding(rule, "; ".join(said for _, said in places), pointer=places[0][0])
        for rule, places in found.items()
        if places
    ]


def _content(dialogue: PublishedDialogue) -> Iterator[tuple[str, str]]:
    """MA-04: what the publisher's filters should have left out; the order of time is a check in SQL."""
    category, spoken = dialogue.facts["category"], dialogue.spoken
    if category not in DOMAINS:
        yield "/category", f"the category {category!r} is none of the {len(DOMAINS)} sites"
    if len(people := set(spoken["user_id"]).difference(_MISSING)) > _PEOPLE:
        yield "/utterances", f"{len(people)} user ids"
    if (said := spoken["actor_type"].count("agent")) < _AGENT:
        yield "/utterances", f"only {said} of the utterances are the agent's"


def _order(dialogue: PublishedDialogue) -> Iterator[tuple[str, str]]:
    """MA-03: numbers and roles."""
    positions, roles = dialogue.spoken["utterance_pos"], dialogue.spoken["actor_type"]
    is_fine = [type(position) is int and position == at + 1 for at, position in enumerate(positions)]
    yield from _odd("utterance_pos", positions, is_fine)
    if roles[0] != "user":
        yield _place(0, "actor_type"), f"the first utterance is of {roles[0]!r}"
    twice = [at + 1 for at, (one, other) in enumerate(pairwise(roles)) if one == other]
    if twice:
        yield _place(twice[0], "actor_type"), f"{roles[twice[0]]!r} speaks twice in a row{_more(twice)}"
    strange = [at for at, role in enumerate(roles) if role not in ("user", "agent")]
    if strange:
        yield _place(strange[0], "actor_type"), f"the actor_type {roles[strange[0]]!r}{_more(strange)}"


def _values(dialogue: PublishedDialogue) -> Iterator[tuple[str, str]]:
    """MA-05: values that are not written as the others are."""
    spoken = dialogue.spoken
    for name, is_fine in _FINE.items():
        yield from _odd(name, spoken[name], list(map(is_fine, spoken[name])))
    if dialogue.started_at is None:
        yield "/dialog_time", f"the dialog_time {_shown(dialogue.facts.get('dialog_time', UNSET))}"
    if PLACEHOLDER in spoken["utterance"]:
        empty = [at for at, text in enumerate(spoken["utterance"]) if text == PLACEHOLDER]
        yield _place(empty[0], "utterance"), f"only a placeholder instead of a text{_more(empty)}"


def _odd(name: str, values: Sequence[Value], is_fine: list[bool]) -> Iterator[tuple[str, str]]:
    wrong = [at for at, fine in enumerate(is_fine) if not fine]
    if wrong:
        yield _place(wrong[0], name), f"the {name} {_shown(values[wrong[0]])}{_more(wrong)}"


def _is_id(value: Value) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_number(value: Value) -> bool:
    return type(value) is int or (isinstance(value, str) and _NUMBER.fullmatch(value) is not None)


def _is_zero(value: Value) -> bool:
    return type(value) is int and value == 0


_FINE: dict[str, Callable[[Value], bool]] = {
    "id": _is_id,
    "votes": _is_number,
    "is_answer": _is_zero,
    "utterance_time": lambda value: moment(value) is not None,
}


def _shown(value: Value) -> str:
    return "is missing" if value is UNSET else literal(value)


def _place(index: int, name: str) -> str:
    return pointer("utterances", index, name)


def _more(found: list[int]) -> str:
    return f" ({len(found)} times)" if len(found) > 1 else ""
