"""The warehouse as commands open it: its build, its corpora, and whether its views are this Talkhouse's."""

import shutil
import signal
import subprocess
from pathlib import Path

import duckdb
import pytest

from talkhouse import migrations
from talkhouse.export.sandbox import suggest
from talkhouse.provenance import not_published
from talkhouse.queries.catalogue import catalogue
from talkhouse.queries.views import create_views, split_view
from talkhouse.schema.errors import NotAWarehouse, QueryFailed, SchemaMismatch, UsageError, closest
from talkhouse.schema.sql_files import sql_of
from talkhouse.system.atomic_output import private_folder
from talkhouse.warehouse.build_facts import files, findings, status
from talkhouse.warehouse.opened import Warehouse, fits_views, opened
from talkhouse.warehouse.relations import SplitView, check_corpus, relation
from tests.commands import COMMAND, run
from tests.conftest import wait_for
from tests.data_files import data_of


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


@pytest.mark.slow
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


# ``status`` counts what ``bi.corpora`` counts, and needs neither a build nor a corpus.


def test_its_counts_are_those_of_the_view(con: duckdb.DuckDBPyConnection, sample: Path) -> None:
    counted = con.execute("select corpus_id, turn_count, file_count, finding_count from bi.corpora").fetchall()
    found = status(con, sample, {})["corpora"]
    assert [(row["corpus_id"], row["turns"], row["files"], row["findings"]) for row in found] == sorted(counted)


@pytest.mark.slow
def test_an_empty_warehouse_has_nothing(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    migrations.upgrade(path)
    with duckdb.connect(path) as con:
        create_views(con, catalogue())
        found = status(con, path, {})
        assert (found["build"], found["corpora"], found["findings_without_corpus"]) == (None, [], 0)
        assert (findings(con), files(con)) == ([], [])


# Names that do not exist: what exists instead, and what to type next. And which views are those of one split.


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("turn", "main.turns"),
        ("turns", "main.turns"),
        ("dbcd3.breakdown_detection", "dbdc3.breakdown_detection"),
        ("breakdown_detecton", "dbdc3.breakdown_detection"),
        ("bi.scheme_agrement", "bi.scheme_agreement"),
    ],
)
def test_the_nearest_name_comes_first(con: duckdb.DuckDBPyConnection, name: str, first: str) -> None:
    names = con.execute("select schema_name || '.' || table_name from duckdb_columns() where not internal").fetchall()
    assert closest(name, {name for (name,) in names})[0] == first


def test_where_none_is_near_all_are_listed() -> None:
    assert closest("xyzzy", ["main.turns", "bi.turns"]) == ["main.turns", "bi.turns"]


def test_a_relation_is_found_with_and_without_main(con: duckdb.DuckDBPyConnection) -> None:
    assert relation(con, "turns") == relation(con, "main.turns")
    assert relation(con, "dbdc3.breakdown_detection")["comment"]
    with pytest.raises(UsageError, match=r"no view or table 'breakdown_detection'[\s\S]*one of: dbdc3\.breakdown_det"):
        relation(con, "breakdown_detection")


def test_an_unknown_corpus_is_rejected_with_those_that_exist(con: duckdb.DuckDBPyConnection) -> None:
    check_corpus(con, "dbdc3")
    with pytest.raises(UsageError, match=r"no corpus 'dbdc4'[\s\S]*one of: .*dbdc3"):
        check_corpus(con, "dbdc4")


@pytest.mark.parametrize(("query", "expected", "step"), data_of(__file__)["a_query_that_fails_gets_suggestions"])
def test_a_query_that_fails_gets_suggestions(
    con: duckdb.DuckDBPyConnection, query: str, expected: str, step: str
) -> None:
    with pytest.raises(duckdb.Error) as caught:
        con.execute(query)
    found = suggest(con, str(caught.value))
    assert expected in (found.expected or "")
    assert bool(expected) == (found.expected is not None)
    assert step in found.next_step


VIEWS = sql_of(__file__, "relations_views")


def test_a_view_of_a_split_has_its_name_and_its_query() -> None:
    with duckdb.connect() as con:
        con.execute(VIEWS)
        assert Warehouse(con).split_views == {
            "toy.mood_dev": SplitView("toy.mood", "dev", True),
            'toy.mood_it\'s "odd" too': SplitView("toy.mood", 'it\'s "odd" too', False),
            "toy.mood_10_dev": SplitView("toy.mood_10", "dev", False),
            "select.mood_dev": SplitView("select.mood", "dev", False),
        }


def test_a_build_makes_no_other_views_beside_the_catalogues(con: duckdb.DuckDBPyConnection) -> None:
    names = "select schema_name || '.' || view_name from duckdb_views() where not internal and not temporary"
    views = {name for (name,) in con.execute(names).fetchall()}
    written = {view.full_name: view for view in catalogue().views}
    split_views = Warehouse(con).split_views
    assert split_views.keys() == views - written.keys()
    derived = {split_view(written[view.task], view.split, only_default=True).full_name for view in split_views.values()}
    assert derived == split_views.keys()
    assert all(view.only_default for view in split_views.values())


# The note next to a corpus's title if its files are not its publisher's.


def test_what_a_file_says_never_acts_on_a_terminal() -> None:
    note = not_published({"is_sample": False, "made_from": "dumps of \x1b[2J\x07"})
    assert note.startswith("not the published files: made from dumps of ")
    assert note.isprintable()


def test_published_files_and_samples_are_told_apart() -> None:
    assert not_published({"is_sample": False, "made_from": None}) == ""
    assert not_published({"is_sample": True, "made_from": None}) == "invented sample"
