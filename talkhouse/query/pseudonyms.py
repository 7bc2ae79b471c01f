"""Pseudonyms in place of the ids of people: keyed hashes, the same in every table, file and run with one key."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import duckdb

from talkhouse.ingest.corpus import People
from talkhouse.ingest.registry import all_corpora
from talkhouse.query.identifying import IF_PUBLIC, Kind, kinds_of, owner_of, without_members
from talkhouse.query.pseudonym_table import KEYS, PseudonymKey, PseudonymTable, is_text, looked_up, read_key
from talkhouse.query.selection import Selection
from talkhouse.query.sources import owner
from talkhouse.schema.errors import RegistryError
from talkhouse.schema.sql import literal, quoted
from talkhouse.settings import corpus_folders
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.relations import columns_of

_STAYS = (
    "Ids of speakers and annotators are replaced by keyed hashes, and their names left out. Texts are not touched, nor "
    "are names in them; and whoever has the published files can find a row again by its text, time or position."
)

_NOT_SAID = (
    "Nobody has said what else leads to people in it: its columns 'extra', its native ids and addresses are left out, "
    "and the keys of its dialogues and records replaced."
)

_NOBODY = People(are_keys_public=True, note=_NOT_SAID)

_NOT_TOLD = "a condition of published values, which may name people"
"""In place of a user's own."""

_ALWAYS_REMOVED = ("differs", "unknown")
"""Members of any ``extra`` that have pieces of published files."""


class AboutPseudonyms(TypedDict):
    """What is said of an export with pseudonyms."""

    key: str
    """Its fingerprint."""
    remark: str
    """What still leads to people."""


class Pseudonyms:
    """What replaces the ids of people in a warehouse, for queries of one connection: its cursors do not see it."""

    def __init__(self, warehouse: Warehouse, key: PseudonymKey, people: Mapping[str, People]) -> None:
        self.fingerprint = key.fingerprint
        """Of the key, for manifests: it tells two keys apart and nothing of either."""
        self._warehouse, self._people = warehouse, people
        self._public = [literal(corpus_id) for corpus_id, said in people.items() if said.are_keys_public]
        self._table = PseudonymTable(warehouse.con, key, self._public)

    def about(self, corpora: Iterable[str]) -> AboutPseudonyms:
        """Return what is said of an export with rows of these corpora, in messages, manifests and cards."""
        return about(self.fingerprint, corpora)

    def columns(self, relation: str, columns: Mapping[str, str]) -> dict[str, str]:
        """Return for the columns of people in a view or table, such as ``main.turns``, the expressions in their place.

        ``columns``: the names and SQL types of all its columns. An expression reads only columns of the same row.
        """
        whose, expressions = owner_of(self._warehouse, relation, columns), dict[str, str]()
        for column, (kind, is_declared) in kinds_of(self._warehouse, relation, columns).items():
            is_certain = is_declared or kind not in IF_PUBLIC
            of_rows = self._rows_with_public_keys(kind, column, whose)
            if not is_certain and of_rows == "false":
                continue
            sql_type, name = columns[column], quoted(column)
            if whose and is_text(sql_type) and (kind is Kind.ID or (kind is Kind.PERSON and is_declared)):
                self._table.add_values(kind, relation, column, sql_type, whose)
            expression = self._expression(kind, name, sql_type, whose)
            always = is_certain or of_rows == "true"
            expressions[column] = expression if always else f"case when {of_rows} then {expression} else {name} end"
        return expressions

    def _expression(self, kind: Kind, name: str, sql_type: str, whose: str | None) -> str:
        """Return what is written in the place of a column."""
        if kind is Kind.EXTRA:
            return self._extra(name, whose)
        of_key = kind in KEYS
        if kind in (Kind.LINK, Kind.VERBATIM) or not is_text(sql_type) or not (whose or of_key):
            return f"null::{sql_type}"
        self._table.add(kind)
        depth = sql_type.count("[")
        pseudonym = looked_up(name, depth, kind, None if of_key else whose)
        return pseudonym if depth else f"case when {name} = '' then '' else {pseudonym} end"

    def _rows_with_public_keys(self, kind: Kind, column: str, whose: str | None) -> str:
        """Return the SQL condition of the rows whose keys lead to people; where it is known, true or false."""
        if not self._public or (whose and whose.startswith("'")):
            return str(whose in self._public).lower()
        corpus = owner(column) if kind in KEYS else whose
        return f"{corpus} in ({', '.join(self._public)})" if corpus else "true"

    def _extra(self, name: str, whose: str | None) -> str:
        """Return ``extra`` without what leads to people."""
        if whose is None:
            return "null::json"
        cases = [f"when {whose} in ({', '.join(self._public)}) then null"] if self._public else []
        for corpus_id, said in self._people.items():
            if said.members and not said.are_keys_public:
                members = without_members(name, (*_ALWAYS_REMOVED, *said.members))
                cases.append(f"when {whose} = {literal(corpus_id)} then {members}")
        others = without_members(name, _ALWAYS_REMOVED)
        return f"case {' '.join(cases)} else {others} end" if cases else others


def pseudonyms(con: duckdb.DuckDBPyConnection, key_file: Path, output: Path) -> Pseudonyms:
    """Read a key and make the pseudonyms of the people of a warehouse. Raises UsageError for a key that is none."""
    warehouse = Warehouse(con)
    return Pseudonyms(warehouse, read_key(key_file, output), _people(warehouse.corpus_ids))


def with_pseudonyms(selection: Selection, con: duckdb.DuckDBPyConnection, names: Pseudonyms) -> Selection:
    """Return the same rows with pseudonyms in place of the ids of people.

    A condition that a user wrote is of the published ids: nothing that describes the rows may repeat it.
    """
    types = {column["name"]: column["type"] for column in columns_of(con, selection.schema, selection.name)}
    filters = selection.filters
    if filters.where is not None:
        filters = replace(filters, where=_NOT_TOLD)
    return replace(selection, filters=filters, replaced=names.columns(selection.full_name, types))


def about(fingerprint: str, corpora: Iterable[str]) -> AboutPseudonyms:
    """Return what is said of pseudonyms by the key of this fingerprint, in rows of these corpora."""
    notes = (f"{corpus_id}: {said.note}" for corpus_id, said in _people(corpora).items() if said.note)
    return {"key": fingerprint, "remark": " ".join([_STAYS, *notes])}


def are_keys_public(corpus_id: str) -> bool:
    """Whether the keys of a corpus lead to people, or nobody has said that they do not."""
    return _people([corpus_id])[corpus_id].are_keys_public


def _people(corpora: Iterable[str]) -> dict[str, People]:
    """Return what each corpus declares; of one that does not, or is not known here, the most that may be so."""
    known, people = all_corpora(corpus_folders()), dict[str, People]()
    for corpus_id in corpora:
        try:
            people[corpus_id] = known[corpus_id].people or _NOBODY
        except (KeyError, RegistryError):
            people[corpus_id] = _NOBODY
    return people
