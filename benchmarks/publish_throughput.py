"""Speed and memory of ``publish``, beside a bare COPY of the same bytes into tables without keys.

    uv run python -m benchmarks.publish_throughput --turns 1000000

Invents a warehouse with so many turns and eight candidates for each, and publishes its tables: with keys, relations,
indexes, statistics, and every row hashed on both sides. Then COPY writes the tables of the copy to files, and the files
are copied into bare tables of another schema. The server is one that is started for this, unless ``--url`` names one;
the peak is the largest resident set of the process that publishes.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import psycopg

import talkhouse
from benchmarks.memory import peak
from talkhouse.build.progress import Silent
from talkhouse.build.run import build
from talkhouse.postgres.plan import Options
from talkhouse.postgres.publish import publish
from talkhouse.warehouse.opened import Warehouse
from tests import postgres_server

PREFIX = "benchmark_"
CHUNK = 1_000_000

INVENT = """
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


class Steps:
    """Notes when each step begins."""

    def __init__(self) -> None:
        self.begun: dict[str, float] = {}

    def begin(self, step: str, **_: object) -> None:
        """Note the time."""
        self.begun[step] = time.perf_counter()

    def advance(self, records: int) -> None:
        """Count nothing."""


def invent(path: Path, turns: int) -> None:
    """Make a warehouse with so many turns."""
    build(path, Silent())
    path.chmod(0o644)
    with duckdb.connect(path) as con:
        con.execute(INVENT.format(turns=turns, dialogues=turns // 10, texts=turns // 2, candidates=8 * turns))


def publish_tables(path: Path, url: str) -> dict[str, Any]:
    """Publish as the command does; return seconds, those of each step, and the peak."""
    steps = Steps()
    begun = time.perf_counter()
    with talkhouse.open(path) as con:
        con.execute("set memory_limit = '2GB'")
        publish(Warehouse(con), url, Options(prefix=PREFIX, without_views=True), steps)
    end = time.perf_counter()
    times = [*steps.begun.values(), end]
    by_step = {step: following - at for (step, at), following in zip(steps.begun.items(), times[1:], strict=True)}
    return {"seconds": end - begun, "steps": by_step, "peak": peak()}


def copy_bare(url: str, folder: Path) -> dict[str, float]:
    """Write the tables of the copy to files, and copy these into bare tables; return seconds and megabytes."""
    size = 0
    with psycopg.connect(url, autocommit=True) as server:
        server.execute("create schema bare")
        tables = server.execute(
            "select format('%I.%I', schemaname, tablename), tablename from pg_tables "
            f"where schemaname in ('{PREFIX}main', '{PREFIX}meta')"
        ).fetchall()
        for name, plain in tables:
            server.execute(f"create table bare.{plain} (like {name})".encode())
            with server.cursor().copy(f"copy {name} to stdout".encode()) as copy, (folder / plain).open("wb") as file:
                for data in copy:
                    file.write(data)
            size += (folder / plain).stat().st_size
        begun = time.perf_counter()
        for _, plain in tables:
            with (
                server.cursor().copy(f"copy bare.{plain} from stdin".encode()) as copy,
                (folder / plain).open("rb") as file,
            ):
                while data := file.read(CHUNK):
                    copy.write(data)
        seconds = time.perf_counter() - begun
        server.execute("drop schema bare cascade")
    return {"seconds": seconds, "megabytes": size / 1e6}


@contextmanager
def server(url: str | None) -> Iterator[str]:
    """Return the URL of a database: the one that is given, or one on a server that runs meanwhile."""
    if url:
        yield url
        return
    with postgres_server.served(postgres_server.programs()[-1]) as own, own.database() as database:
        yield database.url()


def compare(turns: int, given: str | None) -> None:
    """Print what both take."""
    with tempfile.TemporaryDirectory() as name, server(given) as url:
        folder = Path(name)
        path = folder / "talkhouse.duckdb"
        _apart("--invent", str(turns), str(path))
        published = json.loads(_apart("--publish", str(path), url))
        bare = copy_bare(url, folder)
    seconds, size, steps = published["seconds"], bare["megabytes"], published["steps"]
    print(f"{turns:,} turns, {8 * turns:,} candidates, {size:,.0f} MB as text")
    print("| by | seconds | MB/s | peak MB |\n|---|---|---|---|")
    print(f"| publish | {seconds:.1f} | {size / seconds:,.0f} | {published['peak']:,.0f} |")
    print(f"| bare COPY | {bare['seconds']:.1f} | {size / bare['seconds']:,.0f} | |")
    print(
        f"publish has {bare['seconds'] / seconds:.2f} of the speed of COPY; of its seconds "
        + ", ".join(f"{taken:.1f} {step}" for step, taken in steps.items())
    )


def _apart(*arguments: str) -> str:
    """Run this module in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.publish_throughput", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Measure, or be the process that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--url", help="a database in which to publish, instead of a server for this alone")
    parser.add_argument("--invent", nargs=2, metavar=("TURNS", "DB"), help=argparse.SUPPRESS)
    parser.add_argument("--publish", nargs=2, metavar=("DB", "URL"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.invent:
        invent(Path(arguments.invent[1]), int(arguments.invent[0]))
    elif arguments.publish:
        print(json.dumps(publish_tables(Path(arguments.publish[0]), arguments.publish[1])))
    else:
        compare(arguments.turns, arguments.url)


if __name__ == "__main__":
    main()
