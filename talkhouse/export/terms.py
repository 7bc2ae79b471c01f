"""The terms under which rows may be used: those of the parts of corpora whose rows and columns are selected."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any

from talkhouse.export.composition import corpora_of, is_of, key_of, owner
from talkhouse.export.selection import Selection, select
from talkhouse.schema.errors import TermsNotAccepted
from talkhouse.schema.sql import dicts, literal, quoted
from talkhouse.schema.tables import metadata, qualified
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import relations

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
        """Whether a row has a value, other than null, in one of these columns: ``schema.view.column[.member]``."""
        for name in columns:
            schema, view, column, *member = name.split(".")
            # Only their names show where the columns of a foreign view come from.
            if column in self._selected and self._view in (f"{schema}.{view}", None):
                value = f"({quoted(column)} ->> {literal(member[0])})" if member else quoted(column)
                if self._any(f"{value} is not null", column):
                    return True
        return False

    def have_more_than(self, columns: Collection[str]) -> bool:
        """Whether there are rows, and columns of them other than these."""
        return any(f"{self._view}.{column}" not in columns for column in self._selected) and self._any("true")

    def were_said(self, said_from: date | None, said_before: date | None) -> bool:
        """Whether anything of the rows was said within this time, or may have been: not all turns have a time.

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


_FACTS = {"main.corpora", "main.corpus_terms", "main.releases", "main.schemes", "main.labels"}
"""Tables whose rows are declarations, to which no licence of the corpora applies."""
_RAW = "meta.quarantine"
"""The one table of the housekeeping that has published records."""

_DECLARED = """
select * from {}.main.corpus_terms
order by corpus_id, columns is not null, said_from nulls first, part
"""

ASKED = {
    "attribution": "name the authors",
    "share_alike": "what you make of it must be under the same licence",
    "non_commercial": "not for commercial purposes",
    "unknown": "nobody has said under which terms some of it may be used",
}
"""What each flag asks, in the order of the columns of ``main.corpus_terms``."""

_NEXT_LINE = "\n" + " " * 12
"""Between the lines of what an error expects and found."""


@dataclass(frozen=True)
class LicencePart:
    """What the licence of a part of a corpus asks: a row of ``main.corpus_terms``."""

    corpus_id: str
    part: str
    spdx: str | None
    licence_url: str | None
    is_attribution: bool
    is_share_alike: bool
    is_non_commercial: bool
    is_unknown: bool
    note: str
    columns: tuple[str, ...] = ()
    """The columns that it is, each as ``schema.view.column``, or with a member of a JSON object behind these; none:
    all that no other part is."""
    said_from: date | None = None
    said_before: date | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of those of its flags that are true, as ``share_alike``."""
        return tuple(name for name in ASKED if getattr(self, f"is_{name}"))

    @property
    def summary(self) -> str:
        """A line of it: its name, its licence, and its flags."""
        flags = ", ".join(flag.replace("_", "-") for flag in self.flags)
        return f"{self.part}: {self.spdx or 'no licence'}{f' ({flags})' if flags else ''}"

    @property
    def described(self) -> dict[str, Any]:
        """What manifests say of it, as JSON has it."""
        return {
            "part": self.part,
            "spdx": self.spdx,
            "licence_url": self.licence_url,
            "flags": list(self.flags),
            "note": self.note,
        }


def parts_of(warehouse: Warehouse, selections: Iterable[Selection]) -> tuple[LicencePart, ...]:
    """Return the parts that have rows and columns among those selected; none of samples.

    By corpus; in each of them first what is not of certain columns, in the order of time. ``duckdb.Error`` where the
    rows can't be read.
    """
    declared = _declared(warehouse)
    if not declared:
        return ()
    selected = set[LicencePart]()
    for selection in selections:
        if _is_licensed(warehouse, selection):
            selected.update(_parts_in(warehouse, selection, declared))
    return tuple(part for part in declared if part in selected)


def parts_of_corpus(warehouse: Warehouse, corpus_id: str) -> tuple[LicencePart, ...]:
    """Return the parts of a corpus that the warehouse has anything of, for what has all of it."""
    parts = [part for part in _declared(warehouse) if part.corpus_id == corpus_id]
    known = {f"{relation['schema']}.{relation['name']}" for relation in relations(warehouse.con)} if parts else set()
    names = {".".join(column.split(".")[:2]) for part in parts for column in part.columns} & known
    selections = [select(warehouse, name) for name in ("main.records", *sorted(names - {"main.records"}))]
    there = set(parts_of(warehouse, selections)) if parts else set()
    return tuple(part for part in parts if part in there)


def with_terms(corpora: Iterable[dict[str, Any]], parts: Iterable[LicencePart]) -> list[dict[str, Any]]:
    """Return corpora as manifests have them: each with the terms of its parts, a list of objects."""
    by_corpus = defaultdict[str, list[dict[str, Any]]](list)
    for part in parts:
        by_corpus[part.corpus_id].append(part.described)
    return [{**corpus, "licence_terms": by_corpus[corpus["corpus_id"]]} for corpus in corpora]


def check_terms(
    parts: Iterable[LicencePart],
    *,
    is_accepted: bool,
    selection: Selection | None = None,
    columns: Iterable[str] = (),
    lie_apart: bool = False,
) -> None:
    """Raise TermsNotAccepted for terms that have to be accepted first, and for those that exclude each other.

    The terms of several corpora exclude each other where one must be shared alike and another is not for commercial
    purposes. ``selection``: the rows, where all are of one view, and ``columns`` those that a user may leave some
    out: the message then says by which options the terms do not apply. ``lie_apart``: each corpus is in files of its
    own, under its own licence, so that no terms exclude each other.
    """
    asking = [part for part in parts if {*part.flags} - {"attribution"}]
    excluding = [part for part in asking if not lie_apart and any(_exclude(part, other) for other in asking)]
    if excluding:
        raise TermsNotAccepted(
            f"the terms of {_joined(part.corpus_id for part in excluding)} exclude each other; nothing was exported",
            expected="rows that may be under one licence: what is shared alike is free for commercial purposes",
            found=_described(excluding),
            next_step=f"accepting them does not help: export them apart, {_apart(excluding, selection)}",
        )
    if asking and not is_accepted:
        raise TermsNotAccepted(
            f"the terms of {_joined(part.corpus_id for part in asking)} are not accepted; nothing was exported",
            expected=_NEXT_LINE.join(["that you keep to them", *_asked(asking)]),
            found=_described(asking),
            next_step=f"if you accept them, add --accept-terms{_narrower(asking, columns)}",
        )


def _declared(warehouse: Warehouse) -> list[LicencePart]:
    rows = dicts(warehouse.con.execute(_DECLARED.format(quoted(warehouse.database))))
    return [LicencePart(**{**row, "columns": tuple(json.loads(row["columns"] or "[]"))}) for row in rows]


def _is_licensed(warehouse: Warehouse, selection: Selection) -> bool:
    """Whether the rows are more than facts about the corpora, such as counts."""
    if selection.schema == HOUSEKEEPING:
        return selection.full_name == _RAW
    facts = {view.full_name for view in warehouse.catalogue.views if view.terms == "none"}
    return selection.full_name not in _FACTS | facts


def _parts_in(warehouse: Warehouse, selection: Selection, declared: Iterable[LicencePart]) -> Iterator[LicencePart]:
    """Return the parts of corpora that a selection has."""
    corpora = {corpus["corpus_id"] for corpus in corpora_of(warehouse, selection)}
    for corpus_id, group in groupby(declared, attrgetter("corpus_id")):
        if corpus_id not in corpora:
            continue
        rows, parts = PartRows(warehouse, selection, corpus_id), list(group)
        of_parts = {column for part in parts for column in part.columns}
        has_more = rows.have_more_than(of_parts)
        for part in parts:
            has_any = rows.have_any_of(part.columns) if part.columns else has_more
            if has_any and rows.were_said(part.said_from, part.said_before):
                yield part


def _exclude(part: LicencePart, other: LicencePart) -> bool:
    """Whether what is made of one part must be free for what the terms of the other forbid."""
    pairs = ((part, other), (other, part)) if part.corpus_id != other.corpus_id else ()
    return any(
        alike.is_share_alike and not alike.is_non_commercial and closed.is_non_commercial for alike, closed in pairs
    )


def _described(parts: Sequence[LicencePart]) -> str:
    lines = list[str]()
    for note, alike in groupby(parts, attrgetter("note")):
        lines += [", ".join(filter(None, (f"{part.corpus_id}, {part.summary}", part.licence_url))) for part in alike]
        lines += [note] if note else []
    return _NEXT_LINE.join(lines)


def _asked(parts: Sequence[LicencePart]) -> list[str]:
    flags = [flag for flag in ASKED if any(flag in part.flags for part in parts)]
    return [f"{flag.replace('_', '-')}: {ASKED[flag]}" for flag in flags]


def _joined(names: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(names))


def _apart(parts: Sequence[LicencePart], selection: Selection | None) -> str:
    key = "corpus_id" if selection is None else key_of(selection.known)
    if key is None:
        return "from the views of each corpus"
    corpora = dict.fromkeys(part.corpus_id for part in parts)
    options = " and with ".join(f'--where "{is_of(key, corpus)}"' for corpus in corpora)
    return f"such as with {options}"


def _narrower(parts: Sequence[LicencePart], columns: Iterable[str]) -> str:
    """Return the columns to leave out so that there is nothing to accept, if any."""
    asking = {name.split(".")[2] for part in parts for name in part.columns}
    named = _joined(column for column in columns if column in asking)
    if not named or not all(part.columns for part in parts):
        return ""
    return f"; or leave out {named}, by naming the columns that you want with --columns"
