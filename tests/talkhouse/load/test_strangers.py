"""A warehouse that somebody else has made: what stands in it does nothing in a command that writes."""

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.charts.declarations import dashboards
from talkhouse.ingest.progress import Silent
from talkhouse.load import staging
from talkhouse.load.quality_gate import run_checks
from talkhouse.load.run import build
from talkhouse.queries.catalogue import catalogue_of
from talkhouse.queries.checks import SqlCheck
from talkhouse.queries.files import QueryFile
from talkhouse.schema.errors import CatalogueError, NotAWarehouse
from talkhouse.schema.sql import literal, quoted
from tests.commands import run
from tests.data_files import data_of
from tests.postgres_server import Database
from tests.samples import GROUPS, RELEASES

DATA = data_of(__file__)

SECRET = "what nobody is to read"  # noqa: S105 - a text
EVIL = "evil"
"""A corpus that is in the warehouse, without its reader."""

VIEW = "-- A row is a talk.\n-- grain: dialogue_id\n"
CHECK = "-- Nothing is wrong.\n-- severity: warn\n"
SCORE = "-- It.\n-- predicts: label\n-- metrics: metrics.classification\n"
EXAMPLE = "-- Every talk, once.\n-- grain: release, split, example_index\n"
DASHBOARD = (EVIL, "bi/dashboards/d.toml")
CHART = DATA["chart"]


def planted(target: Path, secret: Path) -> Mapping[str, tuple[str, str, str]]:
    """Return the SQL that may be planted, each as folder, name and text."""
    write, read = f"copy (select 42 as made) to '{target}'", f"(select content from read_text('{secret}'))"
    two = f"select 1 as dialogue_id where false) order by all; {write}; select * from (select 1 as dialogue_id"
    inside = f"with x as ({write}) select 1 as dialogue_id from x"
    shown = f"select {read} as dialogue_id"
    python = "select content as dialogue_id from seen"
    system = "select value as dialogue_id from duckdb_settings()"
    ways = {"two": two, "inside": inside, "shown": shown, "python": python, "system": system}
    files = {
        "a check of all": ("checks", "evil.sql", CHECK + two),
        "a macro of two": (EVIL, "macros/m.sql", f"-- It.\n(a) as 1; {write}"),
        "a macro that reads": (EVIL, "macros/m.sql", f"-- It.\n(a) as {read}"),
        "a macro with a default": (EVIL, "macros/m.sql", f"-- It.\n(a := {read}) as a"),
        "a table macro": (EVIL, "macros/m.sql", f"-- It.\n(a) as table {shown}"),
        "an oracle": (EVIL, "scores/s.sql", f"{SCORE}-- oracle: 1 as label from ({inside}) -- \nselect 1"),
        "counts": (EVIL, "scores/s.sql", f"{SCORE}-- counts: {read}\nselect 1"),
        "a metric": (EVIL, "bi/metrics.toml", f'[turns.evil]\ntitle = "M"\nsql = "max({read})"\n'),
        "a chart": (*DASHBOARD, f'{CHART}where = "true; {write}"\n'),
        "a condition": (*DASHBOARD, f'{CHART}where = "{read} is not null"\n'),
        "a view of a chart": (*DASHBOARD, CHART.replace('"turns"', f'"turns; {write}"')),
        "a headline": (*DASHBOARD, f'{CHART}[[headlines]]\nsentence = "{{dialogue_id}}"\nsql = "{shown}"\n'),
    }
    for name, sql in ways.items():
        files |= {
            f"a view, {name}": (EVIL, "a.sql", VIEW + sql),
            f"a view of BI, {name}": (EVIL, "bi/a.sql", VIEW + sql),
            f"examples, {name}": (EVIL, "examples/a.sql", EXAMPLE + sql),
            f"a check, {name}": (EVIL, "checks/a.sql", CHECK + sql),
        }
    del ways["python"]  # what is scored has names of its own, and readers know no variable
    for name, sql in ways.items():
        files |= {
            f"a score, {name}": (EVIL, "scores/a.sql", SCORE + sql),
            f"metrics, {name}": (EVIL, "metrics/a.sql", "-- It.\n" + sql),
            f"a layout, {name}": (EVIL, "layouts/a.sql", "-- It.\n-- reads: lines\n" + sql),
            f"lines, {name}": (EVIL, "printed/a.sql", "-- It.\n" + sql),
        }
    return files


KINDS = sorted(planted(Path(), Path()))

Planted = Callable[[str], Path]


def add_corpus(con: duckdb.DuckDBPyConnection, corpus_id: str, **changed: str) -> None:
    """Add a corpus without rows, which is otherwise as another is."""
    values = {"corpus_id": corpus_id, "origin": "/nowhere", **changed}
    replaced = ", ".join(f"{literal(value)} as {quoted(name)}" for name, value in values.items())
    con.execute(
        f"insert into main.corpora select * replace ({replaced}) from main.corpora where corpus_id = {literal(GROUPS)}"
    )


@pytest.fixture
def stranger(sample: Path, tmp_path: Path) -> Planted:
    (tmp_path / "secret.txt").write_text(SECRET)

    def plant(kind: str) -> Path:
        folder, name, text = planted(tmp_path / "made.csv", tmp_path / "secret.txt")[kind]
        path = Path(shutil.copyfile(sample, tmp_path / "talkhouse.duckdb"))
        with duckdb.connect(path) as con:
            for corpus_id in {EVIL, *({folder} if folder == "checks" else {})}:
                add_corpus(con, corpus_id)
            con.execute("insert into meta.query_files values (?, ?, ?)", [folder, name, text])
        return path

    return plant


WRITING = {
    "ingest": ["ingest", "mine", "talks.jsonl", "--format", "chat", "--map", "id=id"],
    "build": ["build", "--data", "data", "--corpus", "mine"],
    "a dry run": ["build", "--data", "data", "--corpus", "mine", "--dry-run"],
    "rehash": ["build", "--corpus", RELEASES, "--rehash"],
    "replay": ["replay"],
    "lake": ["lake", "lake"],
    "report": ["report", "--output", "report.html"],
    "bundle": ["export", "--for", "superset", "--output", "bundle.zip"],
    "score": ["score", f"{RELEASES}.breakdown_detection", "--baseline", "majority", "--release", RELEASES, "--save"],
}
TALK = '{"id": "1", "messages": [{"role": "user", "content": "Tea?"}, {"role": "assistant", "content": "Yes."}]}\n'


def write_data(folder: Path) -> None:
    """Write a corpus of the user's own, as a file and in a data folder."""
    (folder / "talks.jsonl").write_text(TALK)
    corpus = folder / "data" / "mine"
    corpus.mkdir(parents=True)
    (corpus / "talks.jsonl").write_text(TALK)
    (corpus / "corpus.toml").write_text('title = "Mine"\nformat = "chat"\n')


def does_nothing(path: Path, folder: Path, command: list[str]) -> str:
    """Run a command on a copy of a warehouse; return its exit code and what it says, if nothing has come of it."""
    place = folder / "run"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    write_data(place)
    shutil.copyfile(path, place / "talkhouse.duckdb")
    done = run(*command, "--db", "talkhouse.duckdb", cwd=place)
    result = f"{done.returncode}: {done.stdout}{done.stderr}"
    assert not (folder / "made.csv").exists(), (command, result)
    assert SECRET not in result, (command, result)
    for file in (file for file in place.rglob("*") if file.is_file()):
        assert SECRET.encode() not in file.read_bytes(), (command, file)
    return result


@pytest.mark.parametrize("kind", KINDS)
def test_sql_that_does_more_than_compute_is_refused(tmp_path: Path, kind: str) -> None:
    folder, name, text = planted(tmp_path / "made.csv", tmp_path / "secret.txt")[kind]
    metric = QueryFile("metrics", "classification.sql", "-- It.\nselect 1", Path("classification.sql"))
    files = (metric, QueryFile(folder, name, text, Path(folder, name)))
    with pytest.raises(CatalogueError, match=re.escape(f"{folder}/{name}")):
        _ = catalogue_of(files), dashboards(files)


IN_BUILDS = ["a check of all", "a check, two", "a macro of two", "a view, inside", "examples, shown", "a table macro"]
QUICK = {("a check of all", "ingest"), ("a check, two", "rehash"), ("a macro of two", "ingest")}
CASES = [
    *((kind, "ingest") for kind in IN_BUILDS),
    *(("a check, two", command) for command in ("build", "a dry run", "rehash", "replay", "lake", "bundle")),
    *((kind, "report") for kind in ("a chart", "a headline", "a metric", "a view of BI, shown")),
    *((kind, "score") for kind in ("an oracle", "a score, two")),
]


@pytest.mark.parametrize(
    ("kind", "command"), [case if case in QUICK else pytest.param(*case, marks=pytest.mark.slow) for case in CASES]
)
def test_what_is_planted_in_a_warehouse_does_nothing_in_a_command_that_writes(
    stranger: Planted, tmp_path: Path, kind: str, command: str
) -> None:
    does_nothing(stranger(kind), tmp_path, WRITING[command])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a check, two", "a view, inside"])
def test_what_is_planted_does_nothing_where_a_warehouse_is_published(
    stranger: Planted, tmp_path: Path, postgres: Database, kind: str
) -> None:
    does_nothing(stranger(kind), tmp_path, ["publish", postgres.url()])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a check, two", "a view, inside"])
def test_what_is_planted_does_nothing_where_an_older_warehouse_is_migrated(
    stranger: Planted, tmp_path: Path, kind: str
) -> None:
    path = stranger(kind)
    with duckdb.connect(path) as con:
        con.execute("update meta.alembic_version set version_num = '0006'")
    does_nothing(path, tmp_path, WRITING["ingest"])


ROWS = DATA["rows"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("command", ["ingest", "replay"])
def test_what_a_row_of_a_corpus_says_does_nothing(sample: Path, tmp_path: Path, name: str, command: str) -> None:
    does_nothing(with_rows(sample, tmp_path, {EVIL: ROWS[name]}), tmp_path, WRITING[command])


@pytest.mark.slow
def test_what_rows_of_corpora_say_does_nothing_in_a_report(sample: Path, tmp_path: Path) -> None:
    path = with_rows(sample, tmp_path, {f"{EVIL}_{number}": row for number, row in enumerate(ROWS.values())})
    assert does_nothing(path, tmp_path, WRITING["report"]).startswith("0: "), "each of them is in the report"


def with_rows(sample: Path, folder: Path, corpora: Mapping[str, Mapping[str, str]]) -> Path:
    """Copy the sample, with corpora whose rows say this and that have records in the quarantine."""
    path = Path(shutil.copyfile(sample, folder / "talkhouse.duckdb"))
    with duckdb.connect(path) as con:
        for corpus_id, row in corpora.items():
            add_corpus(con, corpus_id, **row)
            con.execute(
                f"insert into meta.quarantine select * replace ({literal(corpus_id)} as corpus_id) "
                f"from meta.quarantine where corpus_id = {literal(RELEASES)}"
            )
    return path


def test_a_corpus_named_as_a_folder_of_all_is_refused(stranger: Planted, tmp_path: Path) -> None:
    result = does_nothing(stranger("a check of all"), tmp_path, WRITING["build"])
    assert result.startswith("2: ")
    assert "the corpus 'checks'" in result


def with_query_file(sample: Path, copy: Path, folder: str, name: str = "'a.sql'", text: str = "''") -> Path:
    """Copy the sample, with one file of queries whose folder, name and text are these expressions of SQL."""
    shutil.copyfile(sample, copy)
    with duckdb.connect(copy) as con:
        file = f"select {folder} as folder, {name} as name, {text} as text"
        con.execute(f"create or replace table meta.query_files as {file}")
    return copy


FOLDERS = ["'../../evil'", "'main'", "'Evil'", "''", "null::integer", "null::blob", "null::varchar[]"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_that_no_file_has_is_refused(sample: Path, tmp_path: Path, folder: str) -> None:
    path = with_query_file(sample, tmp_path / "talkhouse.duckdb", folder)
    with pytest.raises(NotAWarehouse, match="the folder"):
        talkhouse.open(path)


@pytest.mark.parametrize(("name", "text"), [("'a.sql'", "null"), ("null", "'select 1'"), ("'a.sql'", "42")])
def test_sql_that_is_no_text_gets_a_message(sample: Path, tmp_path: Path, name: str, text: str) -> None:
    path = with_query_file(sample, tmp_path / "talkhouse.duckdb", "'evil'", name, text)
    result = does_nothing(path, tmp_path, ["check"])
    assert result.startswith("0: " if name == "null" else "1: error: meta.query_files/evil/a.sql"), result


@pytest.mark.slow
def test_the_connection_that_runs_checks_reaches_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[str]()

    def tries(con: duckdb.DuckDBPyConnection, listed: list[SqlCheck], passed: Mapping[str, float]) -> None:
        ways = (f"from read_text('{__file__}')", f"copy (select 1) to '{tmp_path / 'made.csv'}'", "set threads = 3")
        for way in ways:
            try:
                con.execute(way)
            except (duckdb.PermissionException, duckdb.InvalidInputException) as error:
                tried.append(type(error))
        with pytest.raises(duckdb.InvalidInputException, match="locked"):
            con.execute("set enable_logging = true")
        run_checks(con, listed, passed)

    monkeypatch.setattr(staging, "run_checks", tries)
    build(tmp_path / "talkhouse.duckdb", Silent())
    assert len(tried) == 2
    assert not (tmp_path / "made.csv").exists()


@pytest.mark.slow
def test_a_corpus_with_sql_that_computes_is_kept(sample: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(sample, tmp_path / "talkhouse.duckdb"))
    with duckdb.connect(path) as con:
        add_corpus(con, EVIL)
        sql = f"{CHECK}select dialogue_id from main.dialogues where false"
        con.execute("insert into meta.query_files values (?, ?, ?)", [EVIL, "checks/fine.sql", sql])
    assert does_nothing(path, tmp_path, WRITING["ingest"]).startswith("0: ")
