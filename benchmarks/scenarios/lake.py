"""A lake of a warehouse's tables, compared with DuckDB's own COPY of them.

    python -m benchmarks.scenarios.lake WAREHOUSE FOLDER [sorted]

copies every table of a warehouse to a Parquet file with DuckDB's COPY. ``sorted``: by the table's grain, as a lake is.
"""

import subprocess
import sys
from functools import partial
from pathlib import Path

import duckdb

from benchmarks.scenario import Case, Scenario, Side, command, module
from talkhouse.schema.sql import literal
from talkhouse.schema.tables import metadata, qualified

_TURNS = {"50,000 turns": 50_000, "500,000 turns": 500_000, "2 million turns": 2_000_000}
CANDIDATES = 8
"""For each turn."""


def _case(turns: int, folder: Path) -> Case:
    warehouse = folder / "w.duckdb"
    invent(warehouse, turns)
    again = command("lake", folder / "again", "--db", warehouse, name="talkhouse lake, nothing changed")
    subprocess.run(again.command, check=True, capture_output=True)
    return Case(
        (
            command("lake", folder / "lake", "--db", warehouse, name="talkhouse lake", writes=folder / "lake"),
            _copy("DuckDB, COPY, sorted", warehouse, folder / "by_grain", "sorted"),
            _copy("DuckDB, COPY", warehouse, folder / "plain"),
            again,
        ),
        turns,
    )


def _copy(name: str, warehouse: Path, folder: Path, *how: str) -> Side:
    return module(name, __name__, warehouse, folder, *how, writes=folder, is_part=False)


SCENARIO = Scenario(
    name="lake",
    title="Write a lake",
    cases={name: partial(_case, turns) for name, turns in _TURNS.items()},
    quick=("50,000 turns",),
    grows=True,
    notes=(
        f"{CANDIDATES} candidates for each turn; whole processes. The lake is sorted too, hashed before (every row) "
        "and after (every file), split by corpus, and has the views.",
    ),
)


_INVENT = """
insert into main.dialogues (dialogue_id, corpus_id)
    select 'mantis:invented:' || i, 'mantis' from range({dialogues}) invented(i);
insert into main.records (record_id, corpus_id, dialogue_id, split, record_index, source_file_id, source_pointer)
    select 'mantis/invented/' || i, 'mantis', 'mantis:invented:' || i, 'train', i,
        (select min(source_file_id) from meta.source_files where corpus_id = 'mantis'), '/' || i
    from range({dialogues}) invented(i);
insert into main.turns (dialogue_id, turn_index, role, kind, text)
    select 'mantis:invented:' || i // 10, i % 10, if(i % 2 = 0, 'user', 'agent'), 'message',
        'Turn ' || i || ' "é"' || chr(10) || repeat(md5(i::varchar), 4)
    from range({turns}) invented(i);
insert into main.texts (text_id, corpus_id, text)
    select 'mantis:invented:' || i, 'mantis', repeat(md5(i::varchar), 4) from range({texts}) invented(i);
insert into main.candidates (record_id, turn_index, candidate_set, position, item_index, dialogue_id, text_id, is_gold)
    select 'mantis/invented/' || i // 80, i // 8 % 10, 'ranking', i % 8, 0, 'mantis:invented:' || i // 80,
        'mantis:invented:' || hash(i) % {texts}, i % 8 = 0
    from range({candidates}) invented(i)
"""


def invent(path: Path, turns: int) -> None:
    """Make a warehouse with so many turns, and eight candidates for each."""
    from benchmarks.warehouses import write_samples

    write_samples(path)
    with duckdb.connect(path) as con:
        numbers = {"turns": turns, "dialogues": turns // 10, "texts": turns // 2, "candidates": CANDIDATES * turns}
        con.execute(_INVENT.format(**numbers))


def copy_tables(path: Path, folder: Path, *, is_sorted: bool) -> None:
    """Copy every table to a file."""
    folder.mkdir()
    with duckdb.connect(path, read_only=True) as con:
        con.execute(f"set temp_directory = {literal(str(folder / 'sorting'))}")
        for table in metadata.tables.values():
            order = f" order by {', '.join(table.info['grain'])}" if is_sorted else ""
            target = literal(str(folder / f"{qualified(table)}.parquet"))
            con.execute(f"copy (from {qualified(table)}{order}) to {target} (format parquet, compression zstd)")


if __name__ == "__main__":
    copy_tables(Path(sys.argv[1]), Path(sys.argv[2]), is_sorted=sys.argv[3:] == ["sorted"])
