"""Which conversations are chosen, and how many there would be with each other choice, as SQL."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from talkhouse.explore.search_filters import Pattern

MOST = 100
"""Values that a facet offers at most: those that are chosen, then the most frequent ones."""

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
    TURN = "(select turns.*, speakers.name from main.turns left join main.speakers using (speaker_id))"
    LABEL = "main.annotations"


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

    @property
    def condition(self) -> str:
        """The SQL condition that a chosen value holds."""
        return f"list_contains(${self.name}::varchar[], {self.value})"


_LEAST = (100, 50, 20, 10, 5, 1)
_CASES = " ".join(f"when turn_count >= {least} then '{least}'" for least in _LEAST)

FACETS = (
    Facet("corpus", "Corpus", Level.DIALOGUE, "corpus_id"),
    Facet("release", "Release", Level.RECORD, "release"),
    Facet("split", "Split", Level.RECORD, "split", "By the publisher's name."),
    Facet("turns", "Turns", Level.LENGTH, f"case {_CASES} else '0' end"),
    Facet("role", "Role", Level.TURN, "role", "Who says a turn; with a search, one that was found."),
    Facet("speaker", "Speaker", Level.TURN, "name", "By name or alias; with a search, of a turn that was found."),
    Facet("label", "Label", Level.LABEL, "scheme || '=' || label", "Given by anybody, anywhere in the conversation."),
)


@dataclass(frozen=True)
class Selection:
    """The chosen values of facets, and what turns are searched for."""

    choices: Mapping[str, tuple[str, ...]]
    """Facet -> its chosen values; a facet without any is left out."""
    pattern: Pattern | None = None

    @property
    def values(self) -> dict[str, Any]:
        """The values that the queries below need."""
        chosen: dict[str, Any] = {name: list(values) for name, values in self.choices.items()}
        return chosen | ({"pattern": self.pattern.text} if self.pattern else {})

    def counts(self) -> str:
        """Return the query of facet, choice and dialogues.

        These are as many as there would be with this choice and those of the other facets; where facet is null, all.
        """
        total = f"select null as facet, null as choice, count(*) as dialogues from main.dialogues where {self._where()}"
        return f"{self._sets()} {' union all '.join([total, *map(self._count, FACETS)])}"

    def page(self, size: int) -> str:
        """Return the query of a page from $offset on: dialogue_id, found (turns with the text), first (of these)."""
        if self.pattern:
            what = f"count(*) as found, (list(turn_index order by turn_index))[:{FIRST_FOUND}] as first from found"
            where = " and ".join([*self._conditions(Level.TURN), self._where(without=Level.TURN)])
        else:
            what, where = "0 as found, []::integer[] as first from main.dialogues", self._where()
        return (
            f"{self._sets()} select dialogue_id, {what} where {where} "
            f"group by dialogue_id order by dialogue_id limit {size} offset $offset"
        )

    def beside(self) -> str:
        """Return the query of the dialogues before and after $dialogue, its position from 1, and how many there are."""
        return (
            f"{self._sets()} select max(dialogue_id) filter (dialogue_id < $dialogue) as previous, "
            "min(dialogue_id) filter (dialogue_id > $dialogue) as next, "
            "count(*) filter (dialogue_id <= $dialogue) as position, count(*) as dialogues, "
            f"count_if(dialogue_id = $dialogue) = 1 as is_there from main.dialogues where {self._where()}"
        )

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
        """Name the turns that are searched for, and the dialogues that each level leaves."""
        found = f"found as materialized (select * from {Level.TURN.value} where {' and '.join(self._searched())})"
        sets = [
            f"{level.name} as materialized (select distinct dialogue_id from {self._relation(level)} "
            f"where {' and '.join(self._conditions(level)) or 'true'})"
            for level in self._levels()
        ]
        named = ([found] if self.pattern else []) + sets
        return f"with {', '.join(named)}" if named else ""

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
