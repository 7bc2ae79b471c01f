"""Dialogues on their way in, however a file holds them: turns, parts, candidates, and how turns follow one another."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from heapq import heappop, heappush

from msgspec import Raw, Struct

from talkhouse.ingest.declared.shapes import Members, kind_of, text_of
from talkhouse.ingest.outcomes import ReaderFinding


class ParsedPart(Struct, gc=False):
    """A part of a turn, as ``main.parts`` has it; offsets are code points of the turn's text."""

    field: str
    kind: str
    start_index: int | None = None
    end_index: int | None = None
    name: str | None = None
    call_id: str | None = None
    arguments: str | None = None
    """JSON text, verbatim."""
    uri: str | None = None
    mime_type: str | None = None
    text: str | None = None
    shape: Mapping[str, object] | None = None
    """How the object is written (``shapes``), or None if the part is no object."""
    extra: dict[str, Raw] | None = None


class ParsedTurn(Struct, gc=False):
    """A turn, as a format found it."""

    role: str
    """Ours, by ``[roles]``."""
    text: str
    pointer: str
    """Where it is inside the record: ``/messages/3``."""
    kind: str = "message"
    speaker: str | None = None
    """The name or id that the file gives, or None if nothing names one."""
    is_bot: bool | None = None
    speaker_name: str | None = None
    native_id: str | None = None
    said_at: datetime | None = None
    reply_to: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    shape: Mapping[str, object] | None = None
    """How the object is written, or None if the turn is no object of its own."""
    extra: dict[str, Raw] | None = None
    parts: list[ParsedPart] | None = None


class ParsedCandidate(Struct, gc=False):
    """A candidate: one message of an answer that is preferred or not (``main.candidates``)."""

    turn_index: int | None
    """The first turn of the chosen answer, or None if that has none."""
    position: int
    """0: chosen, 1: rejected; of several answers their order in the file."""
    item_index: int
    text: str
    is_gold: bool | None
    pointer: str
    """Where the message is inside the record."""
    source: str | None = None
    shape: Mapping[str, object] | None = None
    """How the message's object is written (level "candidate"), or None if it is no object, or a turn has it."""
    extra: dict[str, Raw] | None = None


class ParsedDialogue(Struct):
    """What a record becomes."""

    turns: list[ParsedTurn]
    candidates: list[ParsedCandidate] = []
    taken: dict[str, str | None] = {}
    """What ``SplitObject.shape`` takes: the format's own placeholders of the record."""
    extra: dict[str, Raw] = {}
    """What else the record's ``extra`` has to have so that it can be written; names of ``shapes.RESERVED`` only."""
    findings: list[ReaderFinding] = []
    """Their pointers are inside the record."""
    response: int | None = None
    """The turn that labels ``on = "response"`` are about."""
    left_out: list[str] = []
    """Where messages stand that are no turns, since they have no text."""
    messages: Mapping[int, Members] = {}
    """Turn index -> the members of its object, for labels inside; empty where no turn is an object."""


def text_or_aside(raw: Raw, at: str, what: str, findings: list[ReaderFinding]) -> tuple[str, str] | None:
    """Return a text or literal as ``text_of`` does; None for a list or object, which is left out: a finding says so."""
    if bytes(raw)[:1] not in (b"{", b"["):
        return text_of(raw, at, what)
    findings.append(set_aside(f"{what} is {kind_of(raw)}, not a text", at))
    return None


def set_aside(detail: str, at: str) -> ReaderFinding:
    """Return the finding for a field of another type that stays in ``extra``: the dialogue is loaded without it."""
    return ReaderFinding("GF-01", detail, pointer=at, severity="warn")


def places_behind(targets: list[int | None]) -> list[int]:
    """Return the places of turns in which each stands behind what it replies to, and else as before.

    ``targets`` are the turns that turns reply to, never in a loop.
    """
    answers = defaultdict[int | None, list[int]](list)
    for turn, target in enumerate(targets):
        answers[target].append(turn)
    free = answers[None]
    places: dict[int, int] = {}
    while free:
        turn = heappop(free)
        places[turn] = len(places)
        for answer in answers[turn]:
            heappush(free, answer)
    return [places[turn] for turn in range(len(targets))]


def in_loops(targets: list[int | None]) -> list[bool]:
    """Find the turns from which following the replies leads back to them, in time that grows with their number."""
    in_loop = [False] * len(targets)
    seen_from = [-1] * len(targets)
    for start in range(len(targets)):
        turn: int | None = start
        while turn is not None and seen_from[turn] < 0:
            seen_from[turn] = start
            turn = targets[turn]
        if turn is not None and seen_from[turn] == start:
            while turn is not None and not in_loop[turn]:
                in_loop[turn] = True
                turn = targets[turn]
    return in_loop


NO_TEXT = "GF-22"
"""The rule that such a turn breaks."""
