"""Which texts there are, in which corpus, role and splits each stands, and how they are chosen by that."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import duckdb

from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import dicts
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.byte_copy import MOST_CHANGED, TooMuchChanged
from talkhouse.warehouse.derived_sidecar import RESULT, FileBeside
from talkhouse.warehouse.sidecar import FULL, ONCE, SOME, one_of

KINDS = ("turn", "candidate", "persona")
"""What is found; of equal scores in this order."""

FACETS = ("kind", "corpus", "split", "role")
"""What texts are chosen by; a split by the publisher's name, or as train, validation or test."""

Choices = Mapping[str, Collection[str]]
"""Facet -> its chosen values, one of which must match; a facet without any is left out."""


class TextSearch(NamedTuple):
    """Where texts are searched for, and which of those that are found are returned."""

    con: duckdb.DuckDBPyConnection
    """Reads the warehouse."""
    file: duckdb.DuckDBPyConnection
    """Reads its index, or its file of vectors."""
    choices: Choices
    limit: int = 50
    offset: int = 0
    dialogues: Sequence[str] | None = None
    """Those whose turns alone are found; None: any, and texts that are no turns."""


GROUPS = {
    "group_no": "INTEGER",
    "kind": "VARCHAR",
    "corpus_id": "VARCHAR",
    "role": "VARCHAR",
    "splits": "VARCHAR[]",
    "standard_splits": "VARCHAR[]",
}
"""The table ``groups`` of an index: what the texts of a group have in common."""

_LISTS = ("splits", "standard_splits")
GROUPS_VALUES = {ONCE: ["group_no"], SOME: ["group_no", "corpus_id"], one_of(KINDS): ["kind"], FULL: _LISTS}

Groups = Mapping[int, Mapping[str, Any]]
"""Its rows by their number."""


def groups_of(index: duckdb.DuckDBPyConnection) -> Groups:
    """Return the groups of an index."""
    return {row["group_no"]: row for row in dicts(index.execute("from main.groups"))}


def check_choices(index: duckdb.DuckDBPyConnection, choices: Choices) -> None:
    """Raise UsageError for a value that no text has."""
    groups = groups_of(index).values()
    for facet, values in choices.items():
        known = set[str]().union(*(_values(group, facet, standard=True) for group in groups))
        for value in values:
            if value not in known:
                raise UsageError(f"no {facet} '{value}' here", expected=f"one of: {', '.join(sorted(known))}")


def chosen_groups(groups: Groups, choices: Choices, without: str = "") -> list[int]:
    """Return the numbers of the groups that are chosen, apart from the choices of one facet."""
    chosen = {facet: set(values) for facet, values in choices.items() if values and facet != without}
    return [
        number
        for number, group in groups.items()
        if all(values & _values(group, facet, standard=True) for facet, values in chosen.items())
    ]


def counted_facets(groups: Groups, counts: Mapping[int, int], choices: Choices) -> dict[str, dict[str, int]]:
    """Return, for each facet, how many texts there are of each of its values with the choices of the others.

    ``counts`` are the texts of each group; the values with the most texts come first.
    """
    facets = {}
    for facet in FACETS:
        found: Counter[str] = Counter()
        for number in chosen_groups(groups, choices, without=facet):
            for value in _values(groups[number], facet) if counts.get(number) else ():
                found[value] += counts[number]
        facets[facet] = dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
    return facets


def _values(group: Mapping[str, Any], facet: str, *, standard: bool = False) -> set[str]:
    """Return the values of a facet in the texts of a group; ``standard``: their splits by both names."""
    if facet == "split":
        return {*group["splits"], *(group["standard_splits"] if standard else ())}
    value = group["corpus_id" if facet == "corpus" else facet]
    return set() if value is None else {value}


OWNERS = {"kind": "VARCHAR", "owner": "VARCHAR", "content": "UHUGEINT"}
"""The table ``owners`` of an index: what owns texts, such as a dialogue, and a hash of all that the index has of it."""

OWNERS_VALUES = {SOME: ["owner", "content"], one_of(KINDS): ["kind"]}

_SPLITS = {
    "turn": "select dialogue_id, split, standard_split from {0}.main.records where dialogue_id is not null",
    "candidate": "select text_id, split, standard_split from {0}.main.candidates "
    "inner join {0}.main.records on records.record_id = candidates.record_id where text_id is not null",
    "persona": "select persona_id, split, standard_split from {0}.main.persona_uses "
    "inner join {0}.main.records on records.record_id = persona_uses.record_id where persona_id is not null",
}
"""By kind, the query of what owns a text, and the splits that it was published in."""

TEXTS = {
    "turn": ("turns", "dialogue_id, turn_index, coalesce(role, '')"),
    "candidate": ("texts", "text_id, null::integer, ''"),
    "persona": ("personas", "persona_id, null::integer, ''"),
}
"""By kind, the table of its texts, and owner, turn_index and role."""


def compare_owners(con: duckdb.DuckDBPyConnection, warehouse: str, kinds: Sequence[str] = KINDS) -> None:
    """Bring the table ``owners`` of an index up to date, and create ``gone`` and ``came`` in the current database.

    These are the owners whose texts the index has and should not, and the other way round; in both are those whose
    texts, roles or splits have changed. Raises TooMuchChanged for more than a third of them.
    """
    texts = " union all ".join(
        f"select '{kind}', {columns}, text from {warehouse}.main.{table}"
        for kind, (table, columns) in ((kind, TEXTS[kind]) for kind in kinds)
    )
    con.execute(sql_of(__file__, "owners", texts=texts, owners=_owners(warehouse, kinds)))
    con.execute(sql_of(__file__, "changed", index=RESULT))
    for table, side in (("gone", "was_there"), ("came", "is_there")):
        con.execute(f"create or replace table {table} as select kind, owner from changed where {side}")
    ((before, changed),) = con.execute(
        f"select (select count(*) from {RESULT}.main.owners), (select count(*) from changed)"
    ).fetchall()
    if before and changed > before * MOST_CHANGED:
        raise TooMuchChanged
    con.execute(f"delete from {RESULT}.main.owners where (kind, owner) in (from gone)")
    con.execute(f"insert into {RESULT}.main.owners select * from owners where (kind, owner) in (from came)")


def number_texts(
    con: duckdb.DuckDBPyConnection, warehouse: str, index: FileBeside, first: int, kinds: Sequence[str] = KINDS
) -> None:
    """Add the groups of the owners in ``came`` to an index, and create in the current database ``numbered``.

    These are their texts: document (from ``first`` on, in the order of kinds, owner and turn_index), group_no, kind,
    row_number in the warehouse, owner and turn_index.
    """
    con.execute(sql_of(__file__, "owner_splits", owners=_owners(warehouse, kinds)))
    con.execute(sql_of(__file__, "places"))
    con.execute("""
create or replace table owner_places as
select kind, owner, place_no from owner_splits inner join places using (splits, standard_splits)
""")
    rows = " union all ".join(
        f"select '{kind}', rowid, {columns} from {warehouse}.main.{table}"
        for kind, (table, columns) in ((kind, TEXTS[kind]) for kind in kinds)
    )
    con.execute(sql_of(__file__, "standing", rows=rows))
    con.execute(sql_of(__file__, "new_groups", index=RESULT))
    index.insert(con, "groups", "from new_groups order by group_no")
    con.execute(sql_of(__file__, "group_keys", index=RESULT))
    ranks = ", ".join(f"'{kind}'" for kind in kinds)
    con.execute(sql_of(__file__, "numbered", ranks=ranks, first=first))
    con.execute("drop table standing")


def drop_unused_groups(con: duckdb.DuckDBPyConnection, table: str) -> None:
    """Delete the groups of an index that no row of a table of it has."""
    con.execute(
        f"delete from {RESULT}.main.groups where group_no not in (select distinct group_no from {RESULT}.main.{table})"
    )


def _owners(warehouse: str, kinds: Sequence[str]) -> str:
    """Return the query of owners with the splits of each of their records."""
    return " union all ".join(f"select '{kind}', * from ({_SPLITS[kind].format(warehouse)})" for kind in kinds)
