"""A conversation as people said it, as HTML: each turn on its speaker's side, with what belongs to it."""

from collections.abc import Mapping
from typing import Any

from talkhouse.dashboard.reading.belongings import Belongings, Meanings, lists_html, votes_html
from talkhouse.dashboard.reading.markup import marked, tag, when, who
from talkhouse.explore.items import by_turn

_COLOURS = 6
_NOBODY = "system"
"""How a speaker looks who is neither a human nor a bot, such as a rule of the game."""

Matches = Mapping[int, list[tuple[int, int]]]
"""turn_index -> what is to be marked in the turn."""


def talk_html(found: dict[str, Any], matches: Matches, meanings: Meanings) -> str:
    """Return what ``show`` found: first what belongs to the whole, then turn by turn."""
    items = by_turn(found["records"])
    whole = items.pop(None, [])
    looks = speaker_looks(found)
    body = _whole(whole, meanings)
    for turn in found["turns"]:
        index = turn["turn_index"]
        body += _turn(turn, looks[speaker_key(turn)], matches.get(index, []), items.pop(index, []), meanings)
    for index, rest in items.items():
        missing = tag("div", "index", str(index)) + tag("div", "said", tag("div", "text empty", "no turn"))
        body += tag("div", "turn", missing + _beside(rest, meanings))
    return tag("div", "talk", body)


def speaker_key(turn: Mapping[str, Any]) -> str:
    """Return what tells the speaker of a turn from others."""
    return str(turn["speaker_id"] or turn["role"])


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


def _turn(
    turn: dict[str, Any],
    look: str,
    matches: list[tuple[int, int]],
    items: Belongings,
    meanings: Meanings,
) -> str:
    said = tag("div", "text", marked(turn["text"], matches), ' dir="auto"')
    if not turn["text"]:
        said = tag("div", "text empty", "says nothing")
    head = tag("div", "head", who(turn["role"], turn["speaker"], turn["kind"]) + when(turn["said_at"]))
    index = tag("div", "index", str(turn["turn_index"]))
    return tag("div", f"turn {look}", index + tag("div", "said", head + said) + _beside(items, meanings))


def _beside(items: Belongings, meanings: Meanings) -> str:
    votes, lists = votes_html(items, meanings), lists_html(items)
    return (tag("div", "beside", votes) if votes else "") + (tag("div", "below", lists) if lists else "")
