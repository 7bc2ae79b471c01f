"""Warehouses of the samples: as they are, or copied until they are as many as the published dialogues.

    uv run python -m benchmarks.warehouses large.duckdb [--share 1] [--mantis 0.2]

With --share 1 it has 510,000 turns, 8.4 million candidates and 7 million examples, in about the proportions of the
published corpora. The ids of a copy end in its number, and its texts in other words; examples are made by the tasks'
own SQL. What a corpus has once stays so: labels, images, files, findings, bots, and the lists that belong to no split.
Pointers into source files are those of the samples.
"""

import argparse
import random
import time
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

import duckdb
from sqlalchemy import Column, Table

from benchmarks.words import vocabulary
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.queries.catalogue import catalogue
from talkhouse.queries.views import fill_examples
from talkhouse.schema import warehouse
from talkhouse.schema.sql import insert
from talkhouse.schema.tables import metadata, owned_by, qualified
from talkhouse.system.atomic_output import atomic_file

COPIES = {"blended_skill_talk": 1_500, "dbdc3": 100, "delidata": 500, "mantis": 7_200, "mpchat": 1_100}
"""How many times the sample of a corpus is there at share 1."""

WORDS = {"mantis": 160}
"""How many words are added to a text at most; in other corpora 16."""

_KEYS = {"dialogues": "dialogue_id", "speakers": "speaker_id", "texts": "text_id", "personas": "persona_id"}
_KEYS |= {"records": "record_id"}
"""Tables whose key gets the number of the copy, and with it every column that refers to the key."""

_DISTINCT_PERSONAS = ("mpchat",)
"""Corpora of whose persona elements each has words of its own; others name the same few sentences again and again."""

_ONCE = """
create temp table once as
select record_id as id from main.records where dialogue_id is null and split is null
union all
select speaker_id from main.speakers where kind = 'bot'
"""

# Where a block begins: the lines of its file before it.
_BLOCKS = """
update main.records
set extra = json_object('line', line, 'example', line, 'run', line - before_run, 'size', size)
from (
    select
        record_id as block_id,
        (extra ->> '$.size')::integer as size,
        (extra ->> '$.line')::integer - (extra ->> '$.run')::integer as before_run,
        coalesce(sum(size) over blocks_before, 0)::integer as line,
    from main.records
    where subset in ('mantis_10', 'mantis_50')
    window blocks_before as (
        partition by subset, split order by record_index rows between unbounded preceding and 1 preceding
    )
)
where record_id = block_id
"""

_PARAGRAPHS = 20_000


def target(column: Column[object]) -> str | None:
    """Return the table whose key the column has, if it is one that copies have of their own."""
    tables = {
        key.column.table.name for key in column.foreign_keys if key.column.name == column.name.removeprefix("main_")
    }
    return next(
        (name for name, key in _KEYS.items() if (column.table.name, column.name) == (name, key) or name in tables), None
    )


def copy_rows(con: duckdb.DuckDBPyConnection, table: Table, corpus_id: str, copies: int) -> None:
    """Copy a corpus's rows of a table; ``copies`` is how many times they are there afterwards."""
    values, conditions = {}, [owned_by(table, corpus_id)]
    for column in table.columns:
        if not (owner := target(column)):
            continue
        values[column.name] = f"{column.name} || '_' || copy"
        if owner in ("speakers", "records"):
            values[column.name] = (
                f"case when {column.name} in (from once) then {column.name} else {values[column.name]} end"
            )
        if column.name in (table.info["owner"], _KEYS.get(table.name)):
            conditions.append(f"{column.name} not in (from once)")
    if table.name == "records":
        values["record_index"] = (
            "record_index + copy * (1 + max(record_index) over (partition by subset, release, split))"
        )
    if table.name in ("turns", "texts") or (table.name == "personas" and corpus_id in _DISTINCT_PERSONAS):
        silent = "text = '' or kind <> 'message'" if table.name == "turns" else "text = ''"
        values["text"] = f"case when {silent} then text else text || ' ' || paragraph end"
    con.execute(
        f"insert into {qualified(table)} by name "
        f"select original.* replace ({', '.join(f'{value} as {name}' for name, value in values.items())}) "
        f"from {qualified(table)} as original "
        f"cross join (select unnest(range(1, {copies})) as copy) "
        + (f"inner join paragraphs on number = hash(text, copy) % {_PARAGRAPHS} " if "text" in values else "")
        + f"where {' and '.join(conditions)} order by copy, original.rowid"
    )


def invent_paragraphs(con: duckdb.DuckDBPyConnection, longest: int) -> None:
    """Make paragraphs of up to so many invented words; in every third, some words have two spaces before them."""
    chance = random.Random(23)
    words = vocabulary(chance)
    weights = [1 / (rank + 3) for rank in range(len(words))]
    lengths = [chance.randint(1, longest) for _ in range(_PARAGRAPHS)]
    spoken = chance.choices(words, weights, k=sum(lengths))
    ends = list(accumulate(lengths))
    paragraphs = []
    for number, (length, end) in enumerate(zip(lengths, ends, strict=True)):
        part = spoken[end - length : end]
        if number % 3 == 0:
            part[1::10] = [f" {word}" for word in part[1::10]]
        paragraphs.append((number, " ".join(part)))
    con.execute("create or replace temp table paragraphs (number integer, paragraph varchar)")
    insert(con, "paragraphs", paragraphs)


def copies_at(share: float, mantis: float | None = None) -> dict[str, int]:
    """Return the number of copies of each corpus's sample at a share; that of MANtIS may be another."""
    shares = dict.fromkeys(COPIES, share) | ({} if mantis is None else {"mantis": mantis})
    return {corpus_id: max(1, round(copies * shares[corpus_id])) for corpus_id, copies in COPIES.items()}


def multiply(con: duckdb.DuckDBPyConnection, copies: Mapping[str, int]) -> None:
    """Copy corpora of a warehouse of the samples until they are there so many times, and make their examples anew."""
    tables = [table for table in metadata.sorted_tables if table.name != "examples" and any(map(target, table.columns))]
    con.execute(_ONCE)
    for corpus_id, times in copies.items():
        begun = time.perf_counter()
        invent_paragraphs(con, WORDS.get(corpus_id, 16))
        for table in tables:
            copy_rows(con, table, corpus_id, times)
        con.execute(
            "update meta.source_files set records_in = records_in * ?, records_loaded = records_loaded * ? "
            "where corpus_id = ? and source_file_id not in "
            "(select source_file_id from main.records where record_id in (from once))",
            [times, times, corpus_id],
        )
        print(f"{corpus_id}: {times:,} copies, {time.perf_counter() - begun:.0f} s", flush=True)
    con.execute(_BLOCKS)
    for corpus_id in copies:
        con.execute("delete from main.examples where corpus_id = ?", [corpus_id])
        fill_examples(con, catalogue(), [corpus_id])


def write_samples(path: Path, *, only: tuple[str, ...] = ()) -> None:
    """Make a warehouse of the samples, or of those of some corpora, that can be written to."""
    build(path, Silent(), only=only)
    path.chmod(0o644)


def make(path: Path, copies: Mapping[str, int]) -> None:
    """Make a warehouse of the samples, copied so many times; the file appears whole."""
    with atomic_file(path) as part:
        write_samples(part)
        with warehouse.create(part) as con:
            multiply(con, copies)


def main() -> None:
    """Make the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--mantis", type=float, help="its share, where it is another: it has most of the rows")
    arguments = parser.parse_args()
    make(arguments.output, copies_at(arguments.share, arguments.mantis))


if __name__ == "__main__":
    main()
