"""A temporary table of pseudonyms: each id with the keyed hash in its place, made in Python, for DuckDB has none."""

from collections.abc import Iterable

import duckdb
from pyarrow import lib as pa

from talkhouse.query.identifying import Kind
from talkhouse.query.pseudonym_key import PseudonymKey
from talkhouse.query.sources import owner
from talkhouse.schema.sql import literal, quoted

_BATCH = 100_000
"""Ids that Python has in memory at a time."""

_LETTERS = {Kind.DIALOGUE: ":d-", Kind.RECORD: "/r-", Kind.FILE: "/f-", Kind.PERSONA: ":e-", Kind.ID: ":i-"}
"""What is between a corpus and a hash; the same characters as in the keys, by which a row's corpus is told."""

_OF_A_PERSON = ":p-"

_IS_PERSON = "kind not in ('bot', 'system')"

_IDS = {
    Kind.SPEAKER: f"select corpus_id, speaker_id, {_IS_PERSON} from main.speakers",
    Kind.NATIVE: f"select corpus_id, native_id, bool_or({_IS_PERSON}) from main.speakers group by all",
    # A bot's name stays, unless a person of the corpus has it too.
    Kind.NAME: f"select corpus_id, name, false from main.speakers group by all having not bool_or({_IS_PERSON})",
    Kind.PERSON: f"select distinct {owner('record_id')}, annotator_id, true from main.annotations",
    Kind.DIALOGUE: "select corpus_id, dialogue_id, true from main.dialogues where corpus_id in ({public})",
    Kind.RECORD: "select corpus_id, record_id, true from main.records where corpus_id in ({public})",
    Kind.FILE: "select corpus_id, source_file_id, true from meta.source_files where corpus_id in ({public})",
    Kind.PERSONA: "select corpus_id, persona_id, true from main.personas where corpus_id in ({public})",
}
"""For each kind its ids, with their corpus and whether they are replaced."""

KEYS = (Kind.SPEAKER, Kind.DIALOGUE, Kind.RECORD, Kind.FILE, Kind.PERSONA)
"""Kinds whose ids begin with their corpus."""

# No column of a view has a name that begins so, and none of a row is taken for one of these.
_TABLES = """
create or replace temp table pseudonyms (_kind varchar, _corpus_id varchar, _id varchar, _pseudonym varchar);
create or replace temp table new_ids (_corpus_id varchar, _id varchar, _is_replaced boolean)
"""


def is_text(sql_type: str) -> bool:
    """Tell whether a column has texts, or lists of texts."""
    return sql_type.partition("[")[0].upper() in ("VARCHAR", "TEXT")


class PseudonymTable:
    """The pseudonyms of a warehouse, each kind made when it is first asked for; cursors of its connection have none."""

    def __init__(self, con: duckdb.DuckDBPyConnection, key: PseudonymKey, public: Iterable[str]) -> None:
        """``public``: the corpora whose keys lead to people, as SQL literals; those of others stay."""
        self._con, self._key, self._public = con, key, ", ".join(public) or "null"
        self._present: set[Kind] = set()
        con.execute(_TABLES)

    def add(self, kind: Kind) -> None:
        """Make the pseudonyms of a kind."""
        if kind in _IDS and kind not in self._present:
            self._present.add(kind)
            self._fill(kind, _IDS[kind].format(public=self._public))

    def add_values(self, kind: Kind, relation: str, column: str, sql_type: str, whose: str) -> None:
        """Make those of what a column of a view or table has; ``whose``: the corpus of a row, in SQL."""
        self.add(kind)
        value = f"unnest({quoted(column)}, recursive := true)" if "[" in sql_type else quoted(column)
        values = f"select distinct {whose} as _corpus_id, {value} as _id from {_quoted_name(relation)}"
        known = f"select _corpus_id, _id from temp.pseudonyms where _kind = {literal(kind)}"
        self._fill(kind, f"select *, true from ({values}) anti join ({known}) using (_corpus_id, _id)")

    def _fill(self, kind: Kind, ids: str) -> None:
        con, letter = self._con, _LETTERS.get(kind, _OF_A_PERSON)
        con.execute(f"insert into temp.new_ids from ({ids}) as ids (_of, _id, _is_replaced) where _id is not null")
        ((count,),) = con.execute("select count(*) from temp.new_ids").fetchall()
        for start in range(0, count, _BATCH):
            batch = f"from temp.new_ids where rowid >= {start} and rowid < {start + _BATCH}"
            corpora, identifiers, replaced = zip(*con.execute(batch).fetchall(), strict=True)
            hashes = self._key.hashed(zip(corpora, identifiers, strict=True))
            made = [f"{corpus_id}{letter}{digits}" for corpus_id, digits in zip(corpora, hashes, strict=True)]
            written = [
                pseudonym if is_replaced else identifier
                for pseudonym, identifier, is_replaced in zip(made, identifiers, replaced, strict=True)
            ]
            columns = {"_corpus_id": pa.array(corpora), "_id": pa.array(identifiers), "_pseudonym": pa.array(written)}
            con.register("new_pseudonyms", pa.Table.from_pydict(columns))
            con.execute(f"insert into temp.pseudonyms select {literal(kind)}, * from new_pseudonyms")
            con.unregister("new_pseudonyms")
        con.execute("truncate temp.new_ids")


def looked_up(value: str, depth: int, kind: Kind, whose: str | None) -> str:
    """Return SQL for the pseudonym of a value, or a list of those of a list; null for what has none.

    ``depth``: 1 for a list, 2 for a list of lists; ``whose``: the corpus of a row, where the ids do not tell it.
    """
    if not depth:
        corpus = "" if whose is None else f" and _corpus_id = {whose}"
        return f"(select _pseudonym from temp.pseudonyms where _kind = {literal(kind)}{corpus} and _id = {value})"
    item, index = f"_item_{depth}", f"_index_{depth}"
    items = f"select unnest({value}) as {item}, generate_subscripts({value}, 1) as {index}"
    inner = looked_up(item, depth - 1, kind, whose)
    return f"case when len({value}) = 0 then {value} else (select list({inner} order by {index}) from ({items})) end"


def _quoted_name(relation: str) -> str:
    schema, _, name = relation.partition(".")
    return f"{quoted(schema)}.{quoted(name)}"
