"""Who speaks: a person of a site by id, or somebody unknown in one dialogue; and what the row does not give back."""

from typing import NamedTuple

import polars as pl
from msgspec import UNSET

from ingest.corpora.mantis.layout import CORPUS
from ingest.corpora.mantis.shapes import NAN, Value, literal
from ingest.rows import Block, Row, Speaker

MISSING = (UNSET, None, NAN)


class Person(NamedTuple):
    """Somebody in a dialogue: the key, and the fields whose JSON the speaker's row does not give back."""

    speaker_id: str
    literals: dict[str, str]


class People:
    """Everybody who was named so far; gives the row of each once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Value, Value]] = {}
        """By key: the user id (a number's literal) and user name that the row gives back."""

    def cast(self, talks: pl.DataFrame, written: str) -> tuple[pl.DataFrame, Block]:
        """Add ``user_key`` and ``agent_key`` to usual dialogues, and drop those in which somebody has another name.

        Their user ids are whole numbers, all ``written`` alike ("{}.0"). Gives also the rows of all who are named for
        the first time.
        """
        talks = talks.with_columns(
            user_key=pl.format(f"{CORPUS}:{{}}:{{}}", "category", "user"),
            agent_key=pl.format(f"{CORPUS}:{{}}:{{}}", "category", "agent"),
        )
        roles = [
            talks.lazy().select(key=f"{role}_key", number=role, name=f"{role}_shown") for role in ("user", "agent")
        ]
        people = pl.concat(roles).unique(maintain_order=True).collect(engine="in-memory")
        keys, names = people["key"].to_list(), people["name"].to_list()
        given = list(
            zip([written.format(number).encode() for number in people["number"].to_list()], names, strict=True)
        )
        known = list(map(self._known.setdefault, keys, given))
        is_fresh = pl.Series([one is other for one, other in zip(known, given, strict=True)], dtype=pl.Boolean)
        renamed = [(keys[place], names[place]) for place, one in enumerate(known) if one != given[place]]
        if renamed:
            others = pl.DataFrame(renamed, schema=["key", "name"], orient="row")
            for role in ("user", "agent"):
                talks = talks.join(
                    others, left_on=[f"{role}_key", f"{role}_shown"], right_on=["key", "name"], how="anti"
                )
            talks = talks.sort("place")
        shared = {"corpus_id": CORPUS, "kind": "human", "is_anonymous": False}
        fresh = people.filter(is_fresh).select(speaker_id="key", native_id=pl.format(written, "number"), name="name")
        return talks, Block(Speaker, shared, fresh.to_dict())

    def person(self, dialogue_id: str, role: str, facts: tuple[Value, Value, str], rows: list[Row]) -> Person:
        """Give somebody by user id, user name and domain; adds the row where it is the first time."""
        user, name, domain = facts
        is_anonymous = user is None or user is UNSET or user == NAN
        speaker_id = f"{dialogue_id}:{role}" if is_anonymous else f"{CORPUS}:{domain}:{_token(user)}"
        known = self._known.get(speaker_id)
        if known is None:
            native_id = None if is_anonymous else user if isinstance(user, str) else literal(user)
            shown = name if isinstance(name, str) else None
            rows.append(Speaker(speaker_id, CORPUS, native_id, shown, "human", is_anonymous))
            known = self._known[speaker_id] = (b"null" if native_id is None else native_id.encode(), shown)
        if known == (user, name):
            return Person(speaker_id, _NOTHING)
        said = {"user_id": (user, known[0]), "user_name": (name, known[1])}
        texts = {
            field: (literal(value), literal(given)) for field, (value, given) in said.items() if value is not UNSET
        }
        return Person(speaker_id, {field: text for field, (text, given) in texts.items() if text != given})


_NOTHING: dict[str, str] = {}


def _token(user: Value) -> str:
    """Give a user id as it stands in a key: 4376 for 4376.0."""
    if isinstance(user, str):
        return user
    text = user.decode() if isinstance(user, bytes) else literal(user)
    if text.endswith(".0"):
        return text[:-2]
    if isinstance(user, bytes):
        number = float(text)
        return str(int(number)) if number.is_integer() and abs(number) < _EXACT else text
    return text


_EXACT = 2.0**53
"""Whole numbers below are exact as floats."""
