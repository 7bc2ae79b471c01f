"""What the page shows, all of it in the URL: choices, search, page, and the conversation that is open."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from talkhouse.dashboard import links
from talkhouse.dashboard.page_state import FacetedState
from talkhouse.dashboard.reading.selection import FACETS, MIXED, ORDERS, ConversationSelection
from talkhouse.explore.search import Pattern

MOST_NEIGHBOURS = 5


@dataclass(frozen=True)
class ReadState(FacetedState):
    """One state of the page."""

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
        return ConversationSelection(self.choices, self.pattern, self.sort)

    @property
    def pattern(self) -> Pattern | None:
        """What is searched for."""
        return Pattern(self.text, self.regex, self.match_case) if self.text else None

    @property
    def address(self) -> str:
        """The address of the page in this state."""
        parameters: dict[str, Any] = self.query()
        return links.read(**parameters)

    def checked(self) -> Self:
        """Return the state with what can't be as by default."""
        sort = self.sort if self.sort in ORDERS else MIXED
        return replace(super().checked(), neighbours=min(self.neighbours, MOST_NEIGHBOURS), sort=sort)

    def opened(self, *, dialogue: str = "", record: str = "", turn: int | None = None) -> Self:
        """Return the state with one conversation open, perhaps at a turn; with none, the list that it is in."""
        return self.shown(dialogue=dialogue, record=record, source="", turn=-1 if turn is None else turn)
