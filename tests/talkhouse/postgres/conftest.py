"""Warehouses that a test may change, what is published of them once, and a short way to publish."""

import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.postgres.plan import Options
from talkhouse.postgres.publish import PublicationResult, publish
from talkhouse.warehouse.opened import Warehouse
from tests.postgres_server import SUPERUSER, Database, Server
from tests.talkhouse.postgres.builds import Builds, SharedBuilds, Steps
from tests.talkhouse.postgres.builds import published as published_build

Publish = Callable[..., PublicationResult]


@pytest.fixture
def changed(sample: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a copy of the sample in which some statements were run; each copy is a build of its own."""
    numbers = count(1)

    def run(statements: str = "") -> Path:
        number = next(numbers)
        path = Path(shutil.copyfile(sample, tmp_path / f"changed_{number}.duckdb"))
        with duckdb.connect(path) as con:
            con.execute(f"{statements}; update meta.loads set finished_at = finished_at + interval {number} second")
        return path

    return run


@pytest.fixture(scope="session")
def shared_builds(tmp_path_factory: pytest.TempPathFactory) -> SharedBuilds:
    return SharedBuilds(tmp_path_factory.mktemp("made"))


@pytest.fixture
def builds(shared_builds: SharedBuilds, tmp_path: Path) -> Builds:
    found = Builds(tmp_path, shared_builds)
    found.next()
    return found


def publish_to(url: str, warehouse: Path, **options: object) -> PublicationResult:
    names = ("dry_run", "force", "grant_select", "format_number")
    arguments = {name: options.pop(name) for name in names if name in options}
    with talkhouse.open(warehouse) as con:
        return publish(Warehouse(con), url, Options(**options), Steps(), **arguments)  # type: ignore[arg-type]


@pytest.fixture
def published(postgres: Database) -> Publish:
    return lambda warehouse, url=None, **options: publish_to(url or postgres.url(), warehouse, **options)


@pytest.fixture
def copied(shared_postgres_server: Server, postgres: Database, sample: Path) -> None:
    shared_postgres_server.fill(postgres, "sample", lambda item: publish_to(item.url(), sample, without_views=True))


@pytest.fixture
def build_copied(shared_postgres_server: Server, postgres: Database, shared_builds: SharedBuilds) -> None:
    shared_postgres_server.fill(postgres, "build", lambda item: published_build(shared_builds.path(1), item))


@pytest.fixture
def build_copied_by_root(shared_postgres_server: Server, postgres: Database, shared_builds: SharedBuilds) -> None:
    """Begin with a copy of the first build that a superuser has published."""
    path = shared_builds.path(1)
    shared_postgres_server.fill(postgres, "by root", lambda item: published_build(path, item, user=SUPERUSER))
