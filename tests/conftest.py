"""Fixtures that every test may use: a built sample, a way to build any data folder, and the publishers' files."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.build.progress import Silent
from talkhouse.build.quarantine_limit import QuarantineLimit
from talkhouse.build.run import Result, build


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regen", action="store_true", help="write the golden files again instead of comparing")


def how_many(few: int) -> int:
    """Give how many examples a property test takes that builds a warehouse for each; four times as many on demand."""
    return 4 * few if os.environ.get("TALKHOUSE_EXAMPLES") == "many" else few


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for caches of the tests' own."""
    path = tmp_path_factory.mktemp("cache")
    os.environ["XDG_CACHE_HOME"] = str(path)
    return path


@pytest.fixture(scope="session")
def regen(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written again; the diff is the review."""
    return bool(request.config.getoption("--regen"))


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of the bundled samples, built once."""
    path = tmp_path_factory.mktemp("sample") / "talkhouse.duckdb"
    build(path, Silent())
    return path


@pytest.fixture
def con(sample: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to the sample."""
    with talkhouse.open(sample) as connection:
        yield connection


Build = Callable[..., duckdb.DuckDBPyConnection]


@pytest.fixture
def build_data(tmp_path: Path) -> Iterator[Build]:
    """Build a data folder and give a read-only connection; keyword arguments go to ``build``.

    All of a corpus may be in quarantine, for broken files are what many tests are about.
    """
    opened: list[duckdb.DuckDBPyConnection] = []

    def run(data: Path, **options: object) -> duckdb.DuckDBPyConnection:
        path = tmp_path / f"built_{len(opened)}.duckdb"
        build(path, Silent(), data=data, limit=QuarantineLimit("100%"), **options)  # type: ignore[arg-type]
        opened.append(talkhouse.open(path))
        return opened[-1]

    yield run
    for connection in opened:
        connection.close()


@pytest.fixture
def rebuild(tmp_path: Path) -> Callable[..., Result]:
    """Build one and the same warehouse, ``tmp_path / 'w.duckdb'``, again and again."""

    def run(data: Path | None = None, **options: object) -> Result:
        return build(tmp_path / "w.duckdb", Silent(), data=data, **options)  # type: ignore[arg-type]

    return run


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Run a test without root's right to read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The publishers' files, a folder per corpus; they are not part of this repository."""
    folder = os.environ.get("TALKHOUSE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("set TALKHOUSE_DATA to a folder with the publishers' files (DIR/dbdc3/DBDC3.zip ...)")
    return Path(folder)
