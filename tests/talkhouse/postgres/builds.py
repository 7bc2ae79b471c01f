"""A warehouse that is built again and again, its publication, and what a database then holds."""

import shutil
from collections.abc import Callable
from pathlib import Path

from psycopg import sql

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.postgres.plan import Options
from talkhouse.postgres.publish import PublicationResult, publish
from talkhouse.warehouse.opened import Warehouse
from tests.postgres_server import OWNER, Database
from tests.talkhouse.test_readers import add_file

VIEWS = "bi.dialogues"
"""The views that are published: one, to save time."""
ABOUT_IT = ("meta.publication",)
"""Tables that say when a copy was published, and so differ from time to time."""

Contents = dict[str, tuple[object, ...]]


class Steps(Silent):
    """Progress that calls something at the beginning of each step, or whenever rows are copied."""

    def __init__(
        self, at_step: Callable[[], object] = lambda: None, at_rows: Callable[[], object] = lambda: None
    ) -> None:
        self.begun = 0
        self._at_step, self._at_rows = at_step, at_rows

    def begin(self, *_: object, **__: object) -> None:
        """Count the step."""
        self.begun += 1
        self._at_step()

    def advance(self, *_: object) -> None:
        """Record that rows were copied."""
        self._at_rows()


class SharedBuilds:
    """Builds of a warehouse, each made once: number n has n files, each a record."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: list[Path] = []

    def path(self, number: int) -> Path:
        """Return the path of a build."""
        built, data = self._folder / "w.duckdb", self._folder / "data"
        while len(self._paths) < number:
            add_file(data, len(self._paths) + 1)
            build(built, Silent(), data=data)
            self._paths.append(Path(shutil.copyfile(built, self._folder / f"{len(self._paths) + 1}.duckdb")))
        return self._paths[number - 1]


class Builds:
    """A warehouse that becomes each of these builds in turn."""

    def __init__(self, folder: Path, shared_builds: SharedBuilds) -> None:
        self.path = folder / "w.duckdb"
        self._shared = shared_builds
        self._number = 0

    def next(self) -> None:
        """Put the next one in its place."""
        self._number += 1
        shutil.copyfile(self._shared.path(self._number), self.path)


def published(path: Path, database: Database, steps: Steps | None = None, user: str = OWNER) -> PublicationResult:
    with talkhouse.open(path) as con:
        return publish(Warehouse(con), database.url(user), Options(views=(VIEWS,)), steps or Steps())


_RELATIONS = """
select nspname, relname from pg_class inner join pg_namespace on relnamespace = pg_namespace.oid
where relkind in ('r', 'v') and nspname !~ '^(pg_|information_schema$)' order by 1, 2
"""


def contents(database: Database) -> Contents:
    found: Contents = {}
    query = sql.SQL("select count(*), sum(hashtextextended(one::text, 0)::numeric) from {} as one")
    with database.connect() as con:
        for schema, name in con.execute(_RELATIONS).fetchall():
            (found[f"{schema}.{name}"],) = con.execute(query.format(sql.Identifier(str(schema), str(name)))).fetchall()
    return {name: value for name, value in found.items() if name not in ABOUT_IT}


def schemas(database: Database) -> list[str]:
    with database.connect() as con:
        rows = con.execute("select nspname from pg_namespace where nspname !~ '^(pg_|information_schema$|public$)'")
        return sorted(str(name) for (name,) in rows)
