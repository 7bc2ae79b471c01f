"""A whole ingest of one's own files, declared by options, beside DuckDB's typed read of the same file into tables.

    uv run python -m benchmarks.own_ingest [--scale 1.0] [--repeat 5] [--only long short table]

DuckDB is told every name and type, checks nothing and keeps nothing else; its texts are compressed as Talkhouse's are.
Each run is a process of its own, the two kinds in turn; whole processes are measured.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

from benchmarks.command import TALKHOUSE
from benchmarks.own_shape import chat, table

MEMORY = "2GB"
BARS = {"long": 2.5, "short": 3.0, "table": 4.0}
_MAPS = [f"--map={ours}={theirs}" for ours, theirs in (("text", "utterance"), ("speaker", "speaker"))]
OPTIONS = {
    "long": ["--format=chat", "--map=id=id"],
    "short": ["--format=chat", "--map=id=id"],
    "table": ["--format=turns", "--map=dialogue.id=conv_id", "--map=turn.id=utt_id", *_MAPS],
}

_JSON = """
create table records (id varchar, number bigint);
create table messages (number bigint, position bigint, role varchar, content varchar using compression zstd);
create temp table read as
    select row_number() over () as number, id, messages from read_json($path, format = 'newline_delimited',
        columns = {id: 'varchar', messages: 'struct(role varchar, content varchar)[]'});
insert into records select id, number from read;
insert into messages select number, generate_subscripts(messages, 1), unnest(messages, max_depth := 2) from read;
"""
_CSV = """
create table turns
    (conv_id varchar, utt_id varchar, speaker varchar, time varchar, utterance varchar using compression zstd);
insert into turns select * from read_csv($path, all_varchar = true, header = true, delim = ',', quote = '"');
"""


def write(kind: str, path: Path, scale: float) -> None:
    """Invent the file of a kind."""
    if kind == "long":
        chat(path, 500 * scale, messages=(1, 10), words=(80, 240))
    elif kind == "short":
        chat(path, 200 * scale, messages=(10, 20), words=(4, 16))
    else:
        table(path, round(1_900_000 * scale))


def read(kind: str, path: Path, database: Path) -> None:
    """Be the process in which DuckDB reads the file."""
    with duckdb.connect(database) as con:
        con.execute(f"set memory_limit = '{MEMORY}'")
        for statement in (_CSV if kind == "table" else _JSON).split(";")[:-1]:
            con.execute(statement, {"path": str(path)} if "$path" in statement else None)


def measure(command: list[str], database: Path) -> dict[str, float]:
    """Run a command as a process of its own: seconds, processor seconds, peak megabytes; and the file's megabytes."""
    database.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, "-m", "benchmarks.command", *command], check=True, stdout=subprocess.PIPE)
    used: dict[str, float] = json.loads(done.stdout)
    return used | {"stored": database.stat().st_size / 1e6}


def compare(kind: str, scale: float, repeat: int) -> None:
    """Invent a file, and read it both ways in turn."""
    with tempfile.TemporaryDirectory() as name:
        path, database = Path(name) / f"own.{'csv' if kind == 'table' else 'jsonl'}", Path(name) / "w.duckdb"
        write(kind, path, scale)
        ours = [*TALKHOUSE, "ingest", "own_talks", str(path), *OPTIONS[kind], "--memory-limit", MEMORY]
        ours += ["--db", str(database)]
        theirs = [sys.executable, "-m", "benchmarks.own_ingest", "--read", kind, str(path), str(database)]
        measure(theirs, database)
        rounds = [{"talkhouse": measure(ours, database), "duckdb": measure(theirs, database)} for _ in range(repeat)]
        size = path.stat().st_size / 1e6
    for who in rounds[0]:
        middle = {figure: statistics.median(one[who][figure] for one in rounds) for figure in rounds[0][who]}
        print(
            f"{kind:6} {size:6.0f} MB  {who:10}" + "".join(f"  {name} {value:8.1f}" for name, value in middle.items())
        )
    ratios = [
        statistics.median(one["talkhouse"][figure] / one["duckdb"][figure] for one in rounds)
        for figure in ("process", "cpu")
    ]
    print(
        f"{kind:6} {ratios[0]:.2f} times DuckDB's seconds, {ratios[1]:.2f} times its processor time; bar {BARS[kind]}"
    )


def main() -> None:
    """Measure, or (``--read``) be the process that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=BARS, default=list(BARS))
    parser.add_argument("--read", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        kind, path, database = arguments.read
        read(kind, Path(path), Path(database))
        return
    for kind in arguments.only:
        compare(kind, arguments.scale, arguments.repeat)


if __name__ == "__main__":
    main()
