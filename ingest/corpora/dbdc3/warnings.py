"""What is unusual about a log that is loaded all the same: rules DB-02 to DB-06, one finding per rule and kind."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from talkhouse.ingest.corpora.dbdc3.format import BotFamily, Label, Log, LogTurn
from talkhouse.ingest.outcomes import ReaderFinding

_ANNOTATORS = {"init100": (24,), "rest1046": (2, 3)}
"""Annotators of a turn in the parts of the chat dialogue corpus, by the publisher's README."""

_OF_A_CHALLENGE = (30,)
"""Annotators of a turn in every log of the challenges."""

LABELS = {"O", "T", "X"}
TASK = "breakdown_detection"


def warnings(
    log: Log, stem: str, subset: str | None, bot: BotFamily | None, *, has_background: bool
) -> Iterator[ReaderFinding]:
    """List the findings of one log; ``stem`` is its file's name without the ending."""
    yield from _labels(log)
    dialogue_id, turns = log["dialogue-id"], log["turns"]
    if stem != dialogue_id:
        detail = f"the file is named {stem}, its dialogue-id is {dialogue_id}"
        yield ReaderFinding("DB-03", detail, pointer="/dialogue-id")
    annotators = [[label.get("annotator-id") for label in _votes(turn)] for turn in turns]
    for rule, what, is_unusual in _unusual_turns(_ANNOTATORS.get(subset or "", _OF_A_CHALLENGE)):
        indexes = [index for index, turn in enumerate(turns) if is_unusual(index, turn, annotators[index])]
        if indexes:
            shown = ", ".join(map(str, indexes[:10])) + (" ..." if len(indexes) > 10 else "")
            detail = f"{what}: {len(indexes)} of {len(turns)} turns ({shown})"
            yield ReaderFinding(rule, detail, pointer=f"/turns/{indexes[0]}", turn_index=indexes[0])
    if bot and bot.name == "CIC" and not has_background:
        yield ReaderFinding("DB-06", f"no background paragraph ({dialogue_id}.log.context) for this CIC dialogue")


def _labels(log: Log) -> Iterator[ReaderFinding]:
    """DB-02: turns that make no example since no label is known, and single unknown labels."""
    for index, turn in enumerate(log["turns"]):
        labels = {label["breakdown"] for label in _votes(turn)}
        unknown = sorted(labels - LABELS, key=str)
        if not unknown:
            continue
        pointer = f"/turns/{index}/annotations"
        if LABELS.isdisjoint(labels):
            yield ReaderFinding("DB-02", f"no label is O, T or X but {unknown}", None, pointer, None, TASK, index)
        else:
            detail = f"labels outside O, T and X are not counted: {unknown}"
            yield ReaderFinding("DB-02", detail, pointer=pointer, turn_index=index, severity="warn")


def _votes(turn: LogTurn) -> list[Label]:
    """List the labels of a system turn; those of a user turn are DB-04's."""
    return [] if turn["speaker"] == "U" else turn.get("annotations") or []


class _UnusualTurn(NamedTuple):
    rule: str
    what: str
    is_unusual: Callable[[int, LogTurn, list[str | None]], bool]
    """Asked with the position of a turn, the turn, and the ids of those who labelled it."""


def _is_misnumbered(index: int, turn: LogTurn, _: object) -> bool:
    return "turn-index" not in turn or bytes(turn["turn-index"]) != str(index).encode()


def _repeats_annotator(_: int, __: LogTurn, annotators: list[str | None]) -> bool:
    known = list(filter(None, annotators))
    return len(set(known)) < len(known)


@cache
def _unusual_turns(annotators: tuple[int, ...]) -> tuple[_UnusualTurn, ...]:
    """List what is unusual about a turn where so many annotators are usual."""
    return (
        _UnusualTurn("DB-03", "turn-index is not the position", _is_misnumbered),
        _UnusualTurn("DB-04", "speaker neither U nor S", lambda _, turn, __: turn["speaker"] not in ("U", "S")),
        _UnusualTurn(
            "DB-04",
            "annotations on a user turn",
            lambda _, turn, __: turn["speaker"] == "U" and bool(turn.get("annotations")),
        ),
        _UnusualTurn(
            "DB-05",
            f"other than {' or '.join(map(str, annotators))} annotations",
            lambda _, __, found: len(found) not in (0, *annotators),
        ),
        _UnusualTurn("DB-05", "an annotator twice", _repeats_annotator),
        _UnusualTurn("DB-05", "annotations without annotator-id", lambda _, __, found: not all(found)),
        _UnusualTurn("DB-06", "empty utterance", lambda _, turn, __: turn["utterance"] == ""),
        _UnusualTurn(
            "DB-06",
            "a system turn without annotations",
            lambda index, turn, found: index > 0 and turn["speaker"] != "U" and not found,
        ),
    )
