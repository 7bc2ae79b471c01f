"""Exports in every format, and as chats, compared with DuckDB's own COPY of the same rows.

    python -m benchmarks.scenarios.export {export,copy,chat,copy-turns} WAREHOUSE OUTPUT

writes the invented view to a file, and prints what that took. ``export`` is the command's way; ``copy`` lets DuckDB
write the same rows in the same order, with the same memory limit and folder to sort in. The format is that of the
file's name. ``chat`` writes the invented chats as ``--for chat`` does, ``copy-turns`` their columns, sorted.
"""

import json
import sys
from functools import partial
from pathlib import Path

import duckdb

import talkhouse
from benchmarks.clock import timed
from benchmarks.scenario import Case, Scenario, Side, module
from benchmarks.warehouses import write_samples
from talkhouse.export.export import export, settings
from talkhouse.export.formats import ExportFormat, Tool
from talkhouse.export.selection import select
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.packages.export import export_package
from talkhouse.schema.sql import literal
from talkhouse.system.atomic_output import private_folder
from talkhouse.warehouse.opened import Warehouse, opened

_ROWS = {"100,000 rows": 100_000, "1 million rows": 1_000_000, "3 million rows": 3_000_000}
VIEW = "dbdc3.breakdown_detection_invented"
"""Named like a view of one split, so that it is sorted as such a view is."""

COPIES = {
    "parquet": "format parquet, compression zstd",
    "csv": "format csv",
    "tsv": "format csv, delimiter '\t'",
    "jsonl": "format json",
}
"""What COPY has; it writes no Arrow without an extension."""


def _case(rows: int, file_format: ExportFormat, folder: Path) -> Case:
    warehouse = folder.parent / f"export_{rows}.duckdb"
    if not warehouse.exists():
        invent(warehouse, rows)
    own = _side("talkhouse export", "export", warehouse, folder / f"ours.{file_format}")
    copy = _side("DuckDB, COPY", "copy", warehouse, folder / f"copy.{file_format}")
    return Case((own, copy) if file_format in COPIES else (own,), rows)


def _side(name: str, way: str, warehouse: Path, output: Path) -> Side:
    return module(name, __name__, way, warehouse, output, writes=output)


SCENARIO = Scenario(
    name="export",
    title="Export rows to a file",
    cases={
        f"{file_format}, {rows}": partial(_case, number, file_format)
        for file_format in ExportFormat
        for rows, number in _ROWS.items()
    },
    quick=tuple(f"{file_format}, 100,000 rows" for file_format in ExportFormat),
    notes=(
        "Rows of 1 kB, sorted as the view's publisher has them. COPY gets the same memory limit and folder to sort in; "
        "it fails where that is too little. It writes no Arrow without an extension, and no manifest.",
    ),
)


def _chats(turns: int, folder: Path) -> Case:
    warehouse = folder / "w.duckdb"
    if not warehouse.exists():
        invent_chats(warehouse, turns)
    copy = _side("DuckDB, COPY", "copy-turns", warehouse, folder / "copy.jsonl")
    return Case((_side("talkhouse export --for chat", "chat", warehouse, folder / "chats"), copy), turns)


CHAT = Scenario(
    name="chat",
    title="Export whole dialogues as chats",
    cases={"100,000 turns": partial(_chats, 100_000), "1 million turns": partial(_chats, 1_000_000)},
    quick=("100,000 turns",),
    bar={"1 million turns": 2},
    notes=("Turns of 216 letters, 10 a dialogue. COPY writes a line a turn, and neither messages nor a manifest.",),
)


def invent_chats(path: Path, turns: int) -> None:
    """Make a warehouse of a corpus of chats with so many turns."""
    folder = path.parent / "data" / "talks"
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text('title = "Talks"\nformat = "chat"\n[dialogue]\nid = "id"\n')
    with duckdb.connect() as con:
        con.execute(
            "copy (select 'd' || i as id, list_transform(range(10), lambda turn: {role: if(turn % 2 = 0, 'user', "
            "'assistant'), content: repeat(md5((10 * i + turn)::varchar) || ' é \"', 6)}) as messages "
            f"from range({turns // 10}) dialogues(i)) to {literal(str(folder / 'a.jsonl'))} (format json)"
        )
    build(path, Silent(), data=folder.parent)


def invent(path: Path, rows: int) -> None:
    """Make a warehouse with a view of so many rows, of 1 kB of text and two lists each.

    The rows are stored in another order than the published one.
    """
    write_samples(path)
    with duckdb.connect(path) as con:
        con.execute("set memory_limit = '2GB'")
        con.execute(
            "create table main.invented as select 'dbdc3' as release, "
            "if(hash(i) % 10 = 0, 'dev', 'eval') as split, i as example_index, 'dbdc3:' || i as dialogue_id, "
            "[md5(i::varchar), 'a \"word\"', md5((i + 1)::varchar)] as context, "
            "repeat(md5(i::varchar) || ' é' || chr(10), 26) as utterance, "
            "if(i % 3 = 0, null, i % 7) as turn_index, i / 3.0::double as prob_o, [i, i + 1] as counts "
            f"from range({rows}) invented(i) order by hash(i)"
        )
        con.execute(f"create view {VIEW} as from main.invented")


def talkhouse_export(path: Path, output: Path) -> None:
    """Export as the command does."""
    with opened(path, settings=settings(output)) as warehouse:
        export(warehouse, VIEW, output, file_format=ExportFormat(output.suffix[1:]), force=True)


def talkhouse_chat(path: Path, output: Path) -> None:
    """Export chats as the command does."""
    with opened(path, settings=settings(output)) as warehouse:
        export_package(warehouse, "talks", Tool.CHAT, output)


def duckdb_copy(path: Path, output: Path, query: str | None = None) -> None:
    """Write the same rows in the same order by DuckDB."""
    limits = {**settings(output), "memory_limit": "1GB", "enable_progress_bar": False}
    with talkhouse.open(path, settings=limits, unsafe=True) as con, private_folder(output):
        query = query or select(Warehouse(con), VIEW).sql()
        con.execute(f"copy ({query}) to {literal(str(output))} ({COPIES[output.suffix[1:]]})")


_TURNS = "select dialogue_id, role, text from main.turns order by dialogue_id, turn_index"
_WAYS = {
    "export": talkhouse_export,
    "copy": duckdb_copy,
    "chat": talkhouse_chat,
    "copy-turns": partial(duckdb_copy, query=_TURNS),
}


def main() -> None:
    """Write what the arguments say."""
    way, *paths = sys.argv[1:]
    path, output = map(Path, paths)
    print(json.dumps(timed(_WAYS[way], path, output)))


if __name__ == "__main__":
    main()
