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
_AGENT_UTTERANCES = 2
_MISSING = (UNSET, None, NAN)

ID = r"\d+(?:[-_]\d+(?:\.\d+)?)?"
_ID = re.compile(ID, re.ASCII)
_NUMBER = re.compile(r"[-+]?\d+", re.ASCII)


def warnings(dialogue: PublishedDialogue) -> list[ReaderFinding]:
    """List a finding for each rule that a dialogue breaks, with the pointer of the first and what else there is."""
    checks = {"MA-03": _order, "MA-04": _content, "MA-05": _values}
    found = {rule: list(check(dialogue)) for rule, check in checks.items()}
    return [
        ReaderFinding(rule, "; ".join(said for _, said in unusual), pointer=unusual[0][0])
        for rule, unusual in found.items()
        if unusual
    ]


def _content(dialogue: PublishedDialogue) -> Iterator[tuple[str, str]]:
    """MA-04: what the publisher's filters should have left out; the order of time is a check in SQL."""
    category, spoken = dialogue.facts["category"], dialogue.spoken
    if category not in DOMAINS:
        yield "/category", f"the category {category!r} is none of the {len(DOMAINS)} sites"
    if len(people := set(spoken["user_id"]).difference(_MISSING)) > _PEOPLE:
        yield "/utterances", f"{len(people)} user ids"
    if (said := spoken["actor_type"].count("agent")) < _AGENT_UTTERANCES:
        yield "/utterances", f"only {said} of the utterances are the agent's"


def _order(dialogue: PublishedDialogue) -> Iterator[tuple[str, str]]:
    """MA-03: numbers and roles."""
    positions, roles = dialogue.spoken["utterance_pos"], dialogue.spoken["actor_type"]
    is_fine = [type(position) is int and position == at + 1 for at, position in enumerate(positions)]
    yield from _odd("utterance_pos", positions, is_fine)
    if roles[0] != "user":
        yield _pointer(0, "actor_type"), f"the first utterance is of {roles[0]!r}"
    twice = [at + 1 for at, (one, other) in enumerate(pairwise(roles)) if one == other]
    if twice:
        yield _pointer(twice[0], "actor_type"), f"{roles[twice[0]]!r} speaks twice in a row{_more(twice)}"
    strange = [at for at, role in enumerate(roles) if role not in ("user", "agent")]
    if strange:
        yield _pointer(strange[0], "actor_type"), f"the actor_type {roles[strange[0]]!r}{_more(strange)}"


def _values(dialogue: PublishedDialogue) -> Iterator[tuple[str, str]]:
    """MA-05: values that are not written as the others are."""
    spoken = dialogue.spoken
    for name, is_fine in _FINE.items():
        yield from _odd(name, spoken[name], list(map(is_fine, spoken[name])))
    if dialogue.started_at is None:
        yield "/dialog_time", f"the dialog_time {_shown(dialogue.facts.get('dialog_time', UNSET))}"
    if PLACEHOLDER in spoken["utterance"]:
        empty = [at for at, text in enumerate(spoken["utterance"]) if text == PLACEHOLDER]
        yield _pointer(empty[0], "utterance"), f"only a placeholder instead of a text{_more(empty)}"


def _odd(name: str, values: Sequence[Value], is_fine: list[bool]) -> Iterator[tuple[str, str]]:
    wrong = [at for at, fine in enumerate(is_fine) if not fine]
    if wrong:
        yield _pointer(wrong[0], name), f"the {name} {_shown(values[wrong[0]])}{_more(wrong)}"


def _is_id(value: Value) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_number(value: Value) -> bool:
    return type(value) is int or (isinstance(value, str) and _NUMBER.fullmatch(value) is not None)


_FINE: dict[str, Callable[[Value], bool]] = {
    "id": _is_id,
    "votes": _is_number,
    "is_answer": lambda value: type(value) is int and value == 0,
    "utterance_time": lambda value: moment(value) is not None,
}


def _shown(value: Value) -> str:
    return "is missing" if value is UNSET else literal(value)


def _pointer(index: int, name: str) -> str:
    return pointer("utterances", index, name)


def _more(found: list[int]) -> str:
    return f" ({len(found)} times)" if len(found) > 1 else ""
