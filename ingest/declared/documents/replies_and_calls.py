"""What the turns of a dialogue say of each other: ids, replies, and the results of tool calls."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from talkhouse.ingest.declared.declaration.model import TurnFields
from talkhouse.ingest.declared.documents.messages import Message
from talkhouse.ingest.declared.documents.parsed_record import Said, Talk
from talkhouse.ingest.decode import pointer
from talkhouse.ingest.outcomes import ReaderFinding


class Replies(NamedTuple):
    """What replies came to; turns are indexes."""

    to: Mapping[int, int]
    """Turn -> the turn that it replies to."""
    problems: Mapping[int, str]
    """Turn -> why its reply is none (GF-07)."""


def first_by_id(ids: Sequence[str | None]) -> tuple[dict[str, int], list[int]]:
    """Return the first turn of each id, and the later turns whose id is taken (GF-06)."""
    first: dict[str, int] = {}
    later = [
        turn
        for turn, native_id in enumerate(ids)
        if native_id is not None and first.setdefault(native_id, turn) != turn
    ]
    return first, later


def resolve(given: Mapping[int, str], first: Mapping[str, int]) -> Replies:
    """Find the turns that replies mean (``given``: turn -> id); one to nothing, or in a loop, is a problem."""
    to: dict[int, int] = {}
    problems: dict[int, str] = {}
    for turn, native_id in given.items():
        if native_id in first:
            to[turn] = first[native_id]
        else:
            problems[turn] = f"a reply to {native_id!r:.100}, which is no turn of the dialogue"
    for turn in list(_in_loops(to)):
        del to[turn]
        problems[turn] = f"a reply to {given[turn]!r:.100}, which replies to this turn in the end"
    return Replies(to, problems)


def _in_loops(to: Mapping[int, int]) -> Iterator[int]:
    """Yield the turns from which replies lead back to themselves."""
    walk_of: dict[int, int] = {}
    for start in to:
        turn = start
        while turn in to and turn not in walk_of:
            walk_of[turn] = start
            turn = to[turn]
        if walk_of.get(turn) == start:
            yield turn
            other = to[turn]
            while other != turn:
                yield other
                other = to[other]


def find_replies(messages: Mapping[int, Message], turn: TurnFields, talk: Talk) -> None:
    """Set the turns that messages reply to, by the ids of turns; ``messages``: turn index -> a turn's message."""
    first = find_same_ids(turn, talk)
    replies = resolve({index: message.reply.to for index, message in messages.items() if message.reply}, first)
    for index, target in replies.to.items():
        message = messages[index]
        message.said.reply_to = target
        message.taken["reply_to"] = "reply_to" + (message.reply.suffix if message.reply else "")
    forward = {index: f"a reply to the turn {target}" for index, target in replies.to.items() if target > index}
    for rule, found in (("GF-07", replies.problems), ("GF-19", forward)):
        for index, problem in found.items():
            at = talk.said[index].pointer + pointer(*turn.reply_to or ())
            talk.findings.append(ReaderFinding(rule, problem, pointer=at))


def find_same_ids(turn: TurnFields, talk: Talk) -> Mapping[str, int]:
    """Return the first turn of each id; GF-06 where another has the same."""
    first, later = first_by_id([said.native_id for said in talk.said])
    for index in later:
        said = talk.said[index]
        detail = f"the id {said.native_id!r:.100} is that of an earlier turn"
        talk.findings.append(ReaderFinding("GF-06", detail, pointer=said.pointer + pointer(*turn.id or ())))
    return first


def results_without_calls(turns: Iterable[Said]) -> Iterator[ReaderFinding]:
    """Yield GF-16 for each result of a call that none of the turns makes."""
    answers = [(said, piece) for said in turns for piece in said.parts or () if piece.call_id is not None]
    calls = {piece.call_id for _, piece in answers if piece.kind == "tool_call"}
    for said, piece in answers:
        if piece.kind == "tool_call_response" and piece.call_id not in calls:
            detail = f"nobody made the call {piece.call_id!r:.100}"
            yield ReaderFinding("GF-16", detail, pointer=said.pointer + pointer(piece.field))
