"""A file that somebody else has made: what stands in it reaches nothing else, and a table is a table."""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import psutil
import pytest

import talkhouse
from talkhouse import migrations
from talkhouse.export import sandbox
from talkhouse.ingest.progress import Silent
from talkhouse.lake.lake_files import attached
from talkhouse.load.run import build
from talkhouse.schema import contents, warehouse
from talkhouse.schema.errors import NotAWarehouse
from talkhouse.schema.tables import metadata, qualified
from tests.commands import COMMAND, run
from tests.data_files import data_of

SECRET = "what nobody is to read"  # noqa: S105 - a text


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that the user may read, and whoever made the warehouse may not."""
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


Hostile = Callable[..., Path]


@pytest.fixture
def hostile(sample: Path, tmp_path: Path) -> Hostile:
    def change(*statements: str) -> Path:
        path = tmp_path / "hostile.duckdb"
        shutil.copyfile(sample, path)
        with duckdb.connect(path) as con:
            for statement in statements:
                con.execute(statement)
        return path

    return change


def instead_of(sample: Path, name: str, source: str, text: str = "content") -> list[str]:
    """Return the statements that put a view with the same columns in the place of a table or view."""
    with duckdb.connect(sample, read_only=True) as con:
        columns = con.execute(f"describe {name}").fetchall()
    values = ", ".join(
        f'{text if type_ == "VARCHAR" else "null"}::{type_} as "{column}"' for column, type_, *_ in columns
    )
    kind = "table" if name.startswith(("main.", "meta.")) else "view"
    return [f"drop {kind} {name}", f"create view {name} as select {values} from {source}"]


def test_the_names_of_tables_are_those_of_the_metadata() -> None:
    declared = {qualified(table) for table in metadata.tables.values()}
    assert set(contents.TABLES) == {*declared, f"{warehouse.HOUSEKEEPING}.{migrations.VERSION_TABLE}"}


REFUSED = data_of(__file__)["refused"]


@pytest.mark.parametrize("statements", REFUSED.values(), ids=REFUSED)
def test_what_stands_for_tables_is_refused(hostile: Hostile, statements: tuple[str, ...]) -> None:
    with pytest.raises(NotAWarehouse, match=r"changed after Talkhouse made it|not made by Talkhouse"):
        talkhouse.open(hostile(*statements))


MACROS = (
    "create macro main.current_setting(name) as true",
    "create macro main.current_database() as 'nowhere'",
    "create macro main.duckdb_tables() as table select 'main' as schema_name, 'turns' as table_name",
    "create type main.json as varchar",
)


def test_macros_do_not_answer_for_the_guard(hostile: Hostile, secret: Path) -> None:
    path = hostile(*MACROS, f"create macro main.lower(x) as (select content from read_text('{secret}'))")
    with talkhouse.open(path) as con:
        assert not con.sql("select count(*) = 0 from main.turns").fetchall()[0][0]
        with pytest.raises(duckdb.PermissionException):
            con.sql("select lower(text) from main.turns").fetchall()


def test_an_older_file_with_macros_for_functions_is_not_migrated(hostile: Hostile) -> None:
    path = hostile(*MACROS, "update meta.alembic_version set version_num = '0003'")
    with pytest.raises(NotAWarehouse, match="current_database"):
        build(path, Silent())


def test_views_reach_no_file_and_no_variable_of_python(hostile: Hostile, secret: Path) -> None:
    frame = duckdb.sql("select 1 as of_python")
    ways = [f"read_text('{secret}')", f"read_csv('{secret}')", f"glob('{secret.parent}/*')"]
    path = hostile(*(f"create view bi.way_{index} as from {way}" for index, way in enumerate(ways)))
    with talkhouse.open(path) as con:
        for index in range(len(ways)):
            with pytest.raises(duckdb.PermissionException):
                con.sql(f"from bi.way_{index}").fetchall()
        with pytest.raises(duckdb.CatalogException):
            con.execute("from frame").fetchall()
    del frame


def test_settings_are_made_first_and_then_locked(sample: Path, tmp_path: Path) -> None:
    path = shutil.copyfile(sample, tmp_path / "w.duckdb")
    with talkhouse.open(path, settings={"temp_directory": str(tmp_path / "sorting")}) as con:
        assert con.sql("select current_setting('temp_directory')").fetchall() == [(str(tmp_path / "sorting"),)]
        con.execute("set memory_limit = '200MB'")
        with pytest.raises(duckdb.InvalidInputException, match="locked"):
            con.execute("set enable_logging = true")
        with talkhouse.open(path, settings=sandbox.settings()) as again:
            assert again.sql("select count(*) > 0 from main.turns").fetchall() == [(True,)]


@pytest.mark.parametrize("first", [True, False])
def test_unsafe_reads_files_and_a_guarded_connection_beside_it_none(sample: Path, secret: Path, *, first: bool) -> None:
    query = f"select content from read_text('{secret}')"
    with talkhouse.open(sample, unsafe=first) as opened, talkhouse.open(sample, unsafe=not first) as other:
        unsafe, guarded = (opened, other) if first else (other, opened)
        assert unsafe.sql(query).fetchall() == [(SECRET,)]
        with pytest.raises(duckdb.PermissionException):
            guarded.sql(query)


def test_a_lake_reads_guarded_warehouses(sample: Path, secret: Path) -> None:
    with attached([sample], []) as found, pytest.raises(duckdb.PermissionException):
        found.con.sql(f"from read_text('{secret}')").fetchall()


def test_migrations_run_guarded(hostile: Hostile, secret: Path) -> None:
    path = hostile()
    with migrations.configured(path) as config:
        con = config.attributes["connection"].connection
        with pytest.raises(Exception, match="disabled by configuration"):
            con.execute(f"from read_text('{secret}')")


COMMANDS = data_of(__file__)["commands"]


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("main.turns", "meta.source_files", "bi.splits")),
        *(pytest.param(name, marks=pytest.mark.long) for name in ("main.corpora", "main.labels", "meta.loads")),
        *(pytest.param(name, marks=pytest.mark.long) for name in ("meta.findings", "bi.corpora", "bi.dialogues")),
        *(pytest.param(name, marks=pytest.mark.long) for name in ("bi.label_counts", "dbdc3.breakdown_detection")),
    ],
)
def test_no_command_shows_another_file(sample: Path, hostile: Hostile, secret: Path, tmp_path: Path, name: str) -> None:
    copy = hostile(*instead_of(sample, name, f"read_text('{secret}')"))
    for number, command in enumerate(COMMANDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = shutil.copyfile(copy, folder / "talkhouse.duckdb")
        done = run(*command, "--db", path, cwd=folder)
        path.unlink(missing_ok=True)
        shown = done.stdout + done.stderr
        assert SECRET not in shown, command
        assert "Traceback" not in shown, (command, shown)
        for file in (file for file in folder.rglob("*") if file.is_file()):
            assert SECRET.encode() not in file.read_bytes(), (command, file)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["status"], marks=pytest.mark.slow),
        pytest.param(["views", "bi.splits"], marks=pytest.mark.long),
        pytest.param(["export", "bi.splits", "--output", "rows.csv"], marks=pytest.mark.long),
    ],
)
def test_a_view_that_never_ends_is_left_by_ctrl_c(
    sample: Path, hostile: Hostile, tmp_path: Path, command: list[str]
) -> None:
    endless = "range(100_000_000_000) t(content) where hash(content) = 42"
    path = hostile(*(part for name in ("bi.splits", "bi.corpora") for part in instead_of(sample, name, endless)))
    process = subprocess.Popen([*COMMAND, *command, "--db", path], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and psutil.Process(process.pid).cpu_times().user < 3:
        time.sleep(0.05)  # until it has begun to read the view, however busy the machine is
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == "interrupted\n"
    assert process.returncode == 130
