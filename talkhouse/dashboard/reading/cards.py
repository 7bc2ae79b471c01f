"""Items of a text as cards, and turns that are drawn as one line, as HTML."""

from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

from talkhouse.charts.conversations import SPEAKER, Line
from talkhouse.dashboard.reading.markup import tag, text

_LONGEST = 2
"""Characters of what is drawn as a card: a letter or a number; anything longer is a word."""


def cards_html(items: str) -> str:
    """Return the items of a text, which a comma separates: letters and numbers as cards, words as they are."""
    return tag("span", "cards", " ".join(map(_card, _items(items))))


def lines_html(turns: Iterable[Mapping[str, Any]], declared: Iterable[Line]) -> dict[int, str]:
    """Return the turns that are drawn as a line: turn_index -> HTML; a text of another pattern is shown as it is."""
    by_kind = {line.kind: line for line in declared}
    found, listed = {}, list(turns)
    for kind, line in by_kind.items():
        of_kind = [turn for turn in listed if turn["kind"] == kind]
        for turn, groups in zip(of_kind, line.matched([turn["text"] for turn in of_kind]), strict=True):
            if groups is not None:
                found[turn["turn_index"]] = tag("div", "text line", _sentence(line, groups, turn))
    return found


def _sentence(line: Line, groups: Mapping[str, str], turn: Mapping[str, Any]) -> str:
    shown = ""
    for words, name, _, _ in Formatter().parse(line.sentence):
        shown += text("say", words)
        if name == SPEAKER:
            shown += text("name", turn["speaker"] or turn["role"])
        elif name is not None:
            items = groups[name]
            shown += cards_html(items) if _items(items) else text("say", line.nothing)
    return shown


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _card(item: str) -> str:
    return text("card" if len(item) <= _LONGEST else "word", item)
