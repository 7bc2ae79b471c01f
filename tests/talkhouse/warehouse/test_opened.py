"""The warehouse as commands open it: its build, its corpora, and whether its views are this Talkhouse's."""

import shutil
import signal
import subprocess
from pathlib import Path

import duckdb
import pytest

from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.errors import NotAWarehouse, QueryFailed, SchemaMismatch
from talkhouse.system.atomic_output import private_folder
from talkhouse.warehouse.opened import Warehouse, fits_views, opened
from tests.commands import COMMAND, run
from tests.conftest import wait_for


def test_it_knows_its_file_its_build_and_its_corpora(sample: Path) -> None:
    with opened(sample) as warehouse:
        assert warehouse.path == sample
        assert warehouse.build["load_id"] == 1
        assert warehouse.build["catalogue_hash"] == catalogue().hash
        titles = "select corpus_id, title from main.corpora order by all"
        described = [(corpus["corpus_id"], corpus["title"]) for corpus in warehouse.corpora]
        assert described == warehouse.con.execute(titles).fetchall()
        assert warehouse.corpus_ids == [corpus_id for corpus_id, _ in described]
        warehouse.check_views()


def test_one_that_is_attached_beside_another_is_asked_by_its_name(sample: Path) -> None:
    with duckdb.connect() as con:
        con.execute(f"attach '{sample}' as \"the sample\" (read_only)")
        warehouse = Warehouse(con, "the sample")
        with opened(sample) as own:
            assert (warehouse.path, warehouse.build, warehouse.corpora) == (own.path, own.build, own.corpora)
            assert warehouse.split_views == own.split_views != {}


def test_a_query_that_takes_too_long_is_stopped(sample: Path) -> None:
    endless = "select count(*) from range(1_000_000_000_000) t(i) where hash(i) % 7 = 3"
    with pytest.raises(QueryFailed, match="took too long"), opened(sample, seconds=0.2) as warehouse:
        warehouse.con.execute(endless)


def test_views_of_another_talkhouse_are_refused(sample: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))
    with duckdb.connect(path) as con:
        con.execute("update meta.loads set catalogue_hash = 'another'")
    message = r"w\.duckdb: the warehouse has other views[\s\S]*found: .* another[\s\S]*next: .*talkhouse migrate"
    with opened(path) as warehouse, pytest.raises(SchemaMismatch, match=message):
        warehouse.check_views()
    with duckdb.connect(path) as con:
        con.execute("delete from meta.loads")
    with opened(path) as warehouse, pytest.raises(NotAWarehouse, match=r"w\.duckdb[\s\S]*which build made it"):
        warehouse.check_views()


@pytest.mark.parametrize(
    "query", ["from bi.nothing", "select nothing from bi.corpora", "select date_trunc('day', title) from bi.corpora"]
)
def test_what_the_views_do_not_have_is_said_with_the_name_of_what_wants_it(
    con: duckdb.DuckDBPyConnection, query: str
) -> None:
    message = r"the chart 'x' does not fit[\s\S]*next: .*talkhouse migrate"
    with pytest.raises(SchemaMismatch, match=message), fits_views("the chart 'x'"):
        con.execute(query)


@pytest.mark.slow
def test_what_a_killed_command_has_left_beside_it_is_removed_by_the_next_one(sample: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))
    part = tmp_path / ".w.search.duckdb.part"
    command = [*COMMAND, "search", "--rank", "lighthouse", "--db", str(path)]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for(part / "work.duckdb", process)
        process.send_signal(signal.SIGKILL)
    assert any(part.iterdir())
    assert run("status", "--db", path).returncode == 0
    assert not part.exists()


def test_what_another_process_makes_beside_it_stays(sample: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))
    with private_folder(tmp_path / "w.search.duckdb") as part:
        (part / "w.search.duckdb").touch()
        assert run("status", "--db", path).returncode == 0
        assert any(part.iterdir())


def test_the_views_of_a_newer_talkhouse_are_not_replaced_without_a_word(small: Path, tmp_path: Path) -> None:
    for command, built_by, is_said in (
        ("migrate", "99.1", True),
        ("migrate", "0.0.9", False),
        ("migrate", "99.1+local", False),
        ("build --corpus mpchat", "99.1", True),
    ):
        path = Path(shutil.copyfile(small, tmp_path / "w.duckdb"))
        path.chmod(0o600)
        with duckdb.connect(path) as con:
            con.execute("update meta.loads set catalogue_hash = 'another', talkhouse_version = $1", [built_by])
        done = run(*command.split(), "--db", path)
        assert done.returncode == 0, done.stderr
        assert ("its views were made by Talkhouse 99.1, and are now" in done.stdout + done.stderr) == is_said
        assert "its views" not in run(*command.split(), "--db", path).stdout, "they are of this one now"
        path.unlink()
