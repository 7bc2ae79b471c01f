"""The days between which dialogues begin, chosen on the pages that list them, and kept in their addresses."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date
from typing import Self

import streamlit as st

from talkhouse.dashboard.page_state import PageState
from talkhouse.dashboard.warehouse import ServedWarehouse, Version
from talkhouse.schema.sql_files import sql_of

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
