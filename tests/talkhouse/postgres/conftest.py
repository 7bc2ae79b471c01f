"""A warehouse that a test may change, and a short way to publish."""

import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.postgres.plan import Options
from talkhouse.postgres.publish import Result, publish
from talkhouse.warehouse.opened import Warehouse
from tests.postgres_server import Database

Publish = Callable[..., Result]


class Quiet:
    """Shows no progress."""

    def begin(self, step: str, *, records: int = 0, unit: str = "records") -> None:
        """Show nothing."""

    def advance(self, records: int) -> None:
        """Count nothing."""


@pytest.fixture
def changed(sample: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a copy of the sample in which some statements were run; each copy is a build of its own."""
    numbers = count(1)

    def run(statements: str = "") -> Path:
        number = next(numbers)
        path = tmp_path / f"changed_{number}.duckdb"
        shutil.copyfile(sample, path)
        with duckdb.connect(path) as con:
            con.execute(f"{statements}; update meta.loads set finished_at = finished_at + interval {number} second")
        return path

    return run


@pytest.fixture
def published(postgres: Database) -> Publish:
    """Publish a warehouse to the test's database."""

    def run(warehouse: Path, *, url: str | None = None, **options: object) -> Result:
        names = ("dry_run", "force", "grant_select", "format_number")
        arguments = {name: options.pop(name) for name in names if name in options}
        with talkhouse.open(warehouse) as con:
            return publish(Warehouse(con), url or postgres.url(), Options(**options), Quiet(), **arguments)  # type: ignore[arg-type]

    return run
