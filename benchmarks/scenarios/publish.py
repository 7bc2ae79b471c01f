"""A copy of the tables on PostgreSQL, compared with a bare COPY of the same bytes.

    python -m benchmarks.scenarios.publish publish WAREHOUSE
    python -m benchmarks.scenarios.publish copy FOLDER
    python -m benchmarks.scenarios.publish dump WAREHOUSE FOLDER

bring tables to a PostgreSQL server that is started for it, and print what that took. ``publish`` does what the command
does, without views. ``copy`` copies the files of a folder into tables without keys, which are like those that were
published; ``dump`` makes the folder. The server's start is not measured, its work is.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg

import talkhouse
from benchmarks.clock import Times, timed
from benchmarks.scenario import Case, Scenario, module
from benchmarks.scenarios.lake import CANDIDATES, invent
from talkhouse.ingest.progress import Silent
from talkhouse.postgres.plan import Options
from talkhouse.postgres.publish import publish
from talkhouse.warehouse.opened import Warehouse
from tests import postgres_server

_TURNS = {"50,000 turns": 50_000, "1 million turns": 1_000_000}


def _case(turns: int, folder: Path) -> Case:
    warehouse, files = folder / "talkhouse.duckdb", folder / "files"
    invent(warehouse, turns)
    files.mkdir()
    subprocess.run([sys.executable, "-m", __name__, "dump", str(warehouse), str(files)], check=True)
    return Case(
        (
            module("talkhouse publish", __name__, "publish", warehouse),
            module("PostgreSQL, a bare COPY", __name__, "copy", files),
        ),
        turns,
    )


SCENARIO = Scenario(
    name="publish",
    title="Publish the tables to PostgreSQL",
    cases={name: partial(_case, turns) for name, turns in _TURNS.items()},
    quick=("50,000 turns",),
    bar={"1 million turns": 1 / 0.3},
    grows=True,
    notes=(
        f"{CANDIDATES} candidates for each turn. The tables are published with keys, relations, indexes and "
        "statistics, and every row is compared; COPY writes the same bytes into tables without keys.",
        "A rate of 0.3 is a ratio of 3.3.",
        "Processor time and memory are of the client: the server is no descendant of it.",
    ),
)


_PREFIX = "benchmark_"
_CHUNK = 1_000_000
_COLUMNS = f"""
select tablename, format('%I.%I', schemaname, tablename), (
    select string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' order by attnum)
    from pg_attribute
    where attrelid = format('%I.%I', schemaname, tablename)::regclass and attnum > 0 and not attisdropped
)
from pg_tables
where schemaname in ('{_PREFIX}main', '{_PREFIX}meta')
order by 1
"""


@contextmanager
def database() -> Iterator[str]:
    """Return the URL of a database on a server that runs meanwhile."""
    with postgres_server.served(postgres_server.programs()[-1]) as server, server.database() as database:
        yield database.url()


def publish_tables(path: Path, url: str) -> Times:
    """Publish the tables as the command does."""
    with talkhouse.open(path) as con:
        options = Options(prefix=_PREFIX, without_views=True)
        return timed(publish, Warehouse(con), url, options, Silent())


def dump(path: Path, folder: Path, url: str) -> None:
    """Write the published tables to files as COPY has them, with the columns of each next to it."""
    publish_tables(path, url)
    with psycopg.connect(url) as server:
        for table, name, columns in server.execute(_COLUMNS).fetchall():
            (folder / f"{table}.columns").write_text(columns, encoding="utf-8")
            with server.cursor().copy(f"copy {name} to stdout".encode()) as copy, (folder / table).open("wb") as file:
                for data in copy:
                    file.write(data)


def copy_files(folder: Path, url: str) -> Times:
    """Copy the files into bare tables."""
    with psycopg.connect(url, autocommit=True) as server:
        tables = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.columns"))}
        for table, columns in tables.items():
            server.execute(f"create table {table} ({columns})".encode())
        return timed(_copy_all, server, folder, list(tables))


def _copy_all(server: "psycopg.Connection[tuple[object, ...]]", folder: Path, tables: list[str]) -> None:
    for table in tables:
        with server.cursor().copy(f"copy {table} from stdin".encode()) as copy, (folder / table).open("rb") as file:
            while data := file.read(_CHUNK):
                copy.write(data)


def main() -> None:
    """Do what the arguments say."""
    what, *paths = sys.argv[1:]
    path, folder = Path(paths[0]), Path(paths[-1])
    with database() as url:
        if what == "dump":
            dump(path, folder, url)
        else:
            print(json.dumps(publish_tables(path, url) if what == "publish" else copy_files(folder, url)))


if __name__ == "__main__":
    main()
