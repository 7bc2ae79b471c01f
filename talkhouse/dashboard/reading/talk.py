"""A conversation as people said it, as HTML: each turn on its speaker's side, with what belongs to it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from talkhouse.dashboard.reading.belongings import Belongings, Meanings, lists_html, parts_html, votes_html
from talkhouse.dashboard.reading.markup import marked, tag, text, when, who
from talkhouse.explore.items import ItemList, Votes, by_turn, spans_of
from talkhouse.explore.turn_parts import TurnPart, in_recording, parts_by_turn

_COLOURS = 6
_NOBODY = "system"
"""How a speaker looks who is neither a human nor a bot, such as a rule of the game."""

Matches = Mapping[int, list[tuple[int, int]]]
"""turn_index -> what is to be marked in the turn."""


def talk_html(found: dict[str, Any], matches: Matches, meanings: Meanings) -> str:
    """Return what ``show`` found: first what belongs to the whole, then turn by turn."""
    items = by_turn(found["records"], found["turns"])
    parts = parts_by_turn(found["turns"], found["parts"])
    whole = items.pop(None, [])
    looks = speaker_looks(found)
    body = _whole(whole, meanings)
    for turn in found["turns"]:
        index = turn["turn_index"]
        beside = _Beside(matches.get(index, []), items.pop(index, []), parts.get(index, []))
        body += _turn(turn, looks[speaker_key(turn)], beside, meanings)
    for index, rest in items.items():
        missing = tag("div", "index", str(index)) + tag("div", "said", tag("div", "text empty", "no turn"))
        body += tag("div", "turn", missing + _beside(rest, meanings))
    return tag("div", "talk", body)


def speaker_key(turn: Mapping[str, Any]) -> str:
    """Return what tells the speaker of a turn from others."""
    return str(turn["speaker_id"] or ", ".join(turn["speakers"] or ()) or turn["role"])


def speaker_looks(found: dict[str, Any]) -> dict[str, str]:
    """Return the classes of each speaker: a colour in the order of speaking, and of two the second on the right."""
    kinds = {one["speaker_id"]: one["kind"] for one in found["participants"]}
    keys = dict.fromkeys(map(speaker_key, found["turns"]))
    people = [key for key in keys if kinds.get(key) != "system"]
    looks = {key: f"s{index % _COLOURS}" for index, key in enumerate(people)}
    if len(people) == 2:
        looks[people[1]] += " right"
    return {key: looks.get(key, _NOBODY) for key in keys}


def _whole(items: Belongings, meanings: Meanings) -> str:
    shown = votes_html(items, meanings) + lists_html(items)
    return tag("div", "whole", shown) if shown else ""


class _Beside(NamedTuple):
    """What there is of a turn beside its text."""

    matches: list[tuple[int, int]]
    items: list[tuple[str, Votes | ItemList]]
    parts: list[TurnPart]


def _turn(turn: dict[str, Any], look: str, beside: _Beside, meanings: Meanings) -> str:
    spans = spans_of(beside.items, turn["text"])
    said = tag("div", "text", marked(turn["text"], beside.matches, spans), ' dir="auto"')
    if not turn["text"]:
        said = "" if beside.parts else tag("div", "text empty", "says nothing")
    index = tag("div", "index", str(turn["turn_index"]))
    inside = tag("div", "said", _head(turn) + said + parts_html(beside.parts))
    return tag("div", f"turn {look}", index + inside + _beside(beside.items, meanings))


def _head(turn: dict[str, Any]) -> str:
    speaker = ", ".join(turn["speakers"]) if turn["speakers"] else turn["speaker"]
    reply = "" if turn["reply_to"] is None else text("reply", f"\N{LEFTWARDS ARROW WITH HOOK} {turn['reply_to']}")
    place = in_recording(turn["start_ms"], turn["end_ms"])
    recorded = text("when", place) if place else ""
    return tag("div", "head", who(turn["role"], speaker, turn["kind"]) + reply + when(turn["said_at"]) + recorded)


def _beside(items: Belongings, meanings: Meanings) -> str:
    votes, lists = votes_html(items, meanings), lists_html(items)
    return (tag("div", "beside", votes) if votes else "") + (tag("div", "below", lists) if lists else "")
