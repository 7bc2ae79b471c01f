"""One log to the rows of its dialogue and of its labels."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec import UNSET, Raw

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.dbdc3.bots import Family
from talkhouse.ingest.corpora.dbdc3.format import Label, Log, LogTurn
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Participant, Record, Row, Speaker, Turn

CORPUS = "dbdc3"
BREAKDOWN = "dbdc3.breakdown"
UNGRAMMATICAL = "dbdc3.ungrammatical"
ROLES = {"U": "user", "S": "system"}

_LABEL_COLUMNS = ("turn_index", "scheme", "annotator_index", "annotator_id", "label", "extra")

_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)


def speakers(dialogue_id: str, log: Log, bot: Family | None) -> tuple[Speaker, Speaker]:
    """Make the person and the bot; both are known only within the dialogue where no id tells who they are."""
    native = log.speaker_id if isinstance(log.speaker_id, str) else None
    user_id = f"{CORPUS}:user/{bot.name if bot else 'other'}/{native}" if native else f"{dialogue_id}/user"
    bot_id = f"{CORPUS}:bot/{bot.name}" if bot else f"{dialogue_id}/system"
    user = Speaker(user_id, CORPUS, native, None, "human", is_anonymous=not native)
    return user, Speaker(bot_id, CORPUS, None, bot.name if bot else None, "bot", is_anonymous=bot is None)


def dialogue_rows(
    dialogue_id: str, log: Log, both: Sequence[tuple[Speaker, bool]], language: str | None, background: str | None
) -> Iterator[Row]:
    """List the rows of a dialogue that is published for the first time; of its two speakers those that are new."""
    (user, _), (system, _) = both
    turns = [_turn(dialogue_id, index, turn, user, system) for index, turn in enumerate(log.turns)]
    extra: dict[str, Any] = {} if background is None else {"background": background}
    if log.group_id not in ("", UNSET):
        extra["group-id"] = log.group_id
    yield Dialogue(
        dialogue_id=dialogue_id,
        corpus_id=CORPUS,
        native_id=log.dialogue_id,
        language=language,
        started_at=turns[0].said_at if turns else None,
        extra=decode.dump(extra),
    )
    for (speaker, is_new), role in zip(both, ("user", "system"), strict=True):
        if is_new:
            yield speaker
        yield Participant(dialogue_id, speaker.speaker_id, role)
    yield from turns


def _turn(dialogue_id: str, index: int, turn: LogTurn, user: Speaker, system: Speaker) -> Turn:
    """Make one turn; the challenge's script takes every speaker but U for the system."""
    said_at = _time(turn.time)
    extra: dict[str, Any] = {}
    if turn.speaker not in ROLES:
        extra["speaker"] = turn.speaker
    if isinstance(turn.turn_index, Raw) and bytes(turn.turn_index) != str(index).encode():
        extra["turn-index"] = turn.turn_index
    if turn.time is not UNSET and turn.time != "" and said_at is None:
        extra["time"] = turn.time
    return Turn(
        dialogue_id=dialogue_id,
        turn_index=index,
        speaker_id=(user if turn.speaker == "U" else system).speaker_id,
        role=ROLES.get(turn.speaker, "system"),
        kind="message",
        text=turn.utterance,
        native_id=turn.annotation_id if isinstance(turn.annotation_id, str) else None,
        said_at=said_at,
        extra=decode.dump(extra),
    )


def _time(text: object) -> datetime | None:
    """Read a time only where the column gives it back to the letter."""
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def label_batches(record: Record, log: Log) -> Iterator[ColumnBatch]:
    """Make the rows of all labels, one per annotator and scheme; nothing where there are none."""
    rows = [
        row
        for index, turn in enumerate(log.turns)
        for annotator, label in enumerate(turn.annotations or ())
        for row in _label_rows(index, annotator, label)
    ]
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        yield record.annotations(**dict(zip(_LABEL_COLUMNS, columns, strict=True)))


def _label_rows(turn_index: int, annotator: int, label: Label) -> Iterator[tuple[Any, ...]]:
    """List the values of ``_LABEL_COLUMNS``."""
    annotator_id = None if label.annotator_id is None else label.annotator_id or ""
    yield turn_index, BREAKDOWN, annotator, annotator_id, label.breakdown, _label_extra(label)
    if grammar := label.ungrammatical_sentence:
        yield turn_index, UNGRAMMATICAL, annotator, annotator_id, grammar, None


def _label_extra(label: Label) -> str | None:
    """Keep a comment, and nulls where the format has empty texts."""
    if not label.comment and label.comment is not None and label.ungrammatical_sentence is not None:
        return None
    extra: dict[str, Any] = {}
    if label.comment is not UNSET and label.comment != "":
        extra["comment"] = label.comment
    if label.ungrammatical_sentence is None:
        extra["ungrammatical-sentence"] = None
    return decode.dump(extra)
