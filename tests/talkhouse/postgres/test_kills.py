"""Publishers that are killed at instants of all phases: the old copy or the new one, whole; the next one clears up."""

import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from tests.commands import nothing, run
from tests.phases import Instant, Trace, hit, instants
from tests.postgres_server import Database
from tests.talkhouse.postgres.builds import VIEWS, SharedBuilds, contents, published, schemas

PUBLISHERS = "select count(*) from pg_stat_activity where application_name ~ '^talkhouse publish'"


@pytest.fixture
def warehouses(shared_builds: SharedBuilds) -> list[Path]:
    return [shared_builds.path(1), shared_builds.path(2)]


class Publisher:
    """Publishes warehouses to a database, each time by a process of its own."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.trace = folder / "trace"
        self._database = database
        self._temporary = folder / "tmp"
        self._temporary.mkdir()

    def __call__(self, path: Path, before: Callable[[], object] = nothing) -> "subprocess.CompletedProcess[str]":
        """Publish, and wait until the server knows that the process has ended."""
        arguments = ["publish", self._database.url(), "--db", path, "--views", VIEWS]
        done = run(*arguments, env={"TMPDIR": str(self._temporary)}, before=before)
        with self._database.connect() as con:
            while con.execute(PUBLISHERS).fetchall() != [(0,)]:
                time.sleep(0.02)
        return done

    def temporary(self) -> list[str]:
        """Name what is in the temporary folder."""
        return [path.name for path in self._temporary.iterdir()]


@pytest.mark.parametrize(
    ("number", "signals"),
    [
        pytest.param(6, [signal.SIGKILL], marks=pytest.mark.slow),
        pytest.param(120, [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], marks=pytest.mark.long),
    ],
)
def test_a_signal_leaves_the_old_copy_or_the_new_one(
    postgres: Database, warehouses: list[Path], tmp_path: Path, number: int, signals: list[signal.Signals]
) -> None:
    publish = Publisher(postgres, tmp_path)
    copies = []
    for path in (*warehouses, warehouses[0]):
        published(path, postgres)
        copies.append(contents(postgres))
    assert copies[0] == copies[2]
    assert copies[0] != copies[1]
    assert publish(warehouses[1], Trace("publish", publish.trace)).returncode == 0
    published(warehouses[0], postgres)
    hits: Counter[str] = Counter()
    for count, (instant, sent) in enumerate(zip(instants(publish.trace, number), cycle(signals), strict=False)):
        old, new = count % 2, 1 - count % 2
        done = publish(warehouses[new], Trace("publish", publish.trace, sent, instant))
        where = f"{sent.name} in {hit(publish.trace)}, {instant}: {done.returncode}\n{done.stderr}"
        state = {name: rows for name, rows in contents(postgres).items() if "~" not in name}
        assert state in ([copies[new]] if done.returncode == 0 else [copies[old], copies[new]]), where
        hits[f"{hit(publish.trace)}: {'old' if state == copies[old] else 'new'}"] += 1
        published(warehouses[new], postgres)
        assert contents(postgres) == copies[new], where
        assert [name for name in schemas(postgres) if "~" in name] == [], where
    print(f"\n{dict(sorted(hits.items()))}")


@pytest.mark.slow
def test_the_next_publisher_deletes_what_a_killed_one_left_in_the_temporary_folder(
    postgres: Database, warehouses: list[Path], tmp_path: Path
) -> None:
    publish = Publisher(postgres, tmp_path)
    done = publish(warehouses[0], Trace("publish", publish.trace, signal.SIGKILL, Instant("plan", 1, 0)))
    assert done.returncode == -signal.SIGKILL
    assert publish(warehouses[0]).returncode == 0
    assert publish.temporary() == []


@pytest.mark.slow
@pytest.mark.usefixtures("build_copied")
def test_the_next_publisher_drops_what_one_that_was_killed_after_the_transaction_had_replaced(
    postgres: Database, warehouses: list[Path], tmp_path: Path
) -> None:
    publish = Publisher(postgres, tmp_path)
    done = publish(warehouses[1], Trace("publish", publish.trace, signal.SIGKILL, Instant("clear", 2, 0)))
    assert done.returncode == -signal.SIGKILL
    assert len(schemas(postgres)) == 2 * 3
    assert publish(warehouses[1]).returncode == 0
    assert schemas(postgres) == ["bi", "main", "meta"]
