"""Who speaks: a person of a site by id, or somebody unknown in one dialogue; and what the row does not give back."""

from operator import is_
from typing import NamedTuple

import msgspec
import polars as pl
from msgspec import UNSET

from ingest.corpora.mantis.layout import CORPUS
from ingest.corpora.mantis.shapes import NAN, Value, literal
from ingest.rows import ColumnBatch, Row, Speaker

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

    def cast(self, talks: pl.DataFrame, written: str) -> tuple[pl.DataFrame, ColumnBatch]:
        """Add ``user_key`` and ``agent_key`` to usual dialogues, and the rows of all who are named for the first time.

        Their user ids are whole numbers, all ``written`` alike ("{}.0"); a name that is null is NaN. ``user_literals``
        and ``agent_literals`` are JSON of what the row of somebody does not give back, null where it gives back all.
        """
        talks = talks.with_columns(
            pl.format(f"{CORPUS}:{{}}:{{}}", "category", role).alias(f"{role}_key") for role in _ROLES
        )
        people = self._look_up(talks, written)
        shared = {"corpus_id": CORPUS, "kind": "human", "is_anonymous": False}
        fresh = people.filter("is_fresh").select(speaker_id="key", native_id=pl.format(written, "number"), name="name")
        return _with_literals(talks, people), ColumnBatch(Speaker, shared, fresh.to_dict())

    def _look_up(self, talks: pl.DataFrame, written: str) -> pl.DataFrame:
        """Give everybody in some dialogues, in the order of their places: who is named first gives the row."""
        roles = [talks.lazy().select("place", key=f"{role}_key", number=role, name=f"{role}_shown") for role in _ROLES]
        in_order = pl.concat(roles).sort("place", maintain_order=True).drop("place")
        people = in_order.unique(maintain_order=True).collect(engine="in-memory")
        keys, numbers, names = (column.to_list() for column in people)
        given = list(zip([written.format(number).encode() for number in numbers], names, strict=True))
        known = list(map(self._known.setdefault, keys, given))
        return people.with_columns(
            is_fresh=pl.Series(list(map(is_, known, given)), dtype=pl.Boolean),
            literals=pl.Series(list(map(_as_json, known, given)), dtype=pl.String),
        )

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
        return Person(speaker_id, _literals(known, user, name))


_NOTHING: dict[str, str] = {}
_ROLES = ("user", "agent")


def _literals(known: tuple[Value, Value], user: Value, name: Value) -> dict[str, str]:
    """Give the JSON of the fields that somebody's row does not give back."""
    if known == (user, name):
        return _NOTHING
    said = {"user_id": (user, known[0]), "user_name": (name, known[1])}
    texts = {field: (literal(value), literal(given)) for field, (value, given) in said.items() if value is not UNSET}
    return {field: text for field, (text, given) in texts.items() if text != given}


def _as_json(known: tuple[Value, Value], given: tuple[Value, Value]) -> str | None:
    """Give the same of somebody in a usual dialogue as JSON; null where there is nothing."""
    user, name = given
    found = _literals(known, user, NAN if name is None else name)
    return msgspec.json.encode(found).decode() if found else None


def _with_literals(talks: pl.DataFrame, people: pl.DataFrame) -> pl.DataFrame:
    """Add the literals of user and agent to dialogues."""
    odd = people.filter(pl.col("literals").is_not_null())
    for role in _ROLES:
        talks = talks.join(
            odd.select(pl.col("key").alias(f"{role}_key"), pl.col("name").alias(f"{role}_shown"), "literals"),
            on=[f"{role}_key", f"{role}_shown"],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        ).rename({"literals": f"{role}_literals"})
    return talks


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
