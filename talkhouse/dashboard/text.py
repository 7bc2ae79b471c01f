"""Texts of corpora and conversations on a page: nothing in them is Markdown, HTML or an action."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any

import streamlit as st

from talkhouse.dialogues.turns import NamedSpan, pieces
from talkhouse.escaping import address, visible
from talkhouse.escaping import plain as plain
from talkhouse.html_pages import environment
from talkhouse.search.containing import Hit, ShownTurn, with_neighbours

_LEADING = re.compile(r"https?://|[^:]*([?#/]|$)", re.IGNORECASE)
"""The prefixes of addresses that links may have: of the web, or of Talkhouse's pages."""


def html(text: str, *, lines: bool = True) -> str:
    """Return a text for ``st.html``: escaped, control and hidden characters written out; ``lines`` keeps line ends."""
    return escape(visible(text, lines=lines))


def draw_columns(columns: Mapping[str, Sequence[str]]) -> None:
    """Draw columns of Markdown by their titles as a table with lines between its rows."""
    st.table(columns, border="horizontal", hide_index=True)


def linked(text: str, url: str | None) -> str:
    """Return a text as Markdown, which leads to an address if there is one that a link may have."""
    if not url:
        return plain(text)
    return f"[{plain(text)}](<{address(url)}>)" if _LEADING.match(url) else plain(f"{text} ({url})")


_BEFORE, _AFTER = 120, 400
"""Characters around a match that a list shows of a turn."""


def style(module: str, name: str) -> str:
    """Return the style sheet ``<name>.css`` next to a module as HTML, for what stands on a page behind it."""
    return f"<style>\n{Path(module).with_name(f'{name}.css').read_text(encoding='utf-8')}</style>\n"


def macros(
    module: str,
    name: str,
    *,
    tests: Mapping[str, Callable[[Any], bool]] = MappingProxyType({}),
    filters: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
    **names: Any,
) -> Any:
    """Return the macros of the template ``<name>.html`` next to a module, in which these names stand for something.

    Texts in them are escaped as ``html`` does it; the filter ``line`` writes out the ends of lines too, as attributes
    need it.
    """
    env = environment(Path(module).parent)
    env.filters.update(line=visible, **filters)
    env.tests.update(tests)
    env.globals.update(names)
    return env.get_template(f"{name}.html").module


def tag(name: str, kind: str, content: str, attributes: str = "") -> str:
    """Return an element with a class; its content is HTML."""
    return f'<{name} class="{kind}"{attributes}>{content}</{name}>'


def text(kind: str, content: str) -> str:
    """Return a text of a corpus in its own direction."""
    return tag("span", kind, html(content), ' dir="auto"')


def facts(values: Iterable[str | None]) -> str:
    """Return short facts in one line; unknown ones are left out."""
    return tag("div", "facts", "".join(text("fact", value) for value in values if value))


def marked(content: str, matches: Sequence[tuple[int, int]], spans: Sequence[NamedSpan] = ()) -> str:
    """Return a text with its matches marked, and spans underlined that have a name; they may overlap."""
    shown = ""
    for piece, names in pieces(content, [*(NamedSpan(*match, "") for match in matches), *spans]):
        inside = html(piece)
        if "" in names:
            inside = tag("mark", "match", inside)
        if titles := "; ".join(filter(None, names)):
            inside = tag("span", "span", inside, f' title="{html(titles, lines=False)}"')
        shown += inside
    return shown


def snippet(content: str, matches: Sequence[tuple[int, int]], at: int) -> str:
    """Return the snippet of a text around a position, its matches marked."""
    begin = max(at - _BEFORE, 0)
    end = begin + _BEFORE + _AFTER
    seen = [(max(first, begin), min(last, end)) for first, last in matches if first < end and last > begin]
    cut = [(first - begin, last - begin) for first, last in seen]
    return ("… " if begin else "") + marked(content[begin:end], cut) + (" …" if end < len(content) else "")


def who(role: str, speaker: str | None, kind: str) -> str:
    """Return the speaker of a turn: name and role, and the kind of turn unless it is a message."""
    name = text("speaker", speaker or role)
    about = [fact for fact in (role if speaker not in (None, role) else "", kind if kind != "message" else "") if fact]
    return name + "".join(text("role", fact) for fact in about)


def when(said_at: datetime | None) -> str:
    """Return the time of a turn, as published."""
    return tag("time", "when", f"{said_at:%Y-%m-%d %H:%M:%S}") if said_at else ""


def turns_found(hits: list[Hit], found: int, address: Callable[[int], str]) -> str:
    """Return the turns of one dialogue that were found, with those around them, and the number of further ones.

    ``address``: that of a turn.
    """
    lines, previous = "", None
    for hit, turn in with_neighbours(hits):
        if previous is not None and turn.turn_index > previous + 1:
            lines += tag("div", "gap", "⋯")
        previous = turn.turn_index
        lines += _line(turn, address(turn.turn_index), is_hit=hit is turn)
    if found > len(hits):
        lines += tag("div", "more", f"{found - len(hits):,} more in this dialogue")
    return tag("div", "found", lines)


def _line(turn: ShownTurn, address: str, *, is_hit: bool) -> str:
    shown = snippet(turn.text, turn.matches, turn.matches[0][0] if turn.matches else 0)
    number = f'<a href="{html(address, lines=False)}" title="Open at this turn">{turn.turn_index}</a>'
    head = tag("span", "index", number) + who(turn.role, turn.speaker, turn.kind)
    return tag("div", "line hit" if is_hit else "line", head + tag("span", "said", shown, ' dir="auto"'))
