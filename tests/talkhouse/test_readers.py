"""Readers while builds publish: no error, no wait, and never a part of one build with a part of another."""

import json
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from pkgutil import resolve_name

import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.run import build
from tests.commands import COMMAND
from tests.phases import PHASES
from tests.talkhouse.load.test_run import fetch

OTHER = corpora()["delidata"]

READER = """
import duckdb, sqlalchemy
import talkhouse

path = folder / "w.duckdb"
query = '''select (select max(load_id) from meta.loads), (select count(*) from main.records),
    (select count(*) from bi.dialogues), (select max(records_loaded) from (select sum(records_loaded) as records_loaded
    from meta.source_files))'''

def views():
    with talkhouse.open(path) as con:
        return con.execute(query).fetchone()

def attached():
    with duckdb.connect() as con:
        con.execute(f"attach '{path}' as w (read_only)")
        con.execute("use w")
        return con.execute(query).fetchone()

def engine():
    made = sqlalchemy.create_engine(f"talkhouse:///{path}", poolclass=sqlalchemy.NullPool)
    with made.connect() as con:
        return con.execute(sqlalchemy.text(query)).fetchone()

def kept():
    return held.execute(query).fetchone()

held = talkhouse.open(path) if kind == "kept" else None
"""
"""Ways to read the number of the build and counts of what it loaded."""

IN_A_LOOP = """
import json, sys, time
from pathlib import Path

kind, folder, number, *more = sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]
{ways}
with open(folder / f"reader{{number}}", "a", buffering=1) as seen:
    while not (folder / "end").exists():
        try:
            row = [int(value) for value in globals()[kind]()]
        except Exception as error:
            row = f"{{type(error).__name__}}: {{error}}"
        print(json.dumps(row), file=seen)
        time.sleep(0.05)  # leaves the processors to the writer
"""
"""Reads in one of these ways, again and again, and writes down what it gets."""

Kinds = tuple[str, ...]
KINDS: Kinds = ("views", "attached", "engine", "kept")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder whose files are records, one for each build to add."""
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def add_file(data: Path, number: int) -> None:
    source = sorted(path for path in sample_of(OTHER).rglob("*-*") if path.is_file())[0]
    folder = data / OTHER.id / "delidata_corpus"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{source.name[:-12]}{number:012}"
    (folder / name).write_text(source.read_text().replace(source.name, name))


class Readers:
    """Processes that read in a loop, each in one of some ways, until there is a file ``end``."""

    def __init__(self, folder: Path, number: int, *arguments: str, ways: str = READER, kinds: Kinds = KINDS) -> None:
        self.files = [folder / f"reader{index}" for index in range(number)]
        command = [sys.executable, "-c", IN_A_LOOP.format(ways=ways)]
        self.processes = [
            subprocess.Popen([*command, kinds[index % len(kinds)], str(folder), str(index), *arguments])
            for index in range(number)
        ]

    def all_read_again(self) -> None:
        """Wait until each reader has done a query that began after now; fail where one has ended or hangs."""
        wanted = [len(lines(path)) + 2 for path in self.files]
        end = time.monotonic() + 300
        while any(len(lines(path)) < count for path, count in zip(self.files, wanted, strict=True)):
            assert all(process.poll() is None for process in self.processes)
            assert time.monotonic() < end, "a reader waits"
            time.sleep(0.01)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize(
    ("readers", "builds"), [pytest.param(4, 4, marks=pytest.mark.slow), pytest.param(8, 20, marks=pytest.mark.long)]
)
def test_readers_see_one_build_or_the_next(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, readers: int, builds: int
) -> None:
    """Each build stands still in one of its phases until every reader has read: none of them can wait for it."""
    add_file(data, 0)
    path = tmp_path / "w.duckdb"
    build(path, Silent(), data=data)
    processes = Readers(tmp_path, readers)
    processes.all_read_again()
    phases = [where for phase, where in PHASES["build"].items() if phase not in ("clear", "open", "lock")]
    for number in range(1, builds + 1):
        add_file(data, number)
        with monkeypatch.context() as patch:
            stand_still(patch, phases[number % len(phases)], processes)
            build(path, Silent(), data=data)
        processes.all_read_again()
    (tmp_path / "end").touch()
    assert [process.wait(timeout=300) for process in processes.processes] == [0] * readers
    seen = [[json.loads(line) for line in lines(file)] for file in processes.files]
    counted: Counter[str] = Counter()
    for index, rows in enumerate(seen):
        for row in rows:
            assert row == [row[0], row[0], row[0], row[0]], row  # the build of number n has n files, each a record
        assert [row[0] for row in rows] == sorted(row[0] for row in rows)
        assert {row[0] for row in rows} == ({1} if KINDS[index % 4] == "kept" else set(range(1, builds + 2)))
        counted[KINDS[index % 4]] += len(rows)
    print(f"\n{sum(counted.values())} queries {dict(counted)}, {builds} builds")


def stand_still(patch: pytest.MonkeyPatch, where: str, readers: Readers) -> None:
    """Make the writer wait at its first call of a function until all readers have read."""
    target = where.replace(":", ".")
    function, waited = resolve_name(target), []

    def waiting(*arguments: object, **options: object) -> object:
        if not waited:
            waited.append(True)
            readers.all_read_again()
        return function(*arguments, **options)

    patch.setattr(target, waiting)


# Builders.


def test_a_lock_file_of_another_host_or_a_dead_process_holds_nobody(data: Path, tmp_path: Path) -> None:
    add_file(data, 0)
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    for number, (pid, host) in enumerate([(1, "elsewhere"), (int(dead.stdout), socket.gethostname())], start=1):
        lock = tmp_path / ".w.duckdb.lock"
        lock.write_text(json.dumps({"pid": pid, "host": host, "since": "2001-01-01 00:00:00 UTC"}))
        (tmp_path / ".w.duckdb.build").mkdir()
        (tmp_path / ".w.duckdb.build" / "_stage.duckdb").write_text("half")
        add_file(data, number)
        build(tmp_path / "w.duckdb", Silent(), data=data, wait=False)
        assert not list(tmp_path.glob(".w.duckdb*"))
        assert fetch(tmp_path / "w.duckdb", "select count(*) from main.records") == [(number + 1,)]


@pytest.mark.slow
def test_builders_at_once_come_one_after_the_other(data: Path, tmp_path: Path) -> None:
    processes = []
    for number in range(3):
        add_file(data / str(number), number)
        arguments = ["ingest", OTHER.id, data / str(number) / OTHER.id, "--db", "w.duckdb"]
        processes.append(
            subprocess.Popen(
                [*COMMAND, *arguments], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        )
    ended = [(process.communicate(timeout=300)[1], process.returncode) for process in processes]
    assert [code for _, code in ended] == [0, 0, 0], ended
    assert fetch(tmp_path / "w.duckdb", "select count(*), max(load_id) from main.records, meta.loads") == [(3, 3)]
    assert not list(tmp_path.glob(".w.duckdb*"))
