"""Brings a published copy up to date where it is: rows that are new, have changed or are gone, in one transaction.

Readers see the rows of before until it commits, and wait for nothing. Of a large table, only rows of source files whose
hashes have changed are compared. A view is computed whole in DuckDB, and compared where dialogues have changed; where
that does not explain its hash, since its numbers depend on other dialogues too, all of its rows are compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple

import duckdb
import psycopg
from psycopg import Connection

from talkhouse.ingest.progress import Progress
from talkhouse.migrations import head
from talkhouse.postgres.changed_rows import ALL, ChangedFiles, KeysOfFiles, Rows, changed_files
from talkhouse.postgres.column_types import Proof, hash_here, hash_there, line, proof
from talkhouse.postgres.load import proof_here, write_lines
from talkhouse.postgres.plan import VERSION, Options, PublicationPlan, PublishedRelation, RelationKind
from talkhouse.postgres.record import CopyDifference, FilesOfTables, Published, check_none, proof_there, read_record
from talkhouse.postgres.server import TABLE, own_relations, run
from talkhouse.schema.sql import quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.tables import metadata, qualified
from talkhouse.schema.warehouse import HOUSEKEEPING
from talkhouse.settings import version
from talkhouse.warehouse.file_hashes import key_column

WORTHWHILE = 1_000_000
"""Rows of a copy from which on it is brought up to date; a smaller one is made anew in a few seconds."""

MOST = 1 / 4
"""Share of the rows of large tables that may come and go; beyond it, a new copy takes less time."""

_COMING = ("main.speakers", "main.personas", "main.texts")
"""Tables whose new rows no row of before refers to."""

_SHARED = {qualified(table) for table in metadata.tables.values() if not table.schema and not key_column(table)}
"""Tables of what several dialogues may have in common."""

_FEW = 100_000
"""Rows that are compared at once, since to hash them first takes as long."""


class _TooManyRows(Exception):
    """A view is to be left out."""


_FALL_BACK = (
    _TooManyRows,
    psycopg.errors.IntegrityError,  # a new row has the key of one that goes only after it, or of a user's own index
    psycopg.errors.ProgramLimitExceeded,  # a key that is too long for an index, which a new copy leaves out
    psycopg.errors.InsufficientPrivilege,  # temporary tables, which a new copy does not need
    psycopg.errors.LockNotAvailable,
    MemoryError,
    duckdb.OutOfMemoryException,
)
"""Errors of an update that a new copy does not have."""

_AT_ONCE = 10_000
"""Rows that one statement deletes."""


def layout(con: duckdb.DuckDBPyConnection, plan: PublicationPlan) -> str:
    """Return a hash of what decides how tables and views are made, apart from rows: 64 hex digits."""
    relations = [
        (
            *(relation.name, relation.kind.value, relation.comment, relation.selection.order, relation.of_split),
            *((column.name, column.type.name, column.meaning) for column in relation.columns),
        )
        for relation in plan.relations
    ]
    computed = con.execute(sql_of(__file__, "views_and_macros")).fetchall()
    return sha256(repr((head(), version(), duckdb.__version__, computed, relations)).encode()).hexdigest()


def is_worthwhile(con: duckdb.DuckDBPyConnection, plan: PublicationPlan, former: Published) -> bool:
    """Whether a former copy has the tables and views of the plan, and more than a few rows."""
    names = {relation.name for relation in plan.relations}
    rows = sum(of_relation.rows for name, of_relation in former.proofs.items() if name in names)
    return former.layout == layout(con, plan) and names <= former.proofs.keys() and rows >= WORTHWHILE


class Updated(NamedTuple):
    """A copy that was brought up to date, before it is committed."""

    plan: PublicationPlan
    proofs: list[Proof]
    """Of each relation of the plan."""
    rows: int
    """Rows that were written or deleted; one that has changed is both."""


class _Where(NamedTuple):
    """Where the rows of a relation are that differ."""

    first: Rows | None
    """Most likely: there, it is looked first; None where no row has such a key."""
    most: Rows | None
    """Certainly, or None where that is not known."""


class _Compared(NamedTuple):
    """Some rows of a relation, compared."""

    where: Rows
    before: Proof
    """Of the rows there."""
    now: Proof
    gone: list[str]
    """The places of rows that are there and not here, as PostgreSQL writes them: ``(0,1)``."""
    new: int
    """Rows that are here and not there: the lines in the temporary table ``here``."""


@dataclass
class Update:
    """One copy that is brought up to date. Needs a transaction, and leaves it open."""

    con: duckdb.DuckDBPyConnection
    server: Connection[Any]
    plan: PublicationPlan
    schemas: Mapping[str, str]
    """What a schema of the warehouse is called there."""
    former: Published
    files: FilesOfTables
    """``hashes_by_file`` of the warehouse."""
    progress: Progress
    options: Options
    _compared: list[tuple[PublishedRelation, _Compared]] = field(default_factory=list)
    _is_apart: bool = True
    """Whether nothing has changed that rows of other dialogues than the changed ones may depend on."""

    def lock(self) -> bool:
        """Keep others from writing to the copy and from giving it triggers until the end; readers may go on.

        False where somebody else holds a lock for long, or has published meanwhile.
        """
        tables = own_relations(self.server, self.schemas.values(), [TABLE])
        try:
            with self.server.transaction():
                run(self.server, f"lock table {', '.join(tables)} in share row exclusive mode")
        except psycopg.errors.LockNotAvailable:
            return False
        return read_record(self.server, self.schemas[HOUSEKEEPING]) == self.former

    def done(self) -> Updated | None:
        """Do it, and prove it; None, and nothing is changed, where a new copy is to be made instead.

        Raises ServerFailed where rows are not equal afterwards.
        """
        changed = changed_files(self.former.files, self.files, *self._source_files())
        if changed.share > MOST:
            return None
        try:
            with self.server.transaction():
                return self._updated(changed)
        except _FALL_BACK:
            return None

    def _source_files(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return the hash of each row of ``meta.source_files``: there, and here."""
        relation = next(relation for relation in self.plan.relations if relation.name == "meta.source_files")
        there = f"select source_file_id, {hash_there(relation.columns)} from {relation.there(self.schemas)}"
        here = f"select source_file_id, {hash_here(relation.columns)} from {relation.selection.source}"
        unsigned = {file: found % 2**64 for file, found in run(self.server, there).fetchall()}
        return unsigned, dict(self.con.execute(here).fetchall())

    def _updated(self, changed: ChangedFiles) -> Updated:
        keys = KeysOfFiles(self.con, self.server, self.schemas["main"], self.options.nul)
        for files in (changed.different, *changed.by_table.values()):
            keys.add(files)
        self.progress.begin("comparing", records=sum(relation.rows for relation in self.plan.relations), unit="rows")
        relations = {relation.name: relation for relation in self.plan.relations}
        proofs = {VERSION: self.former.proofs[VERSION]}
        for table in metadata.sorted_tables:
            name, key = qualified(table), key_column(table)
            among = (changed.different, changed.by_table.get(name))
            found = _Where(*(keys.rows(some, key) if key and some is not None else None for some in among))
            proofs[name] = self._bring(relations[name], found, [column.name for column in table.primary_key.columns])
            self.progress.advance(relations[name].rows)
        for relation, compared in reversed(self._compared):  # what refers to a row goes before it
            self._delete(relation, compared.gone)
        by_dialogue, is_apart = keys.rows(changed.different, "dialogue_id"), self._is_apart
        for relation in self.plan.relations:
            if relation.kind is RelationKind.SPLIT:
                proofs[relation.name] = self._split(relation, proofs)
            elif relation.name not in proofs:
                is_text = any((column.name, column.type.name) == ("dialogue_id", "text") for column in relation.columns)
                first = by_dialogue if is_text else None
                found = _Where(first, by_dialogue if is_apart and relation.is_by_dialogue else None)
                proofs[relation.name] = self._bring(relation, found, [])
                self.progress.advance(relation.rows)
        run(self.server, "set constraints all immediate")  # of users' own tables, or they would fail the commit
        self._check_equal()
        rows = sum(len(compared.gone) + compared.new for _, compared in self._compared)
        relations_now = [replace(relation, rows=proofs[relation.name].rows) for relation in self.plan.relations]
        plan = replace(self.plan, relations=tuple(relations_now))
        if any(self.options.leaves_out(each.kind, (each.name, each.parent), each.rows) for each in relations_now):
            raise _TooManyRows
        return Updated(plan, [proofs[relation.name] for relation in plan.relations], rows)

    def _bring(self, relation: PublishedRelation, where: _Where, key: Sequence[str]) -> Proof:
        """Write what differs, and return what then proves the relation.

        ``key``: the primary key of a table; what is gone from it has to wait for what refers to it.
        """
        former = self.former.proofs[relation.name]
        is_known = where.most is not None
        here = None if is_known or (where.first is None and relation.rows <= _FEW) else proof_here(self.con, relation)
        if here == former or (where.most and where.most.is_empty):
            return former
        compared = self._compare(relation, where.first or ALL)
        now, is_table = former.with_rows(compared.before, compared.now), relation.kind is RelationKind.TABLE
        is_more = now != here if here else is_known and is_table and now.rows != relation.rows
        most = ALL if is_more else where.most
        if where.first and most and most != where.first:
            first, compared = compared, self._compare(relation, most)
            self._is_apart &= (len(first.gone), first.new) == (len(compared.gone), compared.new)
        if relation.name in _SHARED and (compared.gone or (compared.new and relation.name not in _COMING)):
            self._is_apart = False
        if not key:
            self._delete(relation, compared.gone)
        self._write(relation, key)
        self._compared.append((relation, compared))
        return compared.now if compared.where == ALL else former.with_rows(compared.before, compared.now)

    def _split(self, relation: PublishedRelation, proofs: Mapping[str, Proof]) -> Proof:
        """Prove the view of a split; it has rows of a view that was proven, whose means DuckDB would add up anew."""
        former = self.former.proofs[relation.name]
        if proofs[relation.parent or ""] == self.former.proofs[relation.parent or ""]:
            return former
        there = proof_there(self.server, relation, self.schemas)
        here = proof_here(self.con, relation) if relation.is_repeatable or there is None else there
        check_none(self.server, [CopyDifference(relation.name, here, there)] if here != there else [])
        return here

    def _compare(self, relation: PublishedRelation, where: Rows) -> _Compared:
        """Compare rows by their hashes; those of equal ones count, so each row is found as often as it is there."""
        query = f"select ctid, {hash_there(relation.columns)} from {relation.there(self.schemas)} where {where.there}"
        self.con.execute("create or replace temp table received (place varchar, hash ubigint)")
        with self.server.cursor() as cursor, cursor.copy(f"copy ({query}) to stdout".encode()) as copy:
            each = iter(copy)
            while rows := b"".join(islice(each, _FEW)).decode():  # not all at once, for the memory of it
                self.con.execute(sql_of(__file__, "received"), [rows])
        source, columns = relation.selection.source, relation.columns
        fragments = {"source": source, "condition": where.here, "hash": hash_here(columns), "line": line(columns)}
        self.con.execute(sql_of(__file__, "compared", **fragments))
        before, now = (
            proof(*self.con.execute(f"select count(*), sum(hash) from temp.{name}").fetchall()[0])
            for name in ("there", "here")
        )
        gone = self.con.execute("select place from temp.there anti join temp.here using (hash, number)").fetchall()
        ((new,),) = self.con.execute("select count(line) from temp.here").fetchall()
        return _Compared(where, before, now, [place for (place,) in gone], new)

    def _write(self, relation: PublishedRelation, key: Sequence[str]) -> None:
        """Write the new lines; where a row has the key of one that is there, in its place."""
        columns = [quoted(column.name) for column in relation.columns]
        names, target = ", ".join(columns), relation.there(self.schemas)
        new = self.con.sql("select line from temp.here where line is not null")
        if not key:
            write_lines(self.server, new, f"{target} ({names})")
            return
        run(self.server, f"create temp table talkhouse_new (like {target}) on commit drop")
        write_lines(self.server, new, f"talkhouse_new ({names})")
        others = [f"{name} = excluded.{name}" for name in columns if name not in map(quoted, key)]
        instead = f"update set {', '.join(others)}" if others else "nothing"
        run(
            self.server,
            f"insert into {target} ({names}) select {names} from talkhouse_new "
            f"on conflict ({', '.join(map(quoted, key))}) do {instead}",
        )
        run(self.server, "drop table talkhouse_new")

    def _delete(self, relation: PublishedRelation, places: list[str]) -> None:
        """Delete rows by their places; one that was written again has another by now, and stays."""
        target = relation.there(self.schemas)
        for start in range(0, len(places), _AT_ONCE):
            run(self.server, f"delete from {target} where ctid = any(%s::tid[])", [places[start : start + _AT_ONCE]])

    def _check_equal(self) -> None:
        different = [
            CopyDifference(relation.name, compared.now, there)
            for relation, compared in self._compared
            if (there := proof_there(self.server, relation, self.schemas, compared.where.there)) != compared.now
        ]
        check_none(self.server, different)
