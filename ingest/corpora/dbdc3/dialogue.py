"""One log to the rows of its dialogue and of its labels; which bot it is with."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from talkhouse.ingest import decode
from talkhouse.ingest.corpora.dbdc3.format import Label, Log, LogTurn
from talkhouse.ingest.rows import ColumnBatch, Dialogue, Participant, Record, Row, Speaker, Turn


class Family(NamedTuple):
    """A family of bots: its name, its language, and patterns of dialogue ids and of subsets, lower case."""

    name: str
    language: str
    ids: str
    subsets: str


# TKTK_100 and json_data_100 are the same bot, and DCM's is that of the chat dialogue corpus. Japanese dialogue ids are
# bare numbers.
FAMILIES = (
    Family("IRIS", "en", r"iris_\d+", r"iris(_.*|\d.*)?"),
    Family("TickTock", "en", r"(ticktock|tktk)_?\d+", r"(tktk|ticktock)(_.*|\d.*)?|json_data_100"),
    Family("CIC", "en", r"cic\d+", r"cic(_.*|\d.*)?"),
    Family("YI", "en", r"yit?\d+", r"yi(_.*|\d.*)?"),
    Family("DCM", "ja", r"", r"dcm(_.*|\d.*)?|init100|rest1046"),
    Family("DIT", "ja", r"", r"dit(_.*|\d.*)?"),
    Family("IRS", "ja", r"", r"irs(_.*|\d.*)?"),
)


def family(dialogue_id: str, subset: str | None) -> Family | None:
    """Find the family of bots that a dialogue is with in the fixed table; None where it is none of them."""
    by_id = (one for one in FAMILIES if re.fullmatch(one.ids, dialogue_id.lower()))
    by_subset = (one for one in FAMILIES if re.fullmatch(one.subsets, (subset or "").lower()))
    return next(by_id, None) or next(by_subset, None)


CORPUS = "dbdc3"
BREAKDOWN = "dbdc3.breakdown"
UNGRAMMATICAL = "dbdc3.ungrammatical"
_ONE, _BOTH = (BREAKDOWN,), (BREAKDOWN, UNGRAMMATICAL)
ROLES = {"U": "user", "S": "system"}

_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)


def speakers(dialogue_id: str, log: Log, bot: Family | None) -> tuple[Speaker, Speaker]:
    """Make the person and the bot; both are known only within the dialogue where no id tells who they are."""
    native = log.get("speaker-id")
    user_id = f"{CORPUS}:user/{bot.name if bot else 'other'}/{native}" if native else f"{dialogue_id}/user"
    bot_id = f"{CORPUS}:bot/{bot.name}" if bot else f"{dialogue_id}/system"
    user = Speaker(user_id, CORPUS, native, None, "human", is_anonymous=not native)
    return user, Speaker(bot_id, CORPUS, None, bot.name if bot else None, "bot", is_anonymous=bot is None)


def dialogue_rows(
    dialogue_id: str, log: Log, both: Sequence[tuple[Speaker, bool]], language: str | None, background: str | None
) -> Iterator[Row]:
    """List the rows of a dialogue that is published for the first time; of its two speakers those that are new."""
    (user, _), (system, _) = both
    turns = [_turn(dialogue_id, index, turn, user, system) for index, turn in enumerate(log["turns"])]
    extra: dict[str, Any] = {} if background is None else {"background": background}
    if log.get("group-id", "") != "":
        extra["group-id"] = log["group-id"]
    yield Dialogue(
        dialogue_id=dialogue_id,
        corpus_id=CORPUS,
        native_id=log["dialogue-id"],
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
    speaker, said_at = turn["speaker"], _time(turn.get("time"))
    extra: dict[str, Any] = {}
    if speaker not in ROLES:
        extra["speaker"] = speaker
    if "turn-index" in turn and bytes(turn["turn-index"]) != str(index).encode():
        extra["turn-index"] = turn["turn-index"]
    if said_at is None and turn.get("time", "") != "":
        extra["time"] = turn["time"]
    return Turn(
        dialogue_id=dialogue_id,
        turn_index=index,
        speaker_id=(user if speaker == "U" else system).speaker_id,
        role=ROLES.get(speaker, "system"),
        kind="message",
        text=turn["utterance"],
        native_id=turn.get("annotation-id"),
        said_at=said_at,
        extra=decode.dump(extra),
    )


def _time(text: str | None) -> datetime | None:
    """Read a time only where the column gives it back to the letter."""
    if not text or not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def label_batches(record: Record, log: Log) -> Iterator[ColumnBatch]:
    """Make the rows of all labels, one per annotator and scheme; nothing where there are none."""
    rows = [
        (index, annotator, scheme, label)
        for index, turn in enumerate(log["turns"])
        for annotator, label in enumerate(turn.get("annotations") or ())
        for scheme in (_BOTH if label.get("ungrammatical-sentence") else _ONE)
    ]
    if not rows:
        return
    turn_index, annotator_index, schemes, labels = map(list, zip(*rows, strict=True))
    yield record.annotations(
        turn_index=turn_index,
        scheme=schemes,
        annotator_index=annotator_index,
        annotator_id=[label.get("annotator-id", "") for label in labels],
        label=[
            label["breakdown"] if scheme == BREAKDOWN else label["ungrammatical-sentence"]
            for scheme, label in zip(schemes, labels, strict=True)
        ],
        extra=[
            # Nearly all labels have no comment and no null.
            _label_extra(scheme, label) if label.get("comment") or None in label.values() else None
            for scheme, label in zip(schemes, labels, strict=True)
        ],
    )


def _label_extra(scheme: str, label: Label) -> str | None:
    """Keep a comment, and nulls where the format has empty texts, with the row that every label has."""
    extra: dict[str, Any] = {}
    if scheme == BREAKDOWN and label.get("comment", "") != "":
        extra["comment"] = label["comment"]
    if scheme == BREAKDOWN and label.get("ungrammatical-sentence", "") is None:
        extra["ungrammatical-sentence"] = None
    return decode.dump(extra)
