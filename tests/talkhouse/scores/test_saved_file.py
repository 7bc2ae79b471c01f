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
from talkhouse.scores.saved.runs import check_run, saved
from talkhouse.scores.saved.saved_file import path_for
from talkhouse.system.atomic_output import private_folder_path
from tests.commands import COMMAND
from tests.commands import run as start

SCORE = ("score", "delidata.probing_target", "--baseline", "oracle", "--json")


@pytest.fixture
def warehouse(sample: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(sample, tmp_path / "talkhouse.duckdb"))


def database(*statements: str) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        with duckdb.connect(path) as con:
            for statement in statements:
                con.execute(statement)

    return make


def changed(*statements: str) -> Callable[[Path], object]:
    """A file with a run of ours that was changed."""

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
    "newer": (changed("update format set version = 4"), SchemaMismatch, "format 4"),
    "a view": (
        changed("alter table runs rename to theirs", "create view runs as from theirs"),
        UsageError,
        "without the table runs",
    ),
}


def check_refused(name: str, warehouse: Path) -> None:
    make, kind, found = OTHERS[name]
    path = path_for(warehouse)
    make(path)
    before = path.read_bytes() if path.is_file() else None
    for ask in (lambda: saved(warehouse), lambda: check_run("other", warehouse)):
        with pytest.raises(kind) as caught:
            ask()
        assert found in (caught.value.found or "")
        assert caught.value.where == path
    assert (path.read_bytes() if path.is_file() else None) == before


def test_the_file_of_somebody_else_is_left(warehouse: Path) -> None:
    check_refused("own database", warehouse)
    done = start(*SCORE, "--save", "mine", cwd=warehouse.parent)
    assert done.returncode == 2
    assert "this is not a file of saved runs" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_left(name: str, warehouse: Path) -> None:
    check_refused(name, warehouse)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["runs", "metrics", "examples.mine"])
def test_a_hostile_file_shows_nothing_of_others(table: str, warehouse: Path) -> None:
    secret = warehouse.with_name("secret.txt")
    secret.write_text(CONTENT)
    changed(
        f"alter table {table} rename to theirs",
        f"create view {table} as select replace(content, 'x', 'x') as {'run' if table == 'runs' else 'threshold'} "
        f"from read_text('{secret}')",
    )(path_for(warehouse))
    if table != "examples.mine":
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
    changed("create or replace table examples.mine as select 1 as a")(path_for(warehouse))
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
    lock = FileLock(f"{private_folder_path(path)}.lock")
    with lock:
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
