"""A conversation as people said it, as HTML: each turn on its speaker's side, with what belongs to it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from talkhouse.dashboard.reading.belongings import Belongings, is_bar, legend_html, lists_html, parts_html, votes_html
from talkhouse.dashboard.reading.declared import DeclaredParts
from talkhouse.dashboard.reading.publications import Column, columns_head, columns_of, compared_html
from talkhouse.dashboard.reading.schemes import Schemes
from talkhouse.dashboard.text import html, marked, tag, text, when, who
from talkhouse.explore.items import ItemList, TurnPart, Votes, by_turn, in_recording, parts_by_turn, spans_of

_COLOURS = 6
_NOBODY = "system"
"""How a speaker looks who is neither a human nor a bot, such as a rule of the game."""

Matches = Mapping[int, list[tuple[int, int]]]
"""turn_index -> what is to be marked in the turn."""


@dataclass(frozen=True)
class Reading:
    """How a conversation is read."""

    schemes: Schemes = field(default_factory=dict)
    matches: Matches = field(default_factory=dict)
    turn: int | None = None
    """The turn that is marked."""
    address: Callable[[int], str] | None = None
    """Gives the address of a turn; None: turns have no links to themselves."""
    compare: bool = False
    """Whether publications stand side by side."""
    told: DeclaredParts = field(default_factory=DeclaredParts)
    """What the corpus declares of its conversations."""


def talk_html(found: dict[str, Any], reading: Reading) -> str:
    """Return what ``show`` found: first what belongs to the whole, then turn by turn."""
    items = by_turn(found["records"], found["turns"])
    parts = parts_by_turn(found["turns"], found["parts"])
    votes = [shown for those in items.values() for _, shown in those if isinstance(shown, Votes)]
    columns = columns_of(items) if reading.compare else []
    page = _Page(reading, columns, speaker_looks(found))
    body = legend_html(votes, reading.schemes) + _whole(items.pop(None, []), page)
    body += columns_head(columns) if columns else ""
    for turn in found["turns"]:
        index = turn["turn_index"]
        beside = _Beside(reading.matches.get(index, []), items.pop(index, []), parts.get(index, []))
        body += _turn(turn, beside, page)
    for index, rest in items.items():
        missing = tag("div", "index", str(index)) + tag("div", "said", tag("div", "text empty", "no turn"))
        body += tag("div", "turn", missing + _beside(rest, page))
    kind = "talk" if len({one.name for one in votes if is_bar(one)}) > 1 else "talk sole"
    style = f' style="--columns:{len(columns)}"' if columns else ""
    return tag("div", f"{kind} compared" if columns else kind, body, style)


class _Page(NamedTuple):
    """What all turns of a conversation are drawn by."""

    reading: Reading
    columns: list[Column]
    looks: dict[str, str]


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


def _whole(items: Belongings, page: _Page) -> str:
    shown = votes_html(items, page.reading.schemes) + lists_html(items)
    return tag("div", "whole", shown) if shown else ""


class _Beside(NamedTuple):
    """What there is of a turn beside its text."""

    matches: list[tuple[int, int]]
    items: list[tuple[str, Votes | ItemList]]
    parts: list[TurnPart]


def _turn(turn: dict[str, Any], beside: _Beside, page: _Page) -> str:
    spans = spans_of(beside.items, turn["text"])
    said = tag("div", "text", marked(turn["text"], beside.matches, spans), ' dir="auto"')
    if not turn["text"]:
        said = "" if beside.parts else tag("div", "text empty", "says nothing")
    told = page.reading.told
    said = told.lines.get(turn["turn_index"], said) + told.notes.get(turn["turn_index"], "")
    inside = tag("div", "said", _head(turn) + said + parts_html(beside.parts))
    look, attributes = page.looks[speaker_key(turn)], f' id="turn-{turn["turn_index"]}"'
    if turn["turn_index"] == page.reading.turn:
        look, attributes = f"{look} here", f'{attributes} tabindex="-1" aria-current="true"'
    return tag(
        "div", f"turn {look}", _index(turn["turn_index"], page) + inside + _beside(beside.items, page), attributes
    )


def _index(turn_index: int, page: _Page) -> str:
    if page.reading.address is None:
        return tag("div", "index", str(turn_index))
    address = html(page.reading.address(turn_index), lines=False)
    return tag("div", "index", f'<a href="{address}" title="Address of this turn">{turn_index}</a>')


def _head(turn: dict[str, Any]) -> str:
    speaker = ", ".join(turn["speakers"]) if turn["speakers"] else turn["speaker"]
    reply = "" if turn["reply_to"] is None else text("reply", f"\N{LEFTWARDS ARROW WITH HOOK} {turn['reply_to']}")
    place = in_recording(turn["start_ms"], turn["end_ms"])
    recorded = text("when", place) if place else ""
    return tag("div", "head", who(turn["role"], speaker, turn["kind"]) + reply + when(turn["said_at"]) + recorded)


def _beside(items: Belongings, page: _Page) -> str:
    if page.columns:
        votes = compared_html(items, page.columns, page.reading.schemes)
    else:
        votes = votes_html(items, page.reading.schemes)
    lists = lists_html(items)
    return (tag("div", "beside", votes) if votes else "") + (tag("div", "below", lists) if lists else "")
