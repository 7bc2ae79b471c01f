"""What is unusual about a dialogue that is loaded all the same: MA-03, MA-04 and MA-05, a finding for each."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import UNSET

from talkhouse.ingest.corpora.mantis.conversations.dialogue import PublishedDialogue
from talkhouse.ingest.corpora.mantis.files import SITES
from talkhouse.ingest.corpora.mantis.format import NAN, PLACEHOLDER, Value, literal, moment
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.outcomes import ReaderFinding

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
