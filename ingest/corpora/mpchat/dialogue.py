"""A conversation to its rows: dialogue, people, turns; and what a record states of it that another states otherwise."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import UNSET

from ingest import decode
from ingest.corpora.mpchat.elements import People
from ingest.corpora.mpchat.format import CORPUS, Talk
from ingest.keys import Keys, digest
from ingest.restatements import Restatements
from ingest.rows import Dialogue, Participant, Row, Turn

MAIN, OTHER = "main", "other"
_STATED = ("subreddit", "main_author", "message_ids", "created_utcs", "has_image", "direct_url", "file_name")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Talks:
    """All conversations of a build: one thread is published in up to three files."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._keys = Keys()
        self._restatements = Restatements()

    def assign(self, talk: Talk) -> tuple[str, bool, bool]:
        """Give the key of a conversation, whether it is new, and whether it has other words than the plain key's."""
        words = digest(*(part for said in zip(talk.authors, talk.messages, strict=True) for part in said))
        ids = talk.message_ids
        natural = f"{CORPUS}:{ids[0]}-{ids[-1]}" if isinstance(ids, list) else f"{CORPUS}:{words.hex()[:16]}"
        dialogue_id, is_new = self._keys.assign(natural, words)
        return dialogue_id, is_new, is_new and dialogue_id != natural

    def differs(self, dialogue_id: str, talk: Talk) -> Mapping[str, Any]:
        """Give everything but words that a record states of its conversation, if an earlier one stated otherwise."""
        said = {f"/{name}": value for name in _STATED if (value := getattr(talk, name)) is not UNSET}
        return self._restatements.differing(dialogue_id, said)

    def rows(self, dialogue_id: str, talk: Talk, rows: list[Row]) -> None:
        """Add the rows of a conversation that is published for the first time."""
        people = {name: self._people.id(name, rows) for name in dict.fromkeys(talk.authors)}
        turns = list(_turns(dialogue_id, talk, people))
        facts = {name: getattr(talk, name) for name in ("has_image", "direct_url", "file_name")}
        rows.append(
            Dialogue(
                dialogue_id=dialogue_id,
                corpus_id=CORPUS,
                domain=talk.subreddit if isinstance(talk.subreddit, str) else None,
                language="en",
                started_at=turns[0].said_at,
                extra=decode.dump({name: value for name, value in facts.items() if value is not UNSET}),
            )
        )
        for name, speaker_id in people.items():
            rows.append(Participant(dialogue_id, speaker_id, _role(talk, name)))
        rows += turns


def _turns(dialogue_id: str, talk: Talk, people: dict[str, str]) -> Iterator[Turn]:
    ids = talk.message_ids if isinstance(talk.message_ids, list) else None
    times = talk.created_utcs if isinstance(talk.created_utcs, list) else None
    for index, (author, text) in enumerate(zip(talk.authors, talk.messages, strict=True)):
        seconds = times[index] if times else None
        said_at = moment(seconds)
        is_exact = isinstance(seconds, float) and said_at is not None and repr(seconds_since(said_at)) == repr(seconds)
        yield Turn(
            dialogue_id=dialogue_id,
            turn_index=index,
            speaker_id=people[author],
            role=_role(talk, author),
            kind="message",
            text=text,
            native_id=ids[index] if ids else None,
            said_at=said_at,
            extra=decode.dump({"created_utc": seconds}) if times and not is_exact else None,
        )


def _role(talk: Talk, name: str) -> str:
    return MAIN if name == talk.main_author else OTHER


def moment(seconds: object) -> datetime | None:
    """Read seconds since 1970; None for what is no number or no time that a calendar has."""
    if not isinstance(seconds, int | float):
        return None
    try:
        return (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)
    except OverflowError:
        return None


def seconds_since(found: datetime) -> float:
    """Give a time back as seconds since 1970, to the microsecond."""
    return (found.replace(tzinfo=UTC) - _EPOCH).total_seconds()
