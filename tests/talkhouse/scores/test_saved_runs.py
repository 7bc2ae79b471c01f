"""The file of saved runs: only ours is read or changed, a hostile one reaches nothing, and no number is lost."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from filelock import FileLock

from talkhouse.schema.errors import SchemaMismatch, TalkhouseError, UsageError, WarehouseLocked
from talkhouse.scores.saved_runs import check_run, load_rows, open_saved, path_for, saved
from talkhouse.scores.workspace import ScoringWorkspace
from talkhouse.system.atomic_output import private_folder_path
from tests.commands import COMMAND
from tests.commands import run as start
from tests.lanes import first_quick

EXAMPLES = "examples_delidata_probing_target"
SCORE = ("score", "delidata.probing_target", "--baseline", "oracle", "--json")


def database(*statements: str) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        with duckdb.connect(path) as con:
            for statement in statements:
                con.execute(statement)

    return make


def changed(*statements: str) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        assert start(*SCORE, "--save", "mine", cwd=path.parent).returncode == 0
        database(*statements)(path)

    return make


CONTENT = "secret of another file"
OTHERS: dict[str, tuple[Callable[[Path], object], type[TalkhouseError], str]] = {
    "empty": (lambda path: path.touch(), UsageError, "an empty file"),
    "text": (lambda path: path.write_text("hello\n" * 5000), UsageError, "not a valid DuckDB"),
    "folder": (lambda path: path.mkdir(), UsageError, "a folder"),
    "link": (lambda path: path.symlink_to(path.with_name("talkhouse.duckdb")), UsageError, "a link"),
    "dangling": (lambda path: path.symlink_to("nowhere"), UsageError, "a link"),
    "own database": (database("create table finance as select 1 as a"), UsageError, "without the table runs"),
    "another runs": (database("create table runs (run varchar)"), UsageError, "without the table runs"),
    "no table": (database(), UsageError, "without the table runs"),
    "a type": (changed("create type tiny as enum ('a')"), UsageError, "the type tiny"),
    "a macro": (changed("create macro lower(a) as 'x'"), UsageError, "the macro lower"),
    "a column more": (changed("alter table metrics add column x integer"), UsageError, "without the table metrics"),
    "newer": (changed("update format set version = 5"), SchemaMismatch, "format 5"),
    "a view": (
        changed("alter table runs rename to theirs", "create view runs as from theirs"),
        UsageError,
        "without the table runs",
    ),
}


@pytest.mark.parametrize("name", first_quick(OTHERS, 6))
def test_the_file_of_somebody_else_is_left(name: str, warehouse: Path) -> None:
    make, kind, found = OTHERS[name]
    path = path_for(warehouse)
    make(path)
    before = path.read_bytes() if path.is_file() else None
    for ask in (lambda: saved(warehouse), lambda: check_run("other", warehouse)):
        with pytest.raises(kind) as caught:
            ask()
        assert found in (caught.value.found or "")
        assert caught.value.where == path
    done = start(*SCORE, "--save", "mine", cwd=warehouse.parent)
    assert (done.returncode, "Traceback" in done.stderr) == (kind.exit_code, False)
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.slow
@pytest.mark.parametrize("table", ["runs", "metrics", EXAMPLES])
def test_a_hostile_file_shows_nothing_of_others(table: str, warehouse: Path) -> None:
    secret = warehouse.with_name("secret.txt")
    secret.write_text(CONTENT)
    changed(
        f"alter table {table} rename to theirs",
        f"create view {table} as select replace(content, 'x', 'x') as {'run' if table == 'runs' else 'threshold'} "
        f"from read_text('{secret}')",
    )(path_for(warehouse))
    if table != EXAMPLES:
        with pytest.raises(UsageError, match="not a file of saved runs"):
            saved(warehouse)
    else:
        assert start(*SCORE, "--save", "other", cwd=warehouse.parent).returncode == 0
    for command in (("scores",), ("scores", "--json"), ("scores", "--compare", "mine", "other")):
        done = start(*command, cwd=warehouse.parent)
        assert CONTENT not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
    assert done.returncode == 2


@pytest.mark.slow
def test_examples_of_another_shape_are_not_compared(warehouse: Path) -> None:
    changed(f"create or replace table {EXAMPLES} as select 'mine' as saved_run, 1 as a")(path_for(warehouse))
    assert start(*SCORE, "--save", "other", cwd=warehouse.parent).returncode == 0
    done = start("scores", "--compare", "mine", "other", cwd=warehouse.parent)
    assert (done.returncode, "the file of saved runs was changed" in done.stderr) == (2, True)


NAMES = ["", " ", "a ", "\n", "a\0b", "a\x1b[31m", "-x", "x" * 201, "\ud800", "a\u202eb"]


def test_odd_names_of_runs(warehouse: Path) -> None:
    for name in NAMES:
        with pytest.raises(UsageError, match=r"no run can have this name|not valid Unicode"):
            check_run(name, warehouse)
    for name in ("best's", 'a "b" c', "é", "../x", "a;drop table runs", "runs"):
        check_run(name, warehouse)


@pytest.mark.slow
def test_a_file_that_another_process_writes_is_refused_first(warehouse: Path) -> None:
    """Another process has the file open for writing, as a shell of DuckDB does."""
    path = path_for(warehouse)
    changed()(path)
    with duckdb.connect(path) as con:
        con.execute("begin")
        done = start(*SCORE, "--save", "other", cwd=warehouse.parent)
    assert done.returncode == WarehouseLocked.exit_code
    assert "another process" in done.stderr


@pytest.mark.slow
def test_two_runs_that_are_saved_at_once_are_both_saved(warehouse: Path) -> None:
    """The second waits, and has shown its numbers by then."""
    path = path_for(warehouse)
    with FileLock(f"{private_folder_path(path)}.lock"):
        process = subprocess.Popen(
            [*COMMAND, *SCORE, "--save", "late"], cwd=warehouse.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        # The whole report comes while the lock is held.
        lines = []
        while not lines or lines[-1] != b"}\n":
            lines.append(process.stdout.readline())
            assert lines[-1], lines
        assert json.loads(b"".join(lines))["task"] == "delidata.probing_target"
        assert not path.exists()
    _, errors = process.communicate()
    assert (process.returncode, b"saved in" in errors) == (0, True), errors
    assert [run["run"] for run in saved(warehouse)] == ["late"]


@pytest.mark.slow
def test_a_file_that_may_not_be_written_stays(warehouse: Path) -> None:
    path = path_for(warehouse)
    changed()(path)
    path.with_name(f"{path.name}.wal").touch()
    with pytest.raises(UsageError, match="its changes are not in it yet"):
        check_run("other", warehouse)
    path.with_name(f"{path.name}.wal").unlink()
    path.chmod(0o444)
    with pytest.raises(UsageError, match="the file is read-only"):
        check_run("other", warehouse)
    assert [run["run"] for run in saved(warehouse)] == ["mine"]


Rows = tuple[list[tuple[object, ...]], list[tuple[object, ...]]]


def loaded(path: Path) -> dict[tuple[str, str], Rows]:
    """Return the columns and rows of what each run scored and answers, as commands read them."""
    found = {}
    with open_saved(path) as store, duckdb.connect() as con, ScoringWorkspace(con) as workspace:
        for kind in ("examples", "answers"):
            for (run,) in store.execute("select run from runs").fetchall():
                table = load_rows(store, kind, run, workspace, 100)
                assert table is not None
                found[kind, run] = con.execute(f"describe {table}").fetchall(), con.execute(f"from {table}").fetchall()
    return found


@pytest.mark.slow
def test_runs_of_an_older_file_share_tables_after_the_next_save(warehouse: Path) -> None:
    """format-3.tar.xz is of Talkhouse of that format: five runs by score --save, two of them of one task."""
    shutil.unpack_archive(Path(__file__).with_name("format-3.tar.xz"), warehouse.parent, filter="data")
    path = path_for(warehouse)
    before, rows, size = saved(warehouse), loaded(path), path.stat().st_size
    metrics = {"mine": 13, 'a "b" c': 13, "Delidata_Outcome": 576, "best's": 18, "é": 4}
    assert {run["run"]: len(run["metrics"]) for run in before} == metrics
    with duckdb.connect(path, read_only=True) as con:
        assert rows["examples", "best's"][1] == con.execute('from examples."best\'s"').fetchall()
        assert rows["answers", "é"][1] == con.execute('from answers."é"').fetchall()
        assert len(rows["examples", "Delidata_Outcome"][1]) == 52

    assert start(*SCORE, "--save", "new", cwd=warehouse.parent).returncode == 0
    assert [run for run in saved(warehouse) if run["run"] != "new"] == before
    assert {place: found for place, found in loaded(path).items() if place[1] != "new"} == rows
    with duckdb.connect(path, read_only=True) as con:
        tables = {name for (name,) in con.execute("select table_name from duckdb_tables()").fetchall()}
    tasks = {run["task"].replace(".", "_") for run in before}
    assert tables == {
        "format",
        "metrics",
        "runs",
        *(f"{kind}_{task}" for kind in ("examples", "answers") for task in tasks),
    }
    assert path.stat().st_size < size / 10


@pytest.mark.slow
def test_another_run_takes_no_blocks_of_its_own(warehouse: Path) -> None:
    changed()(path_for(warehouse))
    size = path_for(warehouse).stat().st_size
    for number in range(5):
        assert start(*SCORE, "--save", str(number), cwd=warehouse.parent).returncode == 0
    assert path_for(warehouse).stat().st_size <= 2 * size


@pytest.mark.slow
@pytest.mark.parametrize("created", ["view {} as select 1 as a", "table {} as select 1 as a"])
def test_what_users_have_put_into_the_file_stays(created: str, warehouse: Path) -> None:
    """It has the name of a table of runs, and a table of other columns is taken in its place."""
    changed(f"alter table {EXAMPLES} rename to {EXAMPLES}_9", f"create {created.format(EXAMPLES)}")(path_for(warehouse))
    assert start(*SCORE, "--save", "other", cwd=warehouse.parent).returncode == 0
    assert start("scores", "--compare", "mine", "other", cwd=warehouse.parent).returncode == 0
    with duckdb.connect(path_for(warehouse), read_only=True) as con:
        assert con.execute(f"from {EXAMPLES}").fetchall() == [(1,)]
        assert con.execute(f"select distinct saved_run from {EXAMPLES}_2").fetchall() == [("other",)]


@pytest.mark.slow
def test_the_newest_runs_are_shown(warehouse: Path) -> None:
    runs = "from range(1, 23) as numbers(n), "
    later = "concat('r', n) as run, saved_at + to_hours(n) as saved_at"
    changed(
        f"insert into runs select mine.* replace ({later}) {runs}runs as mine",
        f"insert into metrics select mine.* replace (concat('r', n) as run) {runs}metrics as mine",
    )(path_for(warehouse))
    shown = start("scores", cwd=warehouse.parent).stdout
    assert (" r3 " in shown, " r2 " in shown, "3 older runs are not shown: --limit 23 or --json" in shown) == (
        True,
        False,
        True,
    )
    shown = start("scores", "--limit", "23", cwd=warehouse.parent).stdout
    assert (" mine " in shown, "not shown" in shown) == (True, False)
    assert len(json.loads(start("scores", "--json", cwd=warehouse.parent).stdout)) == 23
    last = json.loads(start("scores", "--json", "--limit", "1", cwd=warehouse.parent).stdout)
    assert [run["run"] for run in last] == ["r22"]
