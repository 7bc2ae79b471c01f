"""Whether a selection has anything of a part of a corpus: of certain columns, or what was said within some time."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from talkhouse.query.selection import Selection
from talkhouse.query.sources import key_of, owner
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.warehouse.opened import Warehouse

_TURNS = "main.turns"
_DIALOGUE = "dialogue_id"
_FROM_ELSEWHERE = {"candidate", "candidates", "candidate_set", "text_id"}
"""Columns of views whose rows have texts of other dialogues than their own."""


@dataclass(frozen=True)
class PartRows:
    """The rows of one corpus in a selection."""

    warehouse: Warehouse
    selection: Selection
    corpus_id: str

    def have_any_of(self, columns: Iterable[str]) -> bool:
        """Tell whether a row has a value, other than null, in one of these columns: ``schema.view.column[.member]``."""
        for name in columns:
            schema, view, column, *member = name.split(".")
            # Of a view that somebody else has made, nobody knows where its columns are from, but by their names.
            if column in self._selected and self._view in (f"{schema}.{view}", None):
                value = f"({quoted(column)} ->> {literal(member[0])})" if member else quoted(column)
                if self._any(f"{value} is not null", column):
                    return True
        return False

    def have_more_than(self, columns: Collection[str]) -> bool:
        """Tell whether there are rows, and columns of them other than these."""
        return any(f"{self._view}.{column}" not in columns for column in self._selected) and self._any("true")

    def were_said(self, said_from: date | None, said_before: date | None) -> bool:
        """Tell whether anything of the rows was said within this time, or may have been: not all turns have a time.

        By the turns of the dialogues that the rows are about; by all turns of the corpus where a row may have a text of
        another dialogue.
        """
        if said_from is None and said_before is None:
            return True
        since = "" if said_from is None else f" and said_at >= date '{said_from}'"
        before = "" if said_before is None else f" and said_at < date '{said_before}'"
        condition = f"(said_at is null or (true{since}{before}))"
        if self.selection.full_name == _TURNS:
            return self._any(condition, "said_at")
        of_corpus = f"starts_with({_DIALOGUE}, {literal(self.corpus_id + ':')})"
        known = {*self.selection.known}
        if _DIALOGUE in known and not known & _FROM_ELSEWHERE and not self._any(f"{_DIALOGUE} is null", _DIALOGUE):
            of_corpus += f" and {_DIALOGUE} in (select {_DIALOGUE} from ({self._sql(_DIALOGUE)}))"
        turns = f"{quoted(self.warehouse.database)}.{_TURNS}"
        query = f"select coalesce(bool_or({condition}), true) from {turns} where {of_corpus}"
        ((is_said,),) = self.warehouse.con.execute(query).fetchall()
        return bool(is_said)

    @cached_property
    def _selected(self) -> list[str]:
        return [column["name"] for column in self.selection.columns]

    @cached_property
    def _view(self) -> str | None:
        """The view that has the columns, of a view of one split its task's; None if it is not of the catalogue."""
        name, catalogue = self.selection.full_name, self.warehouse.catalogue
        if split_view := self.warehouse.split_views.get(name):
            return split_view.task
        known = {*(view.full_name for view in catalogue.views), *map(qualified, metadata.sorted_tables)}
        return name if name in known else None

    def _any(self, condition: str, column: str | None = None) -> bool:
        query = f"select 1 from ({self._sql(column)}) where {condition} limit 1"
        return bool(self.warehouse.con.execute(query).fetchall())

    def _sql(self, column: str | None) -> str:
        """Return the query of the rows with this column, as it is published."""
        rows, key = self.selection, key_of(self.selection.known)
        if key is None or self.selection.schema == self.corpus_id:
            return rows.rows([column or self.selection.known[0]])
        columns = [key, *([column] if column and column != key else [])]
        return f"select * from ({rows.rows(columns)}) where {owner(key)} = {literal(self.corpus_id)}"
