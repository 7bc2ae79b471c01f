"""Which conversations are chosen, and how many there would be with each other choice, as SQL."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from talkhouse.dashboard.reading.orders import AGREEMENT, CHANGES, MIXED, ORDERS
from talkhouse.explore.search import Pattern
from talkhouse.schema.sql import literal

MOST = 100
"""Values that a facet offers at most: those that are chosen, then the most frequent ones."""

_ORDERED = "place, dialogue_id"

FIRST_FOUND = 3
"""Turns of a dialogue that a page of a search shows."""


class Level(Enum):
    """Relations with a dialogue_id. All that is chosen of one must hold for one and the same row of it."""

    DIALOGUE = "main.dialogues"
    LENGTH = (
        "(select dialogues.dialogue_id, count(turns.turn_index) as turn_count from main.dialogues "
        "left join main.turns on turns.dialogue_id = dialogues.dialogue_id group by dialogues.dialogue_id)"
    )
    RECORD = "main.records"
    TURN = (
        "(select turns.*, case when not is_anonymous then name end as known_name "
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
    """What conversations are chosen by: one of the values that are chosen must hold."""

    name: str
    """In the URL, and of the list of chosen values in SQL."""
    title: str
    level: Level
    value: str
    """A SQL expression over the level's columns that gives a text; null is not offered."""
    help: str | None = None
    is_asked: bool = False
    """Whether it is counted only where somebody asks for it, since that takes long."""

    @property
    def condition(self) -> str:
        """The SQL condition that a chosen value holds."""
        return f"list_contains(${self.name}::varchar[], {self.value})"


_LEAST = (100, 50, 20, 10, 5, 1)
_CASES = " ".join(f"when turn_count >= {least} then '{least}'" for least in _LEAST)

FACETS = (
    Facet("corpus", "Corpus", Level.DIALOGUE, "corpus_id"),
    Facet("language", "Language", Level.DIALOGUE, "language"),
    Facet("release", "Publisher's release", Level.RECORD, "release"),
    Facet("split", "Split", Level.RECORD, "split", "By the publisher's name."),
    Facet("turns", "Turns", Level.LENGTH, f"case {_CASES} else '0' end"),
    Facet("role", "Role", Level.TURN, "role", "Who says a turn; with a search, one that was found."),
    Facet(
        "speaker",
        "Speaker",
        Level.TURN,
        "known_name",
        "By name, of those who are known in every conversation: an alias may be another person's in the next. "
        "With a search, of a turn that was found.",
    ),
    Facet("label", "Label", Level.LABEL, "scheme || '=' || label", "Given by anybody, anywhere in the conversation."),
    Facet(
        "majority",
        "Majority label",
        Level.MAJORITY,
        "case when is_tied then scheme || ' tied' else scheme || '=' || majority_label end",
        "Of a turn, in the default publication, where two or more annotators labelled it.",
        is_asked=True,
    ),
    Facet(
        "changed",
        "Changed label",
        Level.CHANGE,
        "case when is_majority_changed "
        "then scheme || ': ' || majority_before || ' \N{RIGHTWARDS ARROW} ' || majority_after end",
        "The majority label of a turn, first in the default publication, then in another.",
        is_asked=True,
    ),
    Facet(
        "outcome",
        "Outcome",
        Level.WHOLE,
        "name || '=' || label",
        "Labels of the whole conversation or of its record, and answers of tasks about the whole.",
        is_asked=True,
    ),
)


@dataclass(frozen=True)
class Selection:
    """The chosen values of facets, and what turns are searched for."""

    choices: Mapping[str, tuple[str, ...]]
    """Facet -> its chosen values; a facet without any is left out."""
    pattern: Pattern | None = None
    order: str = MIXED
    """One of ``ORDERS``."""

    @property
    def values(self) -> dict[str, Any]:
        """The values that the queries below need."""
        chosen: dict[str, Any] = {name: list(values) for name, values in self.choices.items()}
        return chosen | ({"pattern": self.pattern.text} if self.pattern else {})

    def counts(self, asked: Collection[str] = ()) -> str:
        """Return the query of facet, choice and dialogues.

        These are as many as there would be with this choice and those of the other facets; where facet is null, all.
        ``asked``: the facets that are counted beside those that always are.
        """
        facets = [one for one in FACETS if not one.is_asked or one.name in asked or one.name in self.choices]
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
        """Return the query of where $dialogue is in the list: its position from 1, how many there are, and both ways.

        ``previous`` and ``next`` are structs of dialogue and turn, null where there is none; no row where $dialogue is
        not in the list.
        """
        before = "listed.place < here.place or (listed.place = here.place and listed.dialogue_id < here.dialogue_id)"
        after = "listed.place > here.place or (listed.place = here.place and listed.dialogue_id > here.dialogue_id)"
        one = "select struct_pack(dialogue := listed.dialogue_id, turn := listed.turn_index) from listed, here where"
        return (
            f"{self._listed()}, here as (select dialogue_id, place from listed where dialogue_id = $dialogue) select "
            f"({one} {before} order by listed.place desc, listed.dialogue_id desc limit 1) as previous, "
            f"({one} {after} order by listed.place, listed.dialogue_id limit 1) as next, "
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
        """Begin a query with what it is made of, where that has names."""
        named = self._named()
        return f"with {', '.join(named)}" if named else ""

    def _named(self) -> list[str]:
        """Name the turns that are searched for, and the dialogues that each level leaves."""
        found = f"found as materialized (select * from {Level.TURN.value} where {' and '.join(self._searched())})"
        sets = [
            f"{level.name} as materialized (select distinct dialogue_id from {self._relation(level)} "
            f"where {' and '.join(self._conditions(level)) or 'true'})"
            for level in self._levels()
        ]
        return ([found] if self.pattern else []) + sets

    def _levels(self) -> list[Level]:
        return [level for level in Level if self._conditions(level) or (level is Level.TURN and self.pattern)]

    def _relation(self, level: Level) -> str:
        return "found" if level is Level.TURN and self.pattern else level.value

    def _searched(self) -> list[str]:
        return [self.pattern.condition] if self.pattern else []

    def _conditions(self, level: Level, without: Facet | None = None) -> list[str]:
        chosen = (facet for facet in FACETS if facet.level is level and facet.name in self.choices)
        return [facet.condition for facet in chosen if facet is not without]

    def _where(self, without: Level | None = None) -> str:
        """Write the condition that a dialogue is in what every level leaves."""
        sets = [f"dialogue_id in (select dialogue_id from {one.name})" for one in self._levels() if one is not without]
        return " and ".join(["dialogue_id is not null", *sets])


def _written(value: str | list[str]) -> str:
    """Write a value as SQL, of characters that a command line can have."""
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return literal(value).replace("\0", "' || chr(0) || '")
