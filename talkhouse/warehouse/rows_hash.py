"""The one hash of rows, the same in any order and recomputed without DuckDB, and what is made of it: ids of contents.

A row is written as a text: ``name=`` length in bytes ``:`` value ``,`` for each column that is not null, in the order
of names. The SHA-256 of each row is taken as four numbers of 64 bits, and each is summed modulo 2^64 over all rows.
A sum and no exclusive or, which two equal rows leave as it was.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import duckdb
from duckdb import sqltypes
from sqlalchemy import Table

from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.tables import metadata, owned_by, qualified

SHARED = "shared"
"""What stands in place of a corpus for rows that belong to none."""

VOLATILE: Mapping[str, frozenset[str]] = {
    "meta.checks": frozenset({"milliseconds"}),
    "meta.source_files": frozenset({"modified_at", "mtime_ns", "inode"}),
    "meta.findings": frozenset({"finding_index"}),
}
"""Columns that differ from build to build of the same files, and are not hashed."""
UNHASHED = frozenset({"meta.loads"})
"""Tables that have no other columns."""

PLACES = frozenset(
    {
        *("dialogue_id", "record_id", "speaker_id", "main_speaker_id", "annotator_id", "native_id", "split"),
        *("standard_split", "turn_index", "example_index", "record_index", "row_index", "block_index", "entry_index"),
        *("image_index", "source_file_id", "source_pointer"),
    }
)
"""Columns of a task's view that say where an example stands, and not what a model sees of it."""


class RowsHash(NamedTuple):
    """Equal for the same rows, whatever order they come in."""

    rows: int
    hash: str
    """64 hex digits."""


class TableHash(NamedTuple):
    """The rows of a corpus in a table."""

    table: str
    corpus: str
    rows: int
    hash: str


ByFile = Callable[[Table], Mapping[str, Mapping[str, RowsHash]]]
"""Returns the hashes of a table's rows by corpus and source file, of some corpora."""


class TaskHash(NamedTuple):
    """The examples of a task in one of the publisher's releases and one split, as the task's view has them."""

    task: str
    release: str | None
    split: str | None
    rows: int
    hash: str
    content_hash: str
    """The same without ``PLACES``: it stays where examples are only numbered anew."""
    view_fingerprint: str | None


def rows_hash(con: duckdb.DuckDBPyConnection, query: str, *, without: Collection[str] = ()) -> RowsHash:
    """Count and hash the rows of a query: all columns but those ``without``."""
    ((_, rows, hashes),) = group_hashes(con, query, [], [without])
    return RowsHash(rows, hashes[0])


def row_text(columns: Iterable[tuple[str, sqltypes.DuckDBPyType]]) -> str:
    """Write the SQL of the text of a row that has these columns."""
    pieces = [_piece(name, kind) for name, kind in sorted(columns, key=lambda column: column[0])]
    return f"system.main.concat({', '.join(pieces or [literal('')])})"


def _piece(name: str, kind: sqltypes.DuckDBPyType) -> str:
    value = value_text(quoted(name), kind)
    length = f"system.main.strlen({value})"
    return f"if({quoted(name)} is null, '', system.main.concat({literal(f'{name}=')}, {length}, ':', {value}, ','))"


_NESTED = ("array", "list", "struct")


def value_text(value: str, kind: sqltypes.DuckDBPyType) -> str:
    """Write the SQL of the text of a value that is not null."""
    name = str(kind.id)
    if name in ("double", "float"):
        # C has two NaNs, which differ in an invisible sign.
        return f"if(system.main.isnan({value}), 'nan', system.main.printf('%.17g', {value}::double))"
    if name.startswith("timestamp"):
        return f"system.main.epoch_us({value})::varchar"
    if name == "blob":
        return f"system.main.lower(system.main.hex({value}))"
    if name in _NESTED:
        return f"system.main.to_json({_for_json(value, kind)})::varchar"
    return f"{value}::varchar"


_PLAIN = {"VARCHAR", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT"}
_PLAIN |= {"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}


def _for_json(value: str, kind: sqltypes.DuckDBPyType, depth: int = 0) -> str:
    """Write the SQL of a list or struct of texts, truth values, whole numbers and nulls.

    All others become texts: JSON as DuckDB writes it has one zero, and times as they look.
    """
    if str(kind).rstrip("[]0123456789") in _PLAIN:
        return value
    name, item = str(kind.id), f"item_{depth}"
    if name in ("list", "array"):
        child = _children(kind)["child"]
        return f"system.main.list_transform({value}, lambda {item}: {_for_json(item, child, depth + 1)})"
    if name == "struct":
        fields = ", ".join(
            f"{literal(key)}: {_for_json(f'({value})[{literal(key)}]', child, depth)}"
            for key, child in _children(kind).items()
        )
        return f"if({value} is null, null, {{{fields}}})"
    return f"if({value} is null, null, {value_text(value, kind)})"


def _children(kind: sqltypes.DuckDBPyType) -> dict[str, sqltypes.DuckDBPyType]:
    return {key: child for key, child in kind.children if isinstance(child, sqltypes.DuckDBPyType)}


def table_hashes(
    con: duckdb.DuckDBPyConnection,
    database: str,
    *,
    corpora: Collection[str] | None = None,
    by_file: ByFile | None = None,
) -> list[TableHash]:
    """Count and hash the rows of tables by corpus, sorted; tables without rows are left out.

    ``corpora``: only the rows of these, and those of none. ``by_file``: hashes of rows that need not be hashed here.
    """
    known = corpora_of(con, database)
    wanted = [SHARED, *(known if corpora is None else corpora)]
    found = []
    for table in metadata.tables.values():
        name, corpus_of_row = qualified(table), corpus_of(table, known)
        if name not in UNHASHED:
            found_by_file = by_file(table) if by_file else {}
            of_files = {corpus: files for corpus, files in found_by_file.items() if corpus in wanted}
            for corpus, files in of_files.items():
                found.append(TableHash(name, corpus, *added(files.values())))
            others = ", ".join(literal(corpus) for corpus in wanted if corpus not in of_files)
            query = f"from {quoted(database)}.{name} where {corpus_of_row} in ({others})"
            summed = group_hashes(con, query, [corpus_of_row], [VOLATILE.get(name, frozenset())])
            found += [TableHash(name, str(corpus), rows, hashed) for (corpus,), rows, (hashed,) in summed]
    return sorted(found)


def corpora_of(con: duckdb.DuckDBPyConnection, database: str) -> list[str]:
    """List the ids of the corpora of a warehouse."""
    rows = con.execute(f"select corpus_id from {quoted(database)}.main.corpora order by all")
    return [corpus for (corpus,) in rows.fetchall()]


def hashes_of(con: duckdb.DuckDBPyConnection, corpus_id: str) -> dict[str, RowsHash]:
    """Count and hash the rows of a corpus by table in the current database; tables without rows are left out."""
    ((database,),) = con.execute("select current_database()").fetchall()
    found = table_hashes(con, database, corpora=[corpus_id])
    return {row.table: RowsHash(row.rows, row.hash) for row in found if row.corpus == corpus_id}


def belongs(table: Table, corpus: str) -> str:
    """Write the condition of the rows of a corpus, also where they belong to the build and name it."""
    if table.info["owner"]:
        return owned_by(table, corpus)
    return f"corpus_id = {literal(corpus)}" if "corpus_id" in table.columns else "false"


def corpus_of(table: Table, corpora: Collection[str]) -> str:
    """Write the SQL of the corpus of a row; ``SHARED`` where it belongs to none of these."""
    cases = " ".join(f"when {belongs(table, corpus)} then {literal(corpus)}" for corpus in corpora)
    return f"case {cases} else {literal(SHARED)} end" if cases else literal(SHARED)


_TASKS = """
select corpus_id, task, release, split, {fingerprint}
from {database}.main.examples group by all order by all
"""


def task_hashes(
    con: duckdb.DuckDBPyConnection,
    database: str,
    *,
    corpora: Collection[str] | None = None,
    tasks: Collection[str] | None = None,
) -> list[TaskHash]:
    """Count and hash the rows of the views of tasks by the publisher's release and split, sorted.

    ``corpora``, ``tasks``: of these alone. The views are those that the warehouse has; DuckDB's own errors are raised
    for a task that has none.
    """
    query = _TASKS.format(fingerprint=FINGERPRINT, database=quoted(database))
    fingerprints: dict[tuple[str, str], dict[tuple[str | None, str | None], str]] = {}
    for corpus, task, release, split, fingerprint in con.execute(query).fetchall():
        if (corpora is None or corpus in corpora) and (tasks is None or f"{corpus}.{task}" in tasks):
            fingerprints.setdefault((corpus, task), {})[release, split] = fingerprint
    found = []
    for (corpus, task), of_task in fingerprints.items():
        rows, by = _rows_of_task(con, database, corpus, task, has_release=any(release for release, _ in of_task))
        for (release, split), count, (whole, content) in group_hashes(con, rows, by, [(), PLACES]):
            fingerprint = of_task.get((release, split))
            found.append(TaskHash(f"{corpus}.{task}", release, split, count, whole, content, fingerprint))
    return sorted(found, key=lambda item: [item.task, item.release or "", item.split or ""])


def _rows_of_task(
    con: duckdb.DuckDBPyConnection, database: str, corpus: str, task: str, *, has_release: bool
) -> tuple[str, list[str]]:
    """Return the query of a task's rows, and its columns of release and split.

    A view need not have the publisher's release of its examples, as where that is the variant of a task: then it is
    looked up.
    """
    view = quoted(database, corpus, task)
    names = con.sql(f"from {view}").columns
    release, split = ((column if column in names else None) for column in ("release", "split"))
    if release or not has_release:
        return f"from {view}", [f"{column}::varchar" if column else "null::varchar" for column in (release, split)]
    keys = [column for column in ("split", "example_index", "record_id") if column in names]
    same = " and ".join(f"task.{key} is not distinct from examples.{key}" for key in keys) or "false"
    examples = (
        f"select release, {', '.join(keys) or 'null'} from {quoted(database)}.main.examples "
        f"where corpus_id = {literal(corpus)} and task = {literal(task)}"
    )
    looked_up = f"select task.*, examples.release as {_RELEASE} from {view} as task left join ({examples}) as examples"
    return f"{looked_up} on {same}", [_RELEASE, "split::varchar" if split else "null::varchar"]


_RELEASE, FILE = quoted("?release"), quoted("?file")
"""What rows are grouped by and is no part of them; no column of a view has such a name."""


def contents_of_task(
    con: duckdb.DuckDBPyConnection, database: str, task: str, splits: Collection[tuple[str | None, str | None]]
) -> dict[str, int]:
    """Count the examples of some of the publisher's releases and splits by the hash of what a model sees of them."""
    corpus, _, name = task.partition(".")
    rows, by = _rows_of_task(con, database, corpus, name, has_release=any(release for release, _ in splits))
    relation = con.sql(rows)
    seen = [
        column
        for column in zip(relation.columns, relation.types, strict=True)
        if column[0] not in PLACES and quoted(column[0]) != _RELEASE
    ]
    query = f"select {by[0]}, {by[1]}, system.main.sha256({row_text(seen)}), count(*) from ({rows}) group by all"
    found: dict[str, int] = {}
    for release, split, hashed, count in con.execute(query).fetchall():
        if (release, split) in splits:
            found[hashed] = found.get(hashed, 0) + count
    return found


def content_id(tables: Iterable[TableHash], tasks: Iterable[TaskHash]) -> str:
    """Return the id of contents: SHA-256 over what they are, wherever and whenever they were built."""
    lines = [
        f"{table.table}\t{table.corpus}\t{table.rows}\t{table.hash}"
        for table in tables
        if table.table.startswith("main.")
    ]
    lines += [f"{task.task}\t{task.release or ''}\t{task.split or ''}\t{task.rows}\t{task.hash}" for task in tasks]
    return sha256("\n".join(sorted(lines)).encode()).hexdigest()


def added(sets: Iterable[RowsHash]) -> RowsHash:
    """Return the count and hash of the rows of several sets."""
    each = list(sets)
    return RowsHash(sum(same.rows for same in each), joined(same.hash for same in each))


def joined(hashes: Iterable[str]) -> str:
    """Return the hash of the rows of several sets, by the hash of each."""
    words = [[int(digest[start : start + 16], 16) for start in range(0, 64, 16)] for digest in hashes]
    return "".join(f"{sum(column) % 2**64:016x}" for column in zip(*words, strict=True)) or "0" * 64


_Summed = tuple[tuple[str | None, ...], int, tuple[str, ...]]


def group_hashes(
    con: duckdb.DuckDBPyConnection, query: str, by: Sequence[str], without: Sequence[Collection[str]]
) -> list[_Summed]:
    """Count and hash the rows of a query by some expressions, in one pass once without each set of columns."""
    relation = con.sql(query)
    each = zip(relation.columns, relation.types, strict=True)
    columns = [column for column in each if quoted(column[0]) not in (_RELEASE, FILE)]
    groups = [f"g{index}" for index in range(len(by))]
    hashed = [
        f"system.main.sha256({row_text(column for column in columns if column[0] not in left)}) as h{index}"
        for index, left in enumerate(without)
    ]
    selected = [f"{expression} as {group}" for expression, group in zip(by, groups, strict=True)] + hashed
    # To read 32 digits at once takes half as long as 16 twice.
    halves = [
        f"('0x' || system.main.substr(h{index}, {start}, 32))::uhugeint as h{index}_{start}"
        for index in range(len(without))
        for start in (1, 33)
    ]
    words = [
        f"system.main.sum(({half} {part})::ubigint)"
        for half in (f"h{index}_{start}" for index in range(len(without)) for start in (1, 33))
        for part in (">> 64", f"& {2**64 - 1}::uhugeint")
    ]
    rows = con.execute(
        f"select {', '.join([*groups, 'count(*)', *words])} from (select {', '.join([*groups, *halves])} "
        f"from (select {', '.join(selected)} from ({query}))) group by all"
    ).fetchall()
    return [_numbers(row, len(by)) for row in rows]


def _numbers(row: Sequence[object], groups: int) -> _Summed:
    digits = [f"{int(str(total or 0)) % 2**64:016x}" for total in row[groups + 1 :]]
    hashes = tuple("".join(digits[start : start + 4]) for start in range(0, len(digits), 4))
    return tuple(None if value is None else str(value) for value in row[:groups]), int(str(row[groups])), hashes


_ROW = (
    "concat_ws(chr(31), coalesce(release, ''), split, example_index::varchar, record_id, "
    "coalesce(turn_index::varchar, ''), item_index::varchar)"
)
"""An example as text; what joins its parts stands in no key, and who has no item_index has no such part."""

FINGERPRINT = f"lower(lpad(to_hex(bit_xor(md5_number({_ROW}))), 32, '0'))"
"""SQL: 32 hex digits over rows of ``main.examples`` in any order: the exclusive or of the MD5 of each row.

It is published with predictions and says which examples are meant, by their keys; it stays as it is.
"""


class Split(NamedTuple):
    """The examples of a task in one release and split."""

    release: str | None
    split: str
    fingerprint: str
    rows: int


def splits(con: duckdb.DuckDBPyConnection, corpus_id: str, task: str) -> list[Split]:
    """List the releases and splits of a task, with the fingerprint of each; empty for what is no task."""
    rows = con.execute(
        f"select release, split, {FINGERPRINT}, count(*) from main.examples where corpus_id = ? and task = ? "
        "group by release, split order by release nulls first, split",
        [corpus_id, task],
    )
    return [Split(*row) for row in rows.fetchall()]
