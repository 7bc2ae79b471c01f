"""Texts of corpora and conversations on a page: nothing in them is Markdown, HTML or an action."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from html import escape
from itertools import pairwise

from talkhouse.explore.search import Hit, ShownTurn, with_neighbours
from talkhouse.visible import address, visible
from talkhouse.visible import plain as plain

_LEADING = re.compile(r"https?://|[^:]*([?#/]|$)", re.IGNORECASE)
"""How an address begins that a link may have: of the web, or of a page of ours."""


def html(text: str, *, lines: bool = True) -> str:
    """Return a text for ``st.html``: escaped, with what acts or hides written out; ``lines`` keeps line ends."""
    return escape(visible(text, lines=lines))


def linked(text: str, url: str | None) -> str:
    """Return a text as Markdown, which leads to an address if there is one that a link may have."""
    if not url:
        return plain(text)
    return f"[{plain(text)}](<{address(url)}>)" if _LEADING.match(url) else plain(f"{text} ({url})")


_BEFORE, _AFTER = 120, 400
"""Characters around a match that a list shows of a turn."""


def tag(name: str, kind: str, content: str, attributes: str = "") -> str:
    """Return an element with a class; its content is HTML."""
    return f'<{name} class="{kind}"{attributes}>{content}</{name}>'


def text(kind: str, content: str) -> str:
    """Return a text of a corpus in its own direction."""
    return tag("span", kind, html(content), ' dir="auto"')


def facts(values: Iterable[str | None]) -> str:
    """Return short facts in one line; those that are not known are left out."""
    return tag("div", "facts", "".join(text("fact", value) for value in values if value))


def marked(content: str, matches: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int, str]] = ()) -> str:
    """Return a text with its matches marked, and spans underlined that have a name; they may overlap."""
    cuts = {0, len(content), *(cut for match in matches for cut in match), *(cut for span in spans for cut in span[:2])}
    shown = ""
    for begin, end in pairwise(sorted(cuts)):
        piece = html(content[begin:end])
        if any(first <= begin and end <= last for first, last in matches):
            piece = tag("mark", "match", piece)
        if names := [name for first, last, name in spans if first <= begin and end <= last]:
            piece = tag("span", "span", piece, f' title="{html("; ".join(names), lines=False)}"')
        shown += piece
    return shown


def snippet(content: str, matches: Sequence[tuple[int, int]], at: int) -> str:
    """Return what a list shows of a text, its matches marked, around a position in it."""
    begin = max(at - _BEFORE, 0)
    end = begin + _BEFORE + _AFTER
    seen = [(max(first, begin), min(last, end)) for first, last in matches if first < end and last > begin]
    cut = [(first - begin, last - begin) for first, last in seen]
    return ("… " if begin else "") + marked(content[begin:end], cut) + (" …" if end < len(content) else "")


def who(role: str, speaker: str | None, kind: str) -> str:
    """Return who says a turn: name and role, and the kind of turn unless it is a message."""
    name = text("speaker", speaker or role)
    about = [one for one in (role if speaker not in (None, role) else "", kind if kind != "message" else "") if one]
    return name + "".join(text("role", one) for one in about)


def when(said_at: datetime | None) -> str:
    """Return when a turn was said, as published."""
    return tag("time", "when", f"{said_at:%Y-%m-%d %H:%M:%S}") if said_at else ""


def turns_found(hits: list[Hit], found: int, address: Callable[[int], str]) -> str:
    """Return the turns of one dialogue that were found, with those around them, and how many more there are.

    ``address``: that of a turn.
    """
    lines, previous = "", None
    for hit, turn in with_neighbours(hits):
        if previous is not None and turn.turn_index > previous + 1:
            lines += tag("div", "gap", "⋯")
        previous = turn.turn_index
        lines += _line(turn, address(turn.turn_index), is_hit=hit is turn)
    if found > len(hits):
        lines += tag("div", "more", f"{found - len(hits):,} more in this conversation")
    return tag("div", "found", lines)


def _line(turn: ShownTurn, address: str, *, is_hit: bool) -> str:
    said = snippet(turn.text, turn.matches, turn.matches[0][0] if turn.matches else 0)
    number = f'<a href="{html(address, lines=False)}" title="Open at this turn">{turn.turn_index}</a>'
    head = tag("span", "index", number) + who(turn.role, turn.speaker, turn.kind)
    return tag("div", "line hit" if is_hit else "line", head + tag("span", "said", said, ' dir="auto"'))
