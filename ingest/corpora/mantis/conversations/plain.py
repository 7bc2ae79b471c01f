"""Tells quickly whether nothing about a dialogue is unusual, as is true of nearly all, and decodes those dialogues.

Plain is: the publisher's keys in their order, once each; two people who take turns, numbers that count from 1 on, and
every value written as the publisher's code writes it, so that the columns of the tables give it back. A plain dialogue
gives the same rows the long way (``dialogue``, ``warnings``), which finds out what is unusual about any other.
"""

import re
from operator import attrgetter

import polars as pl
from msgspec import Struct

from ingest import decode
from ingest.corpora.mantis.conversations.dialogue import PublishedDialogue, Spoken
from ingest.corpora.mantis.conversations.warnings import DOMAINS, ID, PLACEHOLDER
from ingest.corpora.mantis.format import DIALOGUE_FIELDS, NAN, SPOKEN

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


def _object(names: tuple[str, ...], values: dict[str, str]) -> str:
    """Return the pattern of an object with these keys in this order."""
    return r"\{\s*" + r"\s*,\s*".join(rf'"{name}"\s*:\s*{values[name]}' for name in names) + r"\s*\}"


def _utterance(role: str) -> str:
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
    return _object(SPOKEN, values)


def _dialogue() -> str:
    """Return the pattern of a plain dialogue; an agent who speaks only once is unusual."""
    user, agent = _utterance("user"), _utterance("agent")
    turns = rf"{user}\s*,\s*{agent}(?:\s*,\s*{user}\s*,\s*{agent})+(?:\s*,\s*{user})?"
    values = {
        "category": f'"(?:{"|".join(sorted(DOMAINS))})"',
        "title": _TEXT,
        "dialog_time": _TIME,
        "utterances": rf"\[\s*{turns}\s*\]",
        "has_concatenated_utterances": "[01]",
    }
    whole = _object(DIALOGUE_FIELDS, values)
    return rf"(?s)^{whole}$".replace(r"\d", "[0-9]").replace(r"\s", r"[ \t\r\n]")


_PATTERN = _dialogue()
_NAMELESS = re.compile(rb'("user_name"[ \t\r\n]*:[ \t\r\n]*)NaN')
"""In a text the quotes would be escaped."""


class PlainUtterance(Struct, gc=False):
    """An utterance of a plain dialogue."""

    utterance: str
    utterance_time: str
    utterance_pos: int
    user_name: str | None
    """None for NaN."""
    user_id: float
    """A whole number."""
    votes: str
    id: str


class PlainDialogue(Struct, gc=False):
    """A plain dialogue: user and agent take turns, and nobody else."""

    category: str
    title: str
    dialog_time: str
    utterances: list[PlainUtterance]
    has_concatenated_utterances: int

    @property
    def takes_turns(self) -> bool:
        """Whether two people speak in turns, and their utterances are counted from 1 on."""
        people = list(map(_PERSON, self.utterances))
        positions = list(map(_POSITION, self.utterances))
        return people[2:] == people[:-2] and positions == list(range(1, len(positions) + 1))

    def published(self) -> PublishedDialogue:
        """Return the dialogue as the long way decodes it."""
        said = self.utterances
        spoken = Spoken(
            texts=[one.utterance for one in said],
            times=[one.utterance_time for one in said],
            positions=[one.utterance_pos for one in said],
            roles=[("user", "agent")[index % 2] for index in range(len(said))],
            names=[NAN if one.user_name is None else one.user_name for one in said],
            users=[str(one.user_id).encode() for one in said],
            votes=[one.votes for one in said],
            ids=[one.id for one in said],
            answers=[0] * len(said),
        )
        facts = {name: getattr(self, name) for name in DIALOGUE_FIELDS}
        return PublishedDialogue(facts, spoken, [0] * len(said), {})


_PERSON = attrgetter("user_id", "user_name")
_POSITION = attrgetter("utterance_pos")


def plain_dialogues(raws: list[bytes]) -> dict[int, PlainDialogue]:
    """Decode the plain ones of some dialogues, by their place in the list."""
    texts = _texts(raws)
    is_plain = texts.str.contains(_PATTERN) & ~texts.str.contains(f'"{PLACEHOLDER}"', literal=True)
    decoder = decode.decoder(PlainDialogue)
    found = {place: decoder.decode(_named(raws[place])) for place in is_plain.arg_true().to_list()}
    return {place: dialogue for place, dialogue in found.items() if dialogue.takes_turns}


def _named(raw: bytes) -> bytes:
    """Write null for every name of a plain dialogue that is NaN, which JSON does not have."""
    return _NAMELESS.sub(rb"\1null", raw) if NAN in raw else raw


def _texts(raws: list[bytes]) -> pl.Series:
    """Return dialogues as texts; null for one that is not UTF-8."""
    try:
        return pl.Series(raws, dtype=pl.Binary).cast(pl.String)
    except pl.exceptions.ComputeError:
        return pl.Series([_text(raw) for raw in raws], dtype=pl.String)


def _text(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
