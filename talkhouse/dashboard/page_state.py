"""The state of a page, all of it in its address: read from there, changed by widgets and links, and written back.

So are the days between which dialogues begin, on the pages that list them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from typing import Any, ClassVar, Self

import streamlit as st

from talkhouse.dashboard.warehouse import ServedWarehouse, Version
from talkhouse.schema.sql_files import sql_of

Parameters = Mapping[str, Sequence[str]]
"""The parameters of an address, each with its values."""


def parameters() -> dict[str, list[str]]:
    """Return the parameters of the address that is open."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


@dataclass(frozen=True)
class PageState:
    """The state of a page; its fields are named as in the address, and so are the facets of its choices.

    Widgets that stand alone bind themselves to the address (``bind="query-params"``). Those of a state do not: what one
    of them makes impossible changes with it, links lead to other states, and unknown parameters are dropped.
    """

    PAGE: ClassVar[str] = ""
    """The prefix of the keys of its widgets."""
    FACETS: ClassVar[tuple[str, ...]] = ()
    ON_THE_SAME_PAGE: ClassVar[frozenset[str]] = frozenset({"page"})
    """Fields after whose change a list stays at its page; after that of another it begins anew."""

    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Facet -> its chosen values; a facet without any is left out."""
    page: int = 1

    @classmethod
    def from_parameters(cls, parameters: Parameters) -> Self:
        """Return the state of an address, with defaults for impossible values."""
        values = {facet: tuple(dict.fromkeys(parameters.get(facet, ()))) for facet in cls.FACETS}
        asked: dict[str, Any] = {
            item.name: _read(parameters[item.name][-1], item.default)
            for item in fields(cls)
            if item.name != "choices" and parameters.get(item.name)
        }
        return cls(choices={facet: chosen for facet, chosen in values.items() if chosen}, **asked).checked()

    @classmethod
    def current(cls) -> Self:
        """Return the state of the address that is open."""
        return cls.from_parameters(parameters())

    def checked(self) -> Self:
        """Return the state with defaults for impossible values."""
        return replace(self, page=max(self.page, 1))

    def query(self) -> dict[str, list[str]]:
        """Return the parameters of the address; defaults are left out."""
        found = {facet: list(values) for facet, values in self.choices.items()}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name != "choices" and value != item.default:
                found[item.name] = ["1" if value is True else str(value)]
        return found

    def go(self) -> None:
        """Show the state. At the beginning of a run this corrects the address: a link within a page leaves the old."""
        st.query_params.from_dict(self.query())

    def shown(self, **values: Any) -> Self:
        """Return the state with other values of some fields."""
        return replace(self, **values)

    def toggled(self, facet: str, value: str) -> Self:
        """Return the state with one more choice, or one less, on its first page."""
        old = self.choices.get(facet, ())
        return self.chosen(facet, *([item for item in old if item != value] if value in old else (*old, value)))

    def chosen(self, facet: str, *values: str) -> Self:
        """Return the state with these values of a facet, on its first page."""
        others = {name: those for name, those in self.choices.items() if name != facet}
        return replace(self, choices=others | ({facet: values} if values else {}), page=1)

    def changed(self, name: str, value: Any) -> Self:
        """Return the state after a field, or the only value of a facet, has changed; None or "" is nothing."""
        if name in self.FACETS:
            return self.chosen(name, *([value] if value else []))
        value = "" if value is None else value
        return replace(self, **{"page": self.page if name in self.ON_THE_SAME_PAGE else 1, name: value})

    def link(self, here: st.Page, label: str, **options: Any) -> None:
        """Draw a link to the state; the label is Markdown."""
        st.page_link(here, label=label, query_params=self.query(), **options)

    def draw(self, widget: Callable[..., Any], name: str, about: object, **options: Any) -> Any:
        """Draw a widget that shows and changes a field; ``about``: what the widget takes first."""
        return self.draw_other(widget, name, getattr(self, name), about, **options)

    def draw_value(self, facet: str, value: str, label: str) -> None:
        """Draw a checkbox for a value; the label is Markdown."""
        key = f"{self.PAGE}.{facet}={value}"
        st.session_state[key] = value in self.choices.get(facet, ())  # what the address says, also after going back
        st.checkbox(label, key=key, on_change=self.toggled(facet, value).go, width="stretch")

    @classmethod
    def choose(
        cls,
        widget: Callable[..., Any],
        name: str,
        title: str,
        options: Sequence[str],
        usual: str | None = None,
        *,
        is_kept: bool = False,
        **how: Any,
    ) -> Any:
        """Draw a choice and return it; the usual one is left out of the address, unless it ``is_kept``."""
        state = cls.current()
        asked = next(iter(state.choices.get(name, ())), None) if name in cls.FACETS else getattr(state, name)
        value = asked if asked in options else usual
        if is_kept and value is not None and asked != value:
            state.shown(**{name: value}).go()
        return state.draw_other(widget, name, value, title, usual=None if is_kept else usual, options=options, **how)

    def draw_other(
        self, widget: Callable[..., Any], name: str, value: object, about: object, *, usual: object = None, **how: Any
    ) -> Any:
        """Draw a widget that shows another value than the field has, and changes it; ``usual`` is the default."""
        key = f"{self.PAGE}.{name}"
        st.session_state[key] = value  # what the address says, also after going back
        # The address is read again by then: several widgets may change at once.
        return widget(about, key=key, on_change=self._on_change, args=(name, usual), **how)

    @classmethod
    def _on_change(cls, name: str, usual: object) -> None:
        value = st.session_state[f"{cls.PAGE}.{name}"]
        cls.current().changed(name, None if value == usual else value).go()


@dataclass(frozen=True)
class FacetedState(PageState):
    """The state of a page with facets next to a list, each with its values to choose."""

    filters: bool = False
    """Whether the facets are shown on a narrow screen."""
    more: str = ""
    """The facet that shows all of its values."""

    def draw_filters_link(self, here: st.Page) -> None:
        """Draw the link that shows the facets on a narrow screen, with the number of chosen values."""
        chosen = sum(map(len, self.choices.values()))
        with st.container(key="facets-link", width="content"):
            label = f"Filters ({chosen})" if chosen else "Filters"
            self.shown(filters=not self.filters).link(here, label, icon=":material/filter_list:")

    def draw_values(
        self, here: st.Page, facet: str, labels: Mapping[str, str], counts: Mapping[str, int], few: int, of: str = ""
    ) -> None:
        """Draw the values of a facet, at first ``few`` of them and the chosen ones.

        ``labels``: value -> Markdown; ``counts``: value -> number of texts or conversations; ``of``: the group that
        the others are part of.
        """
        few, is_open = max(few, len(self.choices.get(facet, ()))), self.more == facet
        for value in list(labels)[: None if is_open else few]:
            self.draw_value(facet, value, f"{labels[value]} ({counts.get(value, 0):,})")
        if len(labels) > few:
            label = "Fewer" if is_open else f"{len(labels) - few:,} more"
            link = self.shown(more="" if is_open else facet)
            link.link(here, f":gray[{label}{of}]", icon=":material/more_horiz:", width="stretch")


def _read(text: str, default: object) -> object:
    if isinstance(default, bool):
        return text == "1"
    if isinstance(default, int):
        return int(text) if text.isdecimal() and len(text) < 10 else default
    return text


STARTS = sql_of(__file__, "dialogue_starts").strip()
"""The query of dialogue_id, corpus_id and started_at, which is that of bi.record_dialogues."""

_CONDITIONS = {"since": "started_at >= $since::date", "until": "started_at < $until::date + interval 1 day"}
_TITLES = {"since": "From", "until": "To"}


def conditions(days: Collection[str]) -> list[str]:
    """Return the SQL conditions of the days that are chosen, by their names."""
    return [_CONDITIONS[name] for name in days]


@dataclass(frozen=True)
class RangedState(PageState):
    """The state of a page whose dialogues begin between two days, both of them included."""

    since: str = ""
    until: str = ""
    """Days as ISO 8601 has them; empty: no bound."""

    def checked(self) -> Self:
        """Return the state with defaults for impossible values."""
        since, until = (str(_day(text) or "") for text in (self.since, self.until))
        return replace(super().checked(), since=since, until=until)

    @property
    def days(self) -> dict[str, str]:
        """The days that are chosen, by their names."""
        return {name: day for name in _TITLES if (day := getattr(self, name))}

    def draw_days(self, opened: ServedWarehouse, corpora: Collection[str] = ()) -> None:
        """Draw the choice of both days, if dialogues of these corpora, or of any, begin on different ones."""
        first, last = _bounds(opened, opened.version, tuple(sorted(corpora)))
        if not self.days and (first is None or last is None or first == last):
            return
        with st.container(horizontal=True):
            for name, title in _TITLES.items():
                day = _day(getattr(self, name))
                known = [known for known in (first, last, day) if known]
                self.draw_other(
                    st.date_input, name, day, title, min_value=min(known), max_value=max(known), format="YYYY-MM-DD"
                )

    def dialogues(self, opened: ServedWarehouse) -> list[str] | None:
        """Return the dialogues that begin between the days; None: any may."""
        if not self.days:
            return None
        sql = f"select dialogue_id from ({STARTS}) where {' and '.join(conditions(self.days))}"
        found: list[str] = opened.rows(sql, dict(self.days))["dialogue_id"].to_list()
        return found


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


@st.cache_data(max_entries=100, show_spinner=False)
def _bounds(
    _opened: ServedWarehouse,
    version: Version,  # noqa: ARG001 - by it are they known again
    corpora: tuple[str, ...],
) -> tuple[date | None, date | None]:
    where = " where list_contains($corpora::varchar[], corpus_id)" if corpora else ""
    sql = f"select min(started_at)::date, max(started_at)::date from ({STARTS}){where}"
    first, last = _opened.rows(sql, {"corpora": list(corpora)} if corpora else {}).row(0)
    return first, last
