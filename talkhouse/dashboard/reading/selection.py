"""Conversations as facets, a search and an order choose them, as SQL; and the state of the page Read, in its URL."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from math import isfinite
from typing import Any, ClassVar, Self

import polars as pl
import streamlit as st

from talkhouse.charts.fields import frame
from talkhouse.dashboard import links
from talkhouse.dashboard.page_state import STARTS, FacetedState, RangedState, conditions
from talkhouse.dashboard.warehouse import ServedWarehouse, Version
from talkhouse.schema.sql import literal
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.toml_files import toml_of
from talkhouse.search.containing import Pattern

AGREEMENT = "(select * from bi.turn_agreement where is_default)"
"""The agreement of annotators on each turn, in the default publication of its conversation."""

CHANGES = "(select * from bi.label_changes where is_default)"
"""The labels of other publications for each turn that the default one labels."""

MIXED = "mixed"


@dataclass(frozen=True)
class Order:
    """An order of conversations; equal ones are ordered by dialogue_id."""

    title: str
    keys: str
    """A query of dialogue_id, place, and turn_index: conversations are sorted by place, the least first, those without
    one last; turn_index is where a conversation opens, null for its beginning."""
    reason: str = ""
    """The reason for a conversation's position, with its place in braces; its minus is left out."""
    is_kept: bool = False
    """Whether the keys of all conversations are cached, as they are slow; else those of the chosen are computed."""

    def reason_for(self, place: float) -> str | None:
        """Return the reason for a conversation's position."""
        return self.reason.format(abs(place)) if self.reason and isfinite(place) else None

    @property
    def sql(self) -> str:
        """The query of its keys, in another that has the conversations of interest as ``chosen``."""
        return "select * from kept_keys" if self.is_kept else self.keys


ORDERS = {
    MIXED: Order("A mix of corpora", sql_of(__file__, "order_mixed")),
    "disagreement": Order(
        "Most disagreement",
        sql_of(__file__, "order_disagreement", agreement=AGREEMENT),
        "mean entropy of a turn: {:.2f} bits",
        is_kept=True,
    ),
    "change": Order(
        "Most changed labels",
        sql_of(__file__, "order_change", changes=CHANGES),
        "votes of a turn that changed: {:.0%}",
        is_kept=True,
    ),
    "long": Order("Longest", sql_of(__file__, "order_length", sign="-")),
    "short": Order("Shortest", sql_of(__file__, "order_length", sign="")),
    "id": Order("Id", "select dialogue_id, 0 as place, null::integer as turn_index from chosen"),
}
"""The orders by their names in the address."""


def rows(opened: ServedWarehouse, name: str, sql: str, values: Mapping[str, object]) -> pl.DataFrame:
    """Return the rows of a query that sorts by an order."""
    if not ORDERS[name].is_kept:
        return opened.rows(sql, values)
    with opened.connection() as con:
        con.register("kept_keys", _keys(opened, opened.version, name).to_arrow())
        return frame(con, sql, dict(values))


@st.cache_resource(max_entries=len(ORDERS), show_spinner="Comparing the dialogues")
def _keys(_opened: ServedWarehouse, version: Version, name: str) -> pl.DataFrame:  # noqa: ARG001
    # By the version, and not by what has it open, are keys known again.
    with _opened.connection() as con:
        return frame(con, ORDERS[name].keys, {})


MOST = 100
"""Values that a facet offers at most: those that are chosen, then the most frequent ones."""

_ORDERED = "place, dialogue_id"

FIRST_FOUND = 3
"""Turns of a dialogue that a page of a search shows."""


class Level(Enum):
    """Relations with a dialogue_id. All that is chosen of one must hold for one and the same row of it."""

    DIALOGUE = "main.dialogues"
    START = f"({STARTS})"
    LENGTH = (
        "(select dialogues.dialogue_id, count(turns.turn_index) as turn_count from main.dialogues "
        "left join main.turns on turns.dialogue_id = dialogues.dialogue_id group by dialogues.dialogue_id)"
    )
    RECORD = "main.records"
    TURN = (
        "(select turns.*, "
        "case when not is_anonymous then coalesce(speakers.name, speakers.native_id) end as known_name "
        "from main.turns left join main.speakers using (speaker_id))"
    )
    LABEL = "main.annotations"
    MAJORITY = AGREEMENT
    CHANGE = CHANGES
    WHOLE = (
        "(select dialogue_id, scheme as name, label from main.annotations where turn_index is null union all "
        "select dialogue_id, corpus_id || '.' || task, label from bi.example_labels where turn_index is null)"
    )


@dataclass(frozen=True)
class Facet:
    """A property by which conversations are chosen: one of the chosen values must hold."""

    name: str
    """In the URL, and of the list of chosen values in SQL."""
    title: str
    level: Level
    value: str
    """A SQL expression over the level's columns that gives a text; null is not offered."""
    help: str | None = None
    is_asked: bool = False
    """Whether it is counted only on request, as that is slow."""

    @property
    def condition(self) -> str:
        """The SQL condition that a chosen value holds."""
        return f"list_contains(${self.name}::varchar[], {self.value})"


FACETS = tuple(Facet(**{**facet, "level": Level[facet["level"]]}) for facet in toml_of(__file__, "facets")["facets"])


@dataclass(frozen=True)
class ConversationSelection:
    """The chosen values of facets, and the search for turns."""

    choices: Mapping[str, tuple[str, ...]]
    """Facet -> its chosen values; a facet without any is left out."""
    pattern: Pattern | None = None
    order: str = MIXED
    """One of ``ORDERS``."""
    days: Mapping[str, str] = field(default_factory=dict)
    """since, until -> the day on which they begin at the earliest or latest."""

    @property
    def values(self) -> dict[str, Any]:
        """The values that the queries below need."""
        chosen: dict[str, Any] = {name: list(values) for name, values in self.choices.items()}
        return {**chosen, **self.days} | ({"pattern": self.pattern.text} if self.pattern else {})

    def counts(self, asked: Collection[str] = ()) -> str:
        """Return the query of facet, choice and dialogues.

        These are as many as there would be with this choice and those of the other facets; where facet is null, all.
        ``asked``: the facets that are counted in addition to those that always are.
        """
        facets = [facet for facet in FACETS if not facet.is_asked or facet.name in asked or facet.name in self.choices]
        everything = (
            f"select null as facet, null as choice, count(*) as dialogues from main.dialogues where {self._where()}"
        )
        return f"{self._sets()} {' union all '.join([everything, *map(self._count, facets)])}"

    def page(self, size: int) -> str:
        """Return the query of a page from $offset on.

        Its columns: dialogue_id, found (turns with the text), first (of these), place (in the order), and turn_index:
        where the order opens the conversation.
        """
        return f"{self._listed()} select * from listed order by {_ORDERED} limit {size} offset $offset"

    def condition(self) -> str:
        """Return it as an SQL condition of ``dialogue_id`` that needs no values, for a command line."""
        conditions = " and ".join([*self._conditions(Level.TURN), self._where(without=Level.TURN)])
        query = (
            f"select dialogue_id from found where {conditions}"
            if self.pattern
            else (f"select dialogue_id from main.dialogues where {self._where()}")
        )
        sql = f"{self._sets()} {query}".strip()
        # In one pass: a value may look like the name of another.
        written = re.sub(r"\$(\w+)", lambda name: _written(self.values[name[1]]), sql)
        return f"dialogue_id in ({written})"

    def beside(self) -> str:
        """Return the query of the place of $dialogue in the list: its position from 1, the length, and both neighbours.

        ``previous`` and ``next`` are structs of dialogue and turn, null if there is none; no row if $dialogue is
        not in the list.
        """
        before = "listed.place < here.place or (listed.place = here.place and listed.dialogue_id < here.dialogue_id)"
        after = "listed.place > here.place or (listed.place = here.place and listed.dialogue_id > here.dialogue_id)"
        row = "select struct_pack(dialogue := listed.dialogue_id, turn := listed.turn_index) from listed, here where"
        return (
            f"{self._listed()}, here as (select dialogue_id, place from listed where dialogue_id = $dialogue) select "
            f"({row} {before} order by listed.place desc, listed.dialogue_id desc limit 1) as previous, "
            f"({row} {after} order by listed.place, listed.dialogue_id limit 1) as next, "
            f"(select 1 + count(*) from listed, here where {before}) as position, "
            "(select count(*) from listed) as dialogues from here"
        )

    def _listed(self) -> str:
        """Begin a query with the conversations that are chosen, each with its place in the order."""
        if self.pattern:
            what = f"count(*) as found, (list(turn_index order by turn_index))[:{FIRST_FOUND}] as first from found"
            where = " and ".join([*self._conditions(Level.TURN), self._where(without=Level.TURN)])
            chosen = f"select dialogue_id, {what} where {where} group by dialogue_id"
        else:
            what = "0 as found, []::integer[] as first"
            chosen = f"select dialogue_id, {what} from main.dialogues where {self._where()}"
        named = [
            *self._named(),
            f"chosen as materialized ({chosen})",
            f"keys as ({ORDERS[self.order].sql})",
            "listed as materialized (select chosen.*, coalesce(place, 'infinity'::double)::double as place, turn_index "
            "from chosen left join keys using (dialogue_id))",
        ]
        return f"with {', '.join(named)}"

    def _count(self, facet: Facet) -> str:
        conditions = [f"{facet.value} is not null", *self._conditions(facet.level, without=facet)]
        chosen_first = f"list_contains(${facet.name}::varchar[], choice) desc, " if facet.name in self.choices else ""
        return (
            f"(select '{facet.name}', {facet.value} as choice, count(distinct dialogue_id) as dialogues "
            f"from {self._relation(facet.level)} "
            f"where {' and '.join(conditions)} and {self._where(without=facet.level)} "
            f"group by choice order by {chosen_first}dialogues desc, choice limit {MOST})"
        )

    def _sets(self) -> str:
        """Begin a query with its named parts, if any."""
        named = self._named()
        return f"with {', '.join(named)}" if named else ""

    def _named(self) -> list[str]:
        """Name the turns that are searched for, and the dialogues that each level leaves."""
        found = []
        if self.pattern:
            found = [f"found as materialized (select * from {Level.TURN.value} where {self.pattern.condition})"]
        sets = [
            f"{level.name} as materialized (select distinct dialogue_id from {self._relation(level)} "
            f"where {' and '.join(self._conditions(level)) or 'true'})"
            for level in self._levels()
        ]
        return found + sets

    def _levels(self) -> list[Level]:
        return [level for level in Level if self._conditions(level) or (level is Level.TURN and self.pattern)]

    def _relation(self, level: Level) -> str:
        return "found" if level is Level.TURN and self.pattern else level.value

    def _conditions(self, level: Level, without: Facet | None = None) -> list[str]:
        chosen = (facet for facet in FACETS if facet.level is level and facet.name in self.choices)
        days = conditions(self.days) if level is Level.START else []
        return [*days, *(facet.condition for facet in chosen if facet is not without)]

    def _where(self, without: Level | None = None) -> str:
        """Write the condition that a dialogue remains at every level."""
        sets = [
            f"dialogue_id in (select dialogue_id from {level.name})" for level in self._levels() if level is not without
        ]
        return " and ".join(["dialogue_id is not null", *sets])


def _written(value: str | list[str]) -> str:
    """Write a value as SQL, of characters that a command line can have."""
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return literal(value).replace("\0", "' || chr(0) || '")


MOST_NEIGHBOURS = 5


@dataclass(frozen=True)
class ReadState(FacetedState, RangedState):
    """One state of the page, all of it in the URL: choices, search, page, and the open conversation."""

    PAGE: ClassVar[str] = "read"
    FACETS: ClassVar[tuple[str, ...]] = tuple(facet.name for facet in FACETS)
    ON_THE_SAME_PAGE: ClassVar[frozenset[str]] = frozenset({"page", "compare"})

    text: str = ""
    regex: bool = False
    match_case: bool = False
    neighbours: int = 1
    sort: str = MIXED
    """The order of the list, one of ``ORDERS``."""
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
        return ConversationSelection(self.choices, self.pattern, self.sort, self.days)

    @property
    def pattern(self) -> Pattern | None:
        """The search."""
        return Pattern(self.text, self.regex, self.match_case) if self.text else None

    @property
    def address(self) -> str:
        """The address of the page in this state."""
        parameters: dict[str, Any] = self.query()
        return links.read(**parameters)

    def checked(self) -> Self:
        """Return the state with defaults for impossible values."""
        sort = self.sort if self.sort in ORDERS else MIXED
        return replace(super().checked(), neighbours=min(self.neighbours, MOST_NEIGHBOURS), sort=sort)

    def opened(self, *, dialogue: str = "", record: str = "", turn: int | None = None) -> Self:
        """Return the state with one conversation open, perhaps at a turn; with none, the list that it is in."""
        return self.shown(dialogue=dialogue, record=record, source="", turn=-1 if turn is None else turn)
