"""A dialogue to its rows: dialogue, people, turns; and what a later record states otherwise of it."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import UNSET

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.mpchat.format import CORPUS, SourceDialogue
from talkhouse.ingest.keys import Keys, digest
from talkhouse.ingest.outcomes import ReaderFinding
from talkhouse.ingest.restatements import Restatements
from talkhouse.ingest.rows import Dialogue, Participant, Row, Speaker, Turn

MAIN, OTHER = "main", "other"
_STATED = ("subreddit", "main_author", "message_ids", "created_utcs", "has_image", "direct_url", "file_name")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class People:
    """Everybody who was named so far."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def id(self, name: str, rows: list[Row]) -> str:
        """Return the key of a person; the first time, add the row."""
        key = f"{CORPUS}:{name}"
        if key not in self._known:
            self._known.add(key)
            rows.append(Speaker(key, CORPUS, name, name, "human", is_anonymous=False))
        return key


class Dialogues:
    """All dialogues of a build: one thread is published in up to three files."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._keys = Keys()
        self._restatements = Restatements()

    def add(self, dialogue: SourceDialogue, rows: list[Row]) -> tuple[str, list[ReaderFinding]]:
        """Return the key of a dialogue, and a finding if it has other words than the plain key's; add rows if new."""
        words = digest(*(part for said in zip(dialogue.authors, dialogue.messages, strict=True) for part in said))
        ids = dialogue.message_ids
        natural = f"{CORPUS}:{ids[0]}-{ids[-1]}" if isinstance(ids, list) else f"{CORPUS}:{words.hex()[:16]}"
        dialogue_id, is_new = self._keys.assign(natural, words)
        if not is_new:
            return dialogue_id, []
        self._rows(dialogue_id, dialogue, rows)
        if dialogue_id == natural:
            return dialogue_id, []
        detail = f"other words than an earlier thread with these first and last messages; kept as {dialogue_id}"
        return dialogue_id, [ReaderFinding("MP-12", detail)]

    def differing(self, dialogue_id: str, dialogue: SourceDialogue) -> Mapping[str, Any]:
        """Return what a record states of its dialogue beside the words, if an earlier one stated it otherwise."""
        stated = {f"/{name}": value for name in _STATED if (value := getattr(dialogue, name)) is not UNSET}
        return self._restatements.differing(dialogue_id, stated)

    def _rows(self, dialogue_id: str, dialogue: SourceDialogue, rows: list[Row]) -> None:
        people = {name: self._people.id(name, rows) for name in dict.fromkeys(dialogue.authors)}
        turns = list(_turns(dialogue_id, dialogue, people))
        facts = {name: getattr(dialogue, name) for name in ("has_image", "direct_url", "file_name")}
        rows.append(
            Dialogue(
                dialogue_id=dialogue_id,
                corpus_id=CORPUS,
                domain=dialogue.subreddit if isinstance(dialogue.subreddit, str) else None,
                language="en",
                started_at=turns[0].said_at,
                extra=decode.dump({name: value for name, value in facts.items() if value is not UNSET}),
            )
        )
        for name, speaker_id in people.items():
            rows.append(Participant(dialogue_id, speaker_id, _role(dialogue, name)))
        rows += turns


def _turns(dialogue_id: str, dialogue: SourceDialogue, people: dict[str, str]) -> Iterator[Turn]:
    ids = dialogue.message_ids if isinstance(dialogue.message_ids, list) else None
    times = dialogue.created_utcs if isinstance(dialogue.created_utcs, list) else None
    for index, (author, text) in enumerate(zip(dialogue.authors, dialogue.messages, strict=True)):
        seconds = times[index] if times else None
        said_at = _time(seconds)
        is_exact = isinstance(seconds, float) and said_at is not None and repr(seconds_since(said_at)) == repr(seconds)
        yield Turn(
            dialogue_id=dialogue_id,
            turn_index=index,
            speaker_id=people[author],
            role=_role(dialogue, author),
            kind="message",
            text=text,
            native_id=ids[index] if ids else None,
            said_at=said_at,
            extra=decode.dump({"created_utc": seconds}) if times and not is_exact else None,
        )


def _role(dialogue: SourceDialogue, name: str) -> str:
    return MAIN if name == dialogue.main_author else OTHER


def _time(seconds: object) -> datetime | None:
    """Return the time so many seconds after 1970; None for what is no number or no time that a calendar has."""
    if not isinstance(seconds, int | float):
        return None
    try:
        return (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)
    except OverflowError:
        return None


def seconds_since(time: datetime) -> float:
    """Return a time as seconds since 1970, to the microsecond."""
    return (time.replace(tzinfo=UTC) - _EPOCH).total_seconds()
