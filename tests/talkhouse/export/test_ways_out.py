"""Every known way out of the sandbox: it is refused, or leads nowhere, and leaves nothing behind."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.export import sandbox
from talkhouse.export.formats import QueryFormat
from talkhouse.export.sandbox import run_query
from talkhouse.schema.errors import QueryFailed
from tests.data_files import data_of
from tests.lanes import first_quick
from tests.talkhouse.export.ways_out import FAILS, HARMLESS, REFUSED, every


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
