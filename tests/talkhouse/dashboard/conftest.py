"""Pages without a browser, by Streamlit's own test harness, and warehouses to draw them of."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Browser
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from talkhouse.dashboard.warehouse import ServedWarehouse, Version
from talkhouse.load.base_copy import open_template
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema import warehouse
from tests import browser as browsers
from tests.browser import Served
from tests.commands import run as start
from tests.predictions import BREAKDOWNS, OF_EVALUATION, gold, predict
from tests.talkhouse.dashboard.pages import draw

Visit = Callable[..., AppTest]


@pytest.fixture(scope="session", autouse=True)
def as_served() -> Iterator[None]:
    """Look for components in packages once, not for each page, and send no statistics of commands, as our server."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        before = config.get_option("browser.gatherUsageStats")
        config.set_option("browser.gatherUsageStats", False)
        yield
        config.set_option("browser.gatherUsageStats", before)


@pytest.fixture(scope="session")
def pages(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The pages of the samples, from one server for the tests of this process."""
    with browsers.served(sample, tmp_path_factory.mktemp("served")) as started:
        yield started


@pytest.fixture(scope="session")
def window(browser: Browser, pages: Served) -> Iterator[browsers.Visit]:
    """A window at these pages, for what does not need another: a new one reads and compiles all scripts again."""
    with browsers.visit(browser, pages.url, accept_downloads=True) as started:
        yield started


@dataclass(frozen=True)
class Compared:
    """A warehouse of the samples with two saved runs, whose files lie in a folder, and its pages."""

    warehouse: Path
    folder: Path
    right: dict[tuple[str, int], str]
    labels: tuple[dict[tuple[str, int], tuple[str, float]], ...]
    """What the two runs predict."""
    served: Path
    """Where the server has its temporary files."""
    pages: Served


@pytest.fixture(scope="session")
def two_runs(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compared]:
    """Two saved runs; the name of one would be Markdown and HTML, if it were anything."""
    folder, served = tmp_path_factory.mktemp("compared"), tmp_path_factory.mktemp("served")
    warehouse, right = Path(shutil.copyfile(sample, folder / "talkhouse.duckdb")), gold()
    labels = []
    for seed, (name, run) in enumerate((("careful.csv", "careful"), ("bold.csv", "<b>*bold*</b>"))):
        labels.append(predict(folder / name, [*right], seed))
        done = start("score", BREAKDOWNS, folder / name, *OF_EVALUATION, "--save", run, "--db", warehouse)
        assert done.returncode == 0, done.stderr
    with browsers.served(warehouse, served, "--bookmarks", str(folder / "kept.toml")) as started:
        yield Compared(warehouse, folder, right, tuple(labels), served, started)


@pytest.fixture(scope="session")
def window_at_runs(browser: Browser, two_runs: Compared) -> Iterator[browsers.Visit]:
    """A window at the pages of the two runs."""
    with browsers.visit(browser, two_runs.pages.url, accept_downloads=True) as started:
        yield started


@pytest.fixture
def at_runs(window_at_runs: browsers.Visit) -> Iterator[browsers.Visit]:
    """That window; nothing may go wrong in it."""
    yield window_at_runs
    assert (window_at_runs.errors(), window_at_runs.leave()) == ([], [])


@pytest.fixture
def visited(window: browsers.Visit) -> Iterator[browsers.Visit]:
    """The window; nothing may go wrong in it."""
    yield window
    errors, wrong = window.errors(), window.leave()
    assert (errors, wrong) == ([], [])


@pytest.fixture
def served(sample: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The samples, as the warehouse of the pages."""
    monkeypatch.setenv("TALKHOUSE_DB", str(sample))
    return sample


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A warehouse without any corpus, as that of the pages."""
    path = tmp_path / "empty.duckdb"
    open_template(path, catalogue(), {}).close()
    monkeypatch.setenv("TALKHOUSE_DB", str(path))
    return path


@pytest.fixture
def changed(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Make a copy of the samples, changed by SQL, the warehouse of the pages."""

    def change(sql: str) -> Path:
        path = Path(shutil.copyfile(sample, tmp_path / "changed.duckdb"))
        with duckdb.connect() as con:
            con.execute(f"attach '{path}' as {warehouse.name(path)}; use {warehouse.name(path)}; {sql}")
        monkeypatch.setenv("TALKHOUSE_DB", str(path))
        return path

    return change


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Open a page, by its name in the URL and the URL's parameters, on a warehouse."""

    def opened(warehouse: Path, page: str = "", **parameters: str) -> AppTest:
        monkeypatch.setenv("TALKHOUSE_DB", str(warehouse))
        return draw(page, **parameters)

    return opened


@pytest.fixture
def of_samples(sample: Path) -> ServedWarehouse:
    found = sample.stat()
    return ServedWarehouse(Version(sample, found.st_ino, found.st_mtime_ns))
