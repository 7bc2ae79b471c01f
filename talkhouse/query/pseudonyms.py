"""Pseudonyms in place of the ids of people: keyed hashes, the same in every table, file and run with one key."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import duckdb
from pyarrow import lib as pa

from talkhouse.ingest.corpus import People
from talkhouse.ingest.registry import all_corpora
from talkhouse.query.identifying import IF_PUBLIC, Kind, corpus_of_key, kinds_of, owner_of, without_members
from talkhouse.query.pseudonym_key import PseudonymKey, read_key
from talkhouse.query.selection import Selection
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

_ALWAYS_REMOVED = ("differs", "unknown")
"""Members of any ``extra`` that have pieces of published files."""

_BATCH = 100_000
"""Ids that Python has in memory at a time."""

_LETTERS = {Kind.DIALOGUE: ":d-", Kind.RECORD: "/r-", Kind.PERSONA: ":e-", Kind.ID: ":i-"}
"""What is between a corpus and a hash; the same characters as in the keys, by which a row's corpus is told."""

_PERSON = ":p-"

_IDS = {
    Kind.SPEAKER: "select corpus_id, speaker_id, kind not in ('bot', 'system') from main.speakers",
    Kind.NATIVE: "select corpus_id, native_id, bool_or(kind not in ('bot', 'system')) from main.speakers "
    "where native_id is not null group by all",
    # A bot's name stays, unless a person of the corpus has it too.
    Kind.NAME: "select corpus_id, name, false from main.speakers where name is not null group by all "
    "having bool_and(kind in ('bot', 'system'))",
    Kind.PERSON: f"select distinct {corpus_of_key('record_id')}, annotator_id, true from main.annotations "
    "where annotator_id is not null",
    Kind.DIALOGUE: "select corpus_id, dialogue_id, true from main.dialogues",
    Kind.RECORD: "select corpus_id, record_id, true from main.records",
    Kind.PERSONA: "select corpus_id, persona_id, true from main.personas",
}
"""For each kind its ids, with their corpus and whether they are replaced."""

_KEYS = (Kind.SPEAKER, Kind.DIALOGUE, Kind.RECORD, Kind.PERSONA)
"""Kinds whose ids begin with their corpus."""

_TABLE = """
create or replace temp table pseudonyms (_kind varchar, _corpus_id varchar, _id varchar, _pseudonym varchar);
create or replace temp table new_ids (_corpus_id varchar, _id varchar, _is_replaced boolean)
"""
# No column of a view has a name that begins so, and none of a row is taken for one of these.


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
        self._warehouse, self._key, self._people = warehouse, key, people
        self._public = [corpus_id for corpus_id, said in people.items() if said.are_keys_public]
        self._present: set[Kind] = set()
        warehouse.con.execute(_TABLE)

    def about(self, corpora: Iterable[str]) -> AboutPseudonyms:
        """Return what is said of an export with rows of these corpora, in messages, manifests and cards."""
        return {"key": self.fingerprint, "remark": remark(corpora)}

    def columns(self, relation: str, columns: Mapping[str, str]) -> dict[str, str]:
        """Return for the columns of people in a view or table, such as ``main.turns``, the expressions in their place.

        ``columns``: the names and SQL types of all its columns. An expression reads only columns of the same row.
        """
        owner = owner_of(self._warehouse, relation, columns)
        expressions = dict[str, str]()
        for column, (kind, is_declared) in kinds_of(self._warehouse, relation, columns).items():
            if kind is Kind.ID or (kind is Kind.PERSON and is_declared):
                self._add_values(kind, relation, column, columns[column], owner)
            expression = self._expression(kind, column, columns[column], owner)
            if kind in IF_PUBLIC and not is_declared:
                expression = self._if_public(kind, column, expression, owner)
            if expression is not None:
                expressions[column] = expression
        return expressions

    def _expression(self, kind: Kind, column: str, sql_type: str, owner: str | None) -> str | None:
        """Return what is written in the place of a column."""
        name, nothing = quoted(column), f"null::{sql_type}"
        if kind is Kind.EXTRA:
            return self._extra(name, owner)
        is_text = sql_type.partition("[")[0] == "VARCHAR"
        if kind in (Kind.LINK, Kind.VERBATIM) or not is_text or (owner is None and kind not in _KEYS):
            return nothing
        if kind in _IDS:
            self._add(kind)
        looked_up = _looked_up(name, sql_type.count("["), kind, None if kind in _KEYS else owner)
        return f"case when {name} = '' then '' else {looked_up} end" if "[" not in sql_type else looked_up

    def _if_public(self, kind: Kind, column: str, expression: str | None, owner: str | None) -> str | None:
        """Return an expression that leaves the rows of corpora as they are whose keys lead to nobody."""
        if not self._public:
            return None
        if owner is not None and owner.startswith("'"):
            return expression if owner in map(literal, self._public) else None
        whose = corpus_of_key(quoted(column)) if kind in _KEYS else owner
        if whose is None:
            return expression
        public = ", ".join(map(literal, self._public))
        return f"case when {whose} in ({public}) then {expression} else {quoted(column)} end"

    def _extra(self, name: str, owner: str | None) -> str:
        if owner is None:
            return "null::json"
        public = ", ".join(map(literal, self._public)) or "null"
        cases = [f"when {owner} in ({public}) then null"]
        for corpus_id, said in self._people.items():
            if said.members and not said.are_keys_public:
                members = without_members(name, (*_ALWAYS_REMOVED, *said.members))
                cases.append(f"when {owner} = {literal(corpus_id)} then {members}")
        return f"case {' '.join(cases)} else {without_members(name, _ALWAYS_REMOVED)} end"

    def _add(self, kind: Kind) -> None:
        """Make the pseudonyms of a kind, once."""
        if kind not in self._present:
            self._present.add(kind)
            self._fill(kind, _IDS[kind])

    def _add_values(self, kind: Kind, relation: str, column: str, sql_type: str, owner: str | None) -> None:
        """Make the pseudonyms of what a column has, in so far as there are none."""
        if owner is None or sql_type.partition("[")[0] != "VARCHAR":
            return
        if kind in _IDS:
            self._add(kind)
        schema, _, name = relation.partition(".")
        depth = sql_type.count("[")
        value = f"unnest({quoted(column)}, recursive := true)" if depth else quoted(column)
        values = f"select distinct {owner} as _corpus_id, {value} as _id from {quoted(schema)}.{quoted(name)}"
        known = f"select _corpus_id, _id from temp.pseudonyms where _kind = {literal(kind)}"
        self._fill(kind, f"select _corpus_id, _id, true from ({values}) anti join ({known}) using (_corpus_id, _id)")

    def _fill(self, kind: Kind, query: str) -> None:
        con = self._warehouse.con
        con.execute(
            f"insert into temp.new_ids select * from ({query}) as ids (_corpus_id, _id, _is) where _id is not null"
        )
        ((count,),) = con.execute("select count(*) from temp.new_ids").fetchall()
        letter = _LETTERS.get(kind, _PERSON)
        for start in range(0, count, _BATCH):
            batch = f"select * from temp.new_ids where rowid >= {start} and rowid < {start + _BATCH}"
            rows = con.execute(batch).fetchall()
            made = [
                f"{corpus_id}{letter}{self._key.hashed(corpus_id, identifier)}" if is_replaced else identifier
                for corpus_id, identifier, is_replaced in rows
            ]
            corpora, identifiers, _ = zip(*rows, strict=True)
            columns = {"_corpus_id": pa.array(corpora), "_id": pa.array(identifiers), "_pseudonym": pa.array(made)}
            con.register("new_pseudonyms", pa.Table.from_pydict(columns))
            con.execute(f"insert into temp.pseudonyms select {literal(kind)}, * from new_pseudonyms")
            con.unregister("new_pseudonyms")
        con.execute("truncate temp.new_ids")


def pseudonyms(con: duckdb.DuckDBPyConnection, key_file: Path, output: Path) -> Pseudonyms:
    """Read a key and make the pseudonyms of the people of a warehouse. Raises UsageError for a key that is none."""
    warehouse = Warehouse(con)
    return Pseudonyms(warehouse, read_key(key_file, output), _people(warehouse.corpus_ids))


def with_pseudonyms(selection: Selection, con: duckdb.DuckDBPyConnection, names: Pseudonyms) -> Selection:
    """Return the same rows with pseudonyms in place of the ids of people."""
    types = {column["name"]: column["type"] for column in columns_of(con, selection.schema, selection.name)}
    return replace(selection, replaced=names.columns(selection.full_name, types))


def remark(corpora: Iterable[str]) -> str:
    """Return what pseudonyms of these corpora leave that leads to people, in a few sentences."""
    notes = (f"{corpus_id}: {said.note}" for corpus_id, said in _people(corpora).items() if said.note)
    return " ".join([_STAYS, *notes])


def _people(corpora: Iterable[str]) -> dict[str, People]:
    """Return what each corpus declares; of one that does not, or is not known here, the most that may be so."""
    known, people = all_corpora(corpus_folders()), dict[str, People]()
    for corpus_id in corpora:
        try:
            people[corpus_id] = known[corpus_id].people or _NOBODY
        except (KeyError, RegistryError):
            people[corpus_id] = _NOBODY
    return people


def _looked_up(value: str, depth: int, kind: Kind, owner: str | None) -> str:
    """Return SQL for the pseudonym of a value, or the list of the pseudonyms of a list; null for what has none."""
    if not depth:
        corpus = "" if owner is None else f" and _corpus_id = {owner}"
        return f"(select _pseudonym from temp.pseudonyms where _kind = {literal(kind)}{corpus} and _id = {value})"
    item, index = f"_item_{depth}", f"_index_{depth}"
    items = f"select unnest({value}) as {item}, generate_subscripts({value}, 1) as {index}"
    inner = _looked_up(item, depth - 1, kind, owner)
    return f"case when len({value}) = 0 then {value} else (select list({inner} order by {index}) from ({items})) end"
