"""What the page shows, all of it in the URL: choices, search, page, and the conversation that is open."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from talkhouse.dashboard import links
from talkhouse.dashboard.reading.selection import FACETS, MIXED, ORDERS, ConversationSelection, Facet
from talkhouse.explore.search import Pattern

MOST_NEIGHBOURS = 5


@dataclass(frozen=True)
class ReadState:
    """One state of the page; fields that are not facets are named as in the URL."""

    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Facet -> its chosen values; a facet without any is left out."""
    text: str = ""
    regex: bool = False
    match_case: bool = False
    neighbours: int = 1
    sort: str = MIXED
    """The order of the list, one of ``ORDERS``."""
    page: int = 1
    filters: bool = False
    """Whether the facets are shown on a narrow screen."""
    more: str = ""
    """The facet of which all values are shown."""
    dialogue: str = ""
    turn: int = -1
    """The turn_index at which the conversation opens; -1: at its beginning."""
    compare: bool = False
    """Whether all publications of a conversation are shown side by side, or its default one alone."""
    record: str = ""
    source: str = ""
    """The record, or place of one as FILE#POINTER, that is shown as published."""

    @property
    def selection(self) -> ConversationSelection:
        """The conversations that are listed."""
        return ConversationSelection(self.choices, self.pattern, self.sort)

    @property
    def pattern(self) -> Pattern | None:
        """What is searched for."""
        return Pattern(self.text, self.regex, self.match_case) if self.text else None

    def toggled(self, facet: Facet, value: str) -> "ReadState":
        """Return the state with one more choice, or one less, on its first page."""
        chosen = self.choices.get(facet.name, ())
        values = tuple(one for one in chosen if one != value) if value in chosen else (*chosen, value)
        others = {name: those for name, those in self.choices.items() if name != facet.name}
        return replace(self, choices=others | ({facet.name: values} if values else {}), page=1)

    def opened(self, *, dialogue: str = "", record: str = "", turn: int | None = None) -> "ReadState":
        """Return the state with one conversation open, perhaps at a turn; with none, the list that it is in."""
        return replace(self, dialogue=dialogue, record=record, source="", turn=-1 if turn is None else turn)

    def shown(self, **fields: Any) -> "ReadState":
        """Return the state with other values of some fields."""
        return replace(self, **fields)

    def query(self) -> dict[str, list[str]]:
        """Return the parameters of the URL; what is as by default is left out."""
        found = {name: list(values) for name, values in self.choices.items()}
        for name, default in _DEFAULTS.items():
            value = getattr(self, name)
            if value != default:
                found[name] = ["1" if value is True else str(value)]
        return found

    @property
    def address(self) -> str:
        """The address of the page in this state."""
        parameters: dict[str, Any] = self.query()
        return links.read(**parameters)


_DEFAULTS = {
    name: getattr(ReadState(), name)
    for name in (
        "text",
        "regex",
        "match_case",
        "sort",
        "neighbours",
        "page",
        "filters",
        "more",
        "dialogue",
        "turn",
        "compare",
        "record",
        "source",
    )
}


def current() -> ReadState:
    """Read the state from the URL, and write the URL as it should be: a link within a page leaves it as it was."""
    choices = {facet.name: tuple(dict.fromkeys(st.query_params.get_all(facet.name))) for facet in FACETS}
    single: dict[str, Any] = {
        name: _read(st.query_params.get(name, ""), default) for name, default in _DEFAULTS.items()
    }
    state = ReadState({name: values for name, values in choices.items() if values}, **single)
    state = replace(
        state,
        neighbours=min(state.neighbours, MOST_NEIGHBOURS),
        page=max(state.page, 1),
        sort=state.sort if state.sort in ORDERS else MIXED,
    )
    st.query_params.from_dict(state.query())
    return state


def _read(text: str, default: object) -> object:
    if isinstance(default, bool):
        return text == "1"
    if isinstance(default, int):
        return int(text) if text.isdecimal() and len(text) < 10 else default
    return text


def link(here: st.Page, label: str, state: ReadState, **options: Any) -> None:
    """Draw a link to a state; the label is Markdown."""
    st.page_link(here, label=label, query_params=state.query(), **options)


def go(state: ReadState) -> None:
    """Show a state: for what is clicked, and is no link."""
    st.query_params.from_dict(state.query())


def draw(widget: Callable[..., Any], name: str, value: object, about: str | int, **options: Any) -> None:
    """Draw a widget that changes one field of the state."""
    key = f"read.{name}"
    st.session_state[key] = value  # what the URL says, also after going back
    widget(about, key=key, on_change=_change, args=(name,), **options)


def _change(name: str) -> None:
    state = replace(current(), **{name: st.session_state[f"read.{name}"]})
    st.query_params.from_dict((state if name in ("page", "compare") else replace(state, page=1)).query())
