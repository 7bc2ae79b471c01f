"""The console's sandbox: what a query may not do, how it ends, and that nothing is left behind."""

import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import duckdb
import pytest

import talkhouse
from talkhouse.export import sandbox
from talkhouse.export.formats import QueryFormat
from talkhouse.export.sandbox import run_query
from talkhouse.schema.errors import QueryFailed, TalkhouseError
from talkhouse.system.interrupt import stoppable
from tests.commands import COMMAND, run
from tests.conftest import wait_for
from tests.data_files import data_of
from tests.lanes import first_quick
from tests.talkhouse.export.ways_out import FAILS, HARMLESS, REFUSED, WRITES, every

LONG = "select count(*) from range(100_000_000_000) t(i) where hash(i) % 7 = 3"
STUBBORN = "select levenshtein(repeat('a', 1_000_000), repeat('b', 1_000_000))"
"""DuckDB does not hear an interrupt in this: the process of the query is killed."""
ENDLESS = "select i from range(100_000_000_000) t(i)"


def ask(folder: Path, query: str, *, sandboxed: bool = True) -> None:
    frame = duckdb.sql("select 1 as of_python")
    settings = sandbox.settings(sandboxed=sandboxed)
    with talkhouse.open(folder / "w.duckdb", settings=settings, unsafe=not sandboxed) as con:
        run_query(con, query.format(dir=folder, db=folder / "w.duckdb"), QueryFormat.CSV, None, sandboxed=sandboxed)
    del frame


@pytest.mark.parametrize("query", ["from frame", "select getenv('HOME')"])
def test_python_and_the_environment_are_out_of_reach_of_unsafe_too(folder: Path, query: str) -> None:
    with pytest.raises(QueryFailed):
        ask(folder, query, sandboxed=False)


@pytest.mark.parametrize("attack", first_quick(["copy (select 1) to '{db}' (format csv, use_tmp_file false)", *WRITES]))
def test_the_settings_hold_without_the_check_of_statements(folder: Path, attack: str) -> None:
    settings = sandbox.settings()
    with talkhouse.open(folder / "w.duckdb", settings=settings) as con, pytest.raises(duckdb.PermissionException):
        con.sql(attack.format(dir=folder, db=folder / "w.duckdb")).fetchall()


def test_unsafe_does_what_it_says_and_does_not_write_to_the_warehouse(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for source in (
        "'{dir}/mine.csv'",
        "read_csv('{dir}/mine.csv')",
        "'{dir}/mine.parquet'",
        "read_text('{dir}/mine.csv')",
    ):
        ask(folder, f"from {source}", sandboxed=False)
        assert "secret" in capfd.readouterr().out
    ask(folder, "set threads = 1; create temp table t as from '{dir}/mine.csv'; select b from t", sandboxed=False)
    assert capfd.readouterr().out == '"b"\n"secret"\n'
    ask(folder, "create temp table t (a int)", sandboxed=False)
    assert capfd.readouterr() == ("", "done; the query returns no rows\n")
    with pytest.raises(QueryFailed, match="read-only"):
        ask(folder, "delete from main.turns", sandboxed=False)


@pytest.mark.parametrize("query", ["", "-- nothing", ";"])
def test_an_empty_query_is_an_error(folder: Path, query: str) -> None:
    with pytest.raises(TalkhouseError, match="the query is empty"):
        ask(folder, query)


@pytest.mark.parametrize("query", ["select '\udcff'", "\udcff"])
def test_a_query_that_is_not_unicode_is_an_error(sample: Path, query: str) -> None:
    shown = run("sql", query, "--db", sample)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "the query is not valid Unicode" in shown.stderr


def test_the_command_is_sandboxed_until_unsafe(folder: Path) -> None:
    query = f"select b from '{folder}/mine.csv'"
    refused = run("sql", query, "--db", folder / "w.duckdb", "--format", "csv")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "sandboxed" in refused.stderr
    assert "--unsafe" in refused.stderr
    lifted = run("sql", query, "--db", folder / "w.duckdb", "--format", "csv", "--unsafe")
    assert (lifted.returncode, lifted.stdout, lifted.stderr) == (0, '"b"\n"secret"\n', "")


@pytest.mark.slow
def test_memory_ends_with_a_hint_and_not_on_the_disk(folder: Path) -> None:
    with talkhouse.open(folder / "w.duckdb", settings=sandbox.settings(memory="100MB")) as con:
        query = "select repeat('x', 100) || i as s from range(5_000_000) t(i) order by hash(i)"
        with pytest.raises(QueryFailed, match=r"more memory[\s\S]*--unsafe"):
            run_query(con, query, QueryFormat.CSV, None)


def count(query_format: QueryFormat, path: Path) -> int:
    if query_format is QueryFormat.PARQUET:
        return len(duckdb.execute(f"from read_parquet('{path}')").fetchall())
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    heads = {QueryFormat.TABLE: 4, QueryFormat.MARKDOWN: 2, QueryFormat.CSV: 1, QueryFormat.JSONL: 0}
    return len(json.loads(text)) if query_format is QueryFormat.JSON else len(lines) - heads[query_format]


@pytest.mark.parametrize("query_format", first_quick(QueryFormat))
@pytest.mark.parametrize("limit", [0, 3, 5, 9])
def test_limit(
    sample: Path, tmp_path: Path, query_format: QueryFormat, limit: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with talkhouse.open(sample, settings=sandbox.settings()) as con:
        run_query(con, "select i as n from range(5) t(i) order by i desc", query_format, tmp_path / "out", limit=limit)
    assert count(query_format, tmp_path / "out") == min(limit, 5)
    note = f"only the first {limit} rows are returned (--limit); there are more\n"
    assert capfd.readouterr() == ("", note if limit < 5 else "")


@pytest.mark.parametrize("query_format", first_quick(QueryFormat))
def test_limit_does_not_run_the_whole_query(sample: Path, tmp_path: Path, query_format: QueryFormat) -> None:
    with talkhouse.open(sample, settings=sandbox.settings()) as con, stoppable(con, 300):
        run_query(con, ENDLESS, query_format, tmp_path / "out", limit=2)
    assert count(query_format, tmp_path / "out") == 2


@pytest.mark.parametrize("query_format", first_quick([QueryFormat.CSV, QueryFormat.JSON, QueryFormat.PARQUET]))
def test_timeout_leaves_no_half_file(sample: Path, tmp_path: Path, query_format: QueryFormat) -> None:
    path = tmp_path / "out"
    path.write_text("as it was")
    with (
        talkhouse.open(sample, settings=sandbox.settings()) as con,
        pytest.raises(QueryFailed, match=r"too long[\s\S]*0.5 s"),
        stoppable(con, 0.5) as stop,
    ):
        run_query(con, ENDLESS, query_format, path, check_complete=stop.check)
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_a_query_that_fails_halfway_leaves_no_half_file(sample: Path, tmp_path: Path) -> None:
    query = "select case when i = 500_000 then error('boom') else i end as n from range(1_000_000) t(i)"
    for query_format in (QueryFormat.CSV, QueryFormat.PARQUET):
        with talkhouse.open(sample) as con, pytest.raises(QueryFailed, match="boom"):
            run_query(con, query, query_format, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_output_to_a_device_and_to_the_warehouse_itself(folder: Path) -> None:
    warehouse = folder / "w.duckdb"
    assert run("sql", "select 1", "--db", warehouse, "--output", os.devnull).returncode == 0
    assert not Path(os.devnull).is_file()
    refused = run("sql", "select 1", "--db", warehouse, "--output", warehouse)
    assert refused.returncode == 2
    assert "would replace the warehouse" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "to_file"), [(LONG, True), (LONG, False), (ENDLESS, True), (ENDLESS, False), (STUBBORN, True)]
)
def test_ctrl_c(sample: Path, tmp_path: Path, query: str, to_file: bool) -> None:
    # The script says when the query is about to run: a SIGINT before that meets Python's own start.
    script = (
        "import pathlib, talkhouse.export.sandbox as module\n"
        "original = module.run_query\n"
        "def wrapped(*a, **k):\n"
        "    pathlib.Path('started').touch(); original(*a, **k)\n"
        "module.run_query = wrapped\n"
        "from talkhouse.cli import main; main()"
    )
    arguments = ["sql", query, "--db", str(sample), "--format", "csv", *(["--output", "out"] if to_file else [])]
    command, nowhere = [COMMAND[0], "-c", script, *arguments], subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=tmp_path, stdout=nowhere, stderr=subprocess.PIPE, text=True)
    wait_for(tmp_path / "started", process)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    assert (process.returncode, stderr) == (130, "interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["started"]


@pytest.mark.slow
def test_a_query_ends_with_the_process_that_waits_for_it(sample: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "rows"
    os.mkfifo(fifo)
    command = [*COMMAND, "sql", STUBBORN, "--db", str(sample), "--format", "csv", "--output", str(fifo)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    # Where it ends before it opens the pipe, nobody else would.
    Thread(target=lambda: (process.wait(), os.close(os.open(fifo, os.O_RDWR)))).start()
    # The query's process has opened the pipe, and is the last one that holds its end.
    with fifo.open() as rows:
        assert process.poll() is None
        process.kill()
        process.communicate(timeout=300)
        assert rows.read() == ""


LEFT = [["sql", "select 1 as x", "--format", "csv"], ["sql", ENDLESS, "--format", "csv"], ["status"], ["views"]]


@pytest.mark.parametrize("arguments", first_quick(LEFT))
def test_a_reader_that_has_left_is_no_error(sample: Path, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    shown = subprocess.run(
        [*COMMAND, *arguments, "--db", str(sample)], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=300
    )
    os.close(writing)
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.slow
def test_a_terminal_that_goes_is_no_error(sample: Path) -> None:
    leader, follower = pty.openpty()
    command, nothing = [*COMMAND, "sql", ENDLESS, "--db", str(sample), "--format", "csv"], subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=nothing, stdout=follower, stderr=subprocess.PIPE, text=True)
    os.close(follower)
    os.read(leader, 1)
    os.close(leader)
    _, stderr = process.communicate(timeout=300)
    assert (process.returncode, stderr) == (0, "")


# Every known way out of the sandbox: it is refused, or leads nowhere, and leaves nothing behind.


@pytest.fixture(scope="module")
def console(files: dict[Path, bytes]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A sandboxed console on the warehouse of these files, which all ways out try one after the other."""
    (folder,) = {path.parent for path in files}
    with talkhouse.open(folder / "w.duckdb", settings=sandbox.settings()) as con:
        before = con.execute(STATE).fetchall()
        yield con
        assert con.execute(STATE).fetchall() == before


STATE = data_of(__file__)["state"]
"""What a query could leave behind in the process."""


def attempt(con: duckdb.DuckDBPyConnection, folder: Path, query: str) -> None:
    frame = duckdb.sql("select 'secret' as of_python")
    run_query(con, query.format(dir=folder, db=folder / "w.duckdb"), QueryFormat.CSV, None)
    del frame


def test_there_are_many_ways_out() -> None:
    assert len(set(every(REFUSED, FAILS, HARMLESS))) == len(every(REFUSED, FAILS, HARMLESS)) > 300


@pytest.mark.parametrize("attack", first_quick(every(REFUSED), 12))
def test_the_sandbox_refuses_and_says_so(
    console: duckdb.DuckDBPyConnection, folder: Path, attack: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(QueryFailed, match=r"the console is sandboxed[\s\S]*--unsafe"):
        attempt(console, folder, attack)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("attack", first_quick(every(FAILS), 12))
def test_some_ways_out_do_not_exist(
    console: duckdb.DuckDBPyConnection, folder: Path, attack: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(QueryFailed):
        attempt(console, folder, attack)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("attack", first_quick(every(HARMLESS), 12))
def test_some_queries_only_look_like_ways_out(
    console: duckdb.DuckDBPyConnection,
    folder: Path,
    attack: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TALKHOUSE_TEST_SECRET", "secret")
    attempt(console, folder, attack)
    shown = capfd.readouterr().out.replace("secret_", "").replace("_secret", "").replace("duckdb_secrets", "")
    assert "1,secret" not in shown
    assert str(Path.home()) not in shown
