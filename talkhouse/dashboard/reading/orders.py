"""In which order conversations are listed: a mix of corpora, or by what is computed of each when it is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

import polars as pl
import streamlit as st

from talkhouse.charts.fields import frame
from talkhouse.dashboard.warehouse import Version, Warehouse

AGREEMENT = "(select * from bi.turn_agreement where is_default)"
"""How far annotators agree on each turn, in the default publication of its conversation."""

CHANGES = "(select * from bi.label_changes where is_default)"
"""What other publications say of each turn that the default one labels."""

MIXED = "mixed"


@dataclass(frozen=True)
class Order:
    """An order of conversations; equal ones are ordered by dialogue_id."""

    title: str
    keys: str
    """A query of dialogue_id, place, and turn_index: conversations are sorted by place, the least first, those without
    one last; turn_index is where a conversation opens, null for its beginning."""
    told: str = ""
    """What a list tells of a conversation, with its place in braces; its minus is left out."""
    is_kept: bool = False
    """Whether the keys of all conversations are kept, since they take long; else they are computed of those chosen."""

    def tells(self, place: float) -> str | None:
        """Return why a conversation is where it is."""
        return self.told.format(abs(place)) if self.told and isfinite(place) else None

    @property
    def sql(self) -> str:
        """The query of its keys, in another that has the conversations of interest as ``chosen``."""
        return "select * from kept_keys" if self.is_kept else self.keys


# As many of each corpus among the first ones, whatever its size; an order by md5 takes ten times as long.
_MIXED = """
select dialogue_id, hash(dialogue_id) / 18446744073709551616.0 * dialogue_count as place, null::integer as turn_index
from main.dialogues
inner join (select corpus_id, count(*) as dialogue_count from main.dialogues group by corpus_id) using (corpus_id)
"""

_IDS = "select dialogue_id, 0 as place, null::integer as turn_index from chosen"

_LENGTHS = """
select dialogue_id, {}count(*) as place, null::integer as turn_index
from main.turns semi join chosen using (dialogue_id)
group by dialogue_id
"""

_DISAGREEMENT = f"""
select dialogue_id, -avg(entropy) as place, min_by(turn_index, (-entropy, turn_index)) as turn_index
from {AGREEMENT}
where turn_index is not null
group by dialogue_id
"""

_CHANGES = f"""
select dialogue_id, -avg(change) as place, min_by(turn_index, (-change, turn_index)) as turn_index
from {CHANGES}
group by dialogue_id
"""

ORDERS = {
    MIXED: Order("A mix of corpora", _MIXED),
    "disagreement": Order("Most disagreement", _DISAGREEMENT, "mean entropy of a turn: {:.2f} bits", is_kept=True),
    "change": Order("Most changed labels", _CHANGES, "votes of a turn that changed: {:.0%}", is_kept=True),
    "long": Order("Longest", _LENGTHS.format("-")),
    "short": Order("Shortest", _LENGTHS.format("")),
    "id": Order("Id", _IDS),
}
"""The orders by their names in the address."""


def rows(opened: Warehouse, name: str, sql: str, values: Mapping[str, object]) -> pl.DataFrame:
    """Return the rows of a query that sorts by an order."""
    if not ORDERS[name].is_kept:
        return opened.rows(sql, values)
    with opened.connection() as con:
        con.register("kept_keys", _keys(opened, opened.version, name).to_arrow())
        return frame(con, sql, dict(values))


@st.cache_resource(max_entries=len(ORDERS), show_spinner="Comparing the conversations")
def _keys(_opened: Warehouse, version: Version, name: str) -> pl.DataFrame:  # noqa: ARG001
    # By the version, and not by what has it open, are keys known again.
    with _opened.connection() as con:
        return frame(con, ORDERS[name].keys, {})
