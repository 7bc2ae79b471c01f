"""The lanes of the suite, and fixtures: a built sample, a way to build any data folder, the publishers' files."""

import atexit
import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from filelock import FileLock
from hypothesis import HealthCheck, Phase, is_hypothesis_test, seed, settings
from playwright.sync_api import Browser

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import BuildResult, build
from tests import postgres_server, root_rights
from tests.browser import launched
from tests.parts_and_spans import FILL
from tests.postgres_server import Database, Server


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regen", action="store_true", help="write the golden files again instead of comparing")


# Lanes: `pytest` runs the quick one, `-m slow` and `-m long` the others. Property tests are in all three, but for those
# that are marked slow.
# Apart from them, `-m superset` tries the dashboards in Superset itself, `-m spark` the views on a Spark cluster, and
# `-m packages` what is exported for other programs in these programs.

LANES = {"quick": 0.1, "slow": 0.1, "long": 4}
"""How many examples a property test takes in each lane, as a share of those that it asks for."""

ONCE_BROKEN = {**LANES, "slow": 0.25}
"""The same for a test that has found a bug: what was wrong once is looked for longer."""

for _name, _share in LANES.items():
    # Neither a deadline nor "too slow": nothing may depend on what else the machine does. Nor on luck: a change must
    # not fail for what another one brought in, so only the long lane invents other examples each time.
    settings.register_profile(
        _name,
        max_examples=int(100 * _share),
        deadline=None,
        derandomize=_name != "long",
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the lane by the expression after ``-m``; without one, everything runs as in the slow lane."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as after nohup: the processes that tests start inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    expression = config.option.markexpr
    settings.load_profile("quick" if "not slow" in expression else "long" if expression == "long" else "slow")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no reference cycles while tests are collected, nor later among what was: there are a million objects."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
    # Libraries complain of objects that are left; pytest itself looks ten times before that.
    atexit.register(gc.unfreeze)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Have one process, and so one server or cluster, for the tests of Superset and of Spark."""
    return 0 if config.option.markexpr in ("superset", "spark") else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every property test for the lane that runs, unless it is the quick one, which runs what has no mark.

    Where golden files are written again, all of them are, in whichever lane.
    """
    lane = settings.get_current_profile_name()
    for item in items if config.option.regen else ():
        if "regen" in getattr(item, "fixturenames", ()):
            item.own_markers = [mark for mark in item.own_markers if mark.name != "slow"]
    # What installs packages waits for a network and takes long: it begins first, so that no worker waits at the end.
    items.sort(key=lambda item: not hasattr(getattr(item, "module", None), "outside"))
    tests = {item: item.obj for item in items if is_hypothesis_test(getattr(item, "obj", None))}
    if lane == "slow":
        for test in {test for item, test in tests.items() if item.get_closest_marker("slow") is None}:
            # Where the quick lane tries as many, all of its own would be the same again: half of them, other ones.
            chosen = test._hypothesis_internal_use_settings
            seed(lane)(test)._hypothesis_internal_use_settings = settings(
                chosen, max_examples=max(1, chosen.max_examples // 2)
            )
    for item in tests if lane != "quick" else ():
        item.add_marker(lane)


def how_many(examples: int, shares: dict[str, float] = LANES) -> int:
    """Return the number of these examples that a property test takes in the current lane."""
    return max(2, round(examples * shares[settings.get_current_profile_name()]))


def invented_examples(number: int, shares: dict[str, float] = LANES) -> settings:
    return settings(max_examples=how_many(number, shares))


def invented_builds(number: int, shares: dict[str, float] = LANES) -> settings:
    """Have a property test that builds a warehouse for each example take a number of them, as they come."""
    shrinking = {Phase.target, Phase.shrink, Phase.explain}  # builds hundreds of warehouses
    return settings(
        invented_examples(number, shares), phases=set(Phase) - shrinking, suppress_health_check=list(HealthCheck)
    )


def wait_for(path: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until a process has made a file; fail, and not wait for ever, where it ends or hangs before that."""
    end = time.monotonic() + 300
    while not path.exists():
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            pytest.fail(f"the process has not made {path.name}: {process.communicate()[1]}")
        time.sleep(0.02)


@pytest.fixture(scope="session")
def shared_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all worker processes of this run share, for what is made once."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if hasattr(request.config, "workerinput") else own


@pytest.fixture(scope="session", autouse=True)
def cache(shared_folder: Path) -> Path:
    path = shared_folder / "cache"
    # uv's stays where it is: what is in it need not be fetched again.
    of_all = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    os.environ.setdefault("UV_CACHE_DIR", str(of_all / "uv"))
    os.environ["XDG_CACHE_HOME"] = str(path)
    return path


@pytest.fixture(scope="session")
def regen(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written again; the diff is the review."""
    return bool(request.config.getoption("--regen"))


def made_once(path: Path, make: Callable[[Path], object]) -> Path:
    """Make a file in a folder of its own below the shared one, unless another worker process has made it."""
    path.parent.mkdir(exist_ok=True)
    with FileLock(f"{path.parent}.lock"):
        if not path.exists():
            make(path)
    return path


@pytest.fixture(scope="session")
def sample(shared_folder: Path) -> Path:
    return made_once(shared_folder / "sample" / "talkhouse.duckdb", lambda path: build(path, Silent()))


@pytest.fixture(scope="session")
def licensed(shared_folder: Path) -> Path:
    """A warehouse of the samples built as their publishers' files are, so that they have terms; made once."""

    def make(path: Path) -> None:
        for corpus in corpora().values():
            shutil.copytree(sample_of(corpus), path.parent / "data" / corpus.id, dirs_exist_ok=True)
        build(path, Silent(), data=path.parent / "data")

    return made_once(shared_folder / "licensed" / "talkhouse.duckdb", make)


@pytest.fixture(scope="session")
def filled(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with rows in every table and view, also those that no bundled corpus fills."""
    path = tmp_path_factory.mktemp("filled") / sample.name
    shutil.copyfile(sample, path)
    with duckdb.connect(path) as con:
        con.execute(FILL)
    return path


@pytest.fixture(scope="session")
def opened(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A copy of the sample that stays open, for to open one takes longer than most queries."""
    path = tmp_path_factory.mktemp("opened") / sample.name
    shutil.copyfile(sample, path)
    with talkhouse.open(path) as connection:
        yield connection


@pytest.fixture
def con(opened: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to the sample; its settings are those of every test, so no test may change them."""
    with opened.cursor() as connection:
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
def rebuild(tmp_path: Path) -> Callable[..., BuildResult]:
    """Build one and the same warehouse, ``tmp_path / 'w.duckdb'``, again and again."""

    def run(data: Path | None = None, **options: object) -> BuildResult:
        return build(tmp_path / "w.duckdb", Silent(), data=data, **options)  # type: ignore[arg-type]

    return run


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """Restore the main module, which Streamlit's tests replace by the page: new processes begin with it."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Run a test without root's rights to read, write and enter everything."""
    with root_rights.dropped():
        yield


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The publishers' files, a folder per corpus; they are not part of this repository."""
    folder = os.environ.get("TALKHOUSE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("set TALKHOUSE_DATA to a folder with the publishers' files (DIR/dbdc3/DBDC3.zip ...)")
    return Path(folder)


@pytest.fixture(scope="session")
def real_warehouse(real_data: Path, shared_folder: Path) -> Path:
    """A warehouse of the publishers' files, made once for all who only read it."""
    return made_once(shared_folder / "real" / "real.duckdb", lambda path: build(path, Silent(), data=real_data))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with launched() as started:
        yield started


@pytest.fixture(scope="session", params=postgres_server.programs() or [None], ids=lambda path: path and path.parts[-2])
def postgres_programs(request: pytest.FixtureRequest) -> Path:
    """The folder of PostgreSQL's programs: a test runs once with each version that is installed."""
    if request.param is None:
        pytest.skip("install PostgreSQL's server (on Debian: apt-get install postgresql)")
    return Path(request.param)


@pytest.fixture(scope="session")
def shared_postgres_server(postgres_programs: Path) -> Iterator[Server]:
    with postgres_server.served(postgres_programs) as server:
        yield server


@pytest.fixture
def own_postgres_server(postgres_programs: Path) -> Iterator[Server]:
    """A PostgreSQL server that the test may stop, fill up and break."""
    with postgres_server.served(postgres_programs) as server:
        yield server


@pytest.fixture
def postgres(shared_postgres_server: Server) -> Iterator[Database]:
    """An empty PostgreSQL database, which belongs to a role without further rights."""
    with shared_postgres_server.database() as database:
        yield database
