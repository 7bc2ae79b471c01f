"""Who speaks: a person of a site by id, or somebody unknown in one dialogue; and what the row does not give back."""

from typing import NamedTuple

from msgspec import UNSET

from talkhouse.ingest.corpora.mantis.files import CORPUS
from talkhouse.ingest.corpora.mantis.format import NAN, Value, literal
from talkhouse.ingest.rows import Row, Speaker


class Person(NamedTuple):
    """Somebody in a dialogue: the key, and the fields whose JSON the speaker's row does not give back."""

    speaker_id: str
    literals: dict[str, str]


class People:
    """Everybody who was named so far; adds the row of each once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Value, Value]] = {}
        """By key: the user id (a number's literal) and user name that the row gives back."""

    def person(self, user: Value, name: Value, domain: str, anonymous_id: str, rows: list[Row]) -> Person:
        """Find somebody by user id, user name and domain; adds the row where it is the first time."""
        is_anonymous = user is None or user is UNSET or user == NAN
        speaker_id = anonymous_id if is_anonymous else f"{CORPUS}:{domain}:{_token(user)}"
        known = self._known.get(speaker_id)
        if known is None:
            native_id = None if is_anonymous else user if isinstance(user, str) else literal(user)
            shown = name if isinstance(name, str) else None
            rows.append(Speaker(speaker_id, CORPUS, native_id, shown, "human", is_anonymous))
            known = self._known[speaker_id] = (b"null" if native_id is None else native_id.encode(), shown)
        return Person(speaker_id, {} if known == (user, name) else _literals(known, user, name))


def _literals(known: tuple[Value, Value], user: Value, name: Value) -> dict[str, str]:
    """Return the JSON of the fields that somebody's row does not give back."""
    said = {"user_id": (user, known[0]), "user_name": (name, known[1])}
    texts = {field: (literal(value), literal(given)) for field, (value, given) in said.items() if value is not UNSET}
    return {field: text for field, (text, given) in texts.items() if text != given}


def _token(user: Value) -> str:
    """Return a user id as keys have it: 4376 for 4376.0."""
    if not isinstance(user, bytes):
        return user if isinstance(user, str) else literal(user)
    text, number = user.decode(), float(user)
    is_whole = number.is_integer() and abs(number) < _EXACT and not text.endswith(".0")
    return str(int(number)) if is_whole else text.removesuffix(".0")


_EXACT = 2.0**53
"""Whole numbers below are exact as floats."""
