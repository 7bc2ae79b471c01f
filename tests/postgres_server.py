"""A PostgreSQL server of the tests' own: in a temporary folder, on a Unix socket only, run by a user without rights."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import psycopg
from psycopg import sql

OWNER = "owner"
"""The role that a test's database belongs to: no superuser, and it may make no roles and no databases."""
SUPERUSER = "postgres"
WITH_PASSWORD = "with_password"  # noqa: S105  # a role
"""A role whose members have to give their password; all others are trusted."""

NOBODY = 65534
"""The user who runs the server where root runs the tests: it refuses to be run by root."""

# Committed rows outlast a crash of the server, though not of the machine.
_SETTINGS = {"listen_addresses": "", "fsync": "off", "shared_buffers": "64MB", "max_connections": "50"}


def programs() -> list[Path]:
    """Find the folders with PostgreSQL's programs, one for each version: where Debian has them, or in the PATH."""
    found = sorted(path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    in_path = shutil.which("initdb")
    return found or ([Path(in_path).resolve().parent] if in_path else [])


@dataclass(frozen=True)
class Database:
    """One database of a server."""

    name: str
    folder: Path

    def url(self, user: str = OWNER, password: str | None = None) -> str:
        """Write the URL that libpq takes, and so psycopg and ADBC."""
        who = user if password is None else f"{user}:{quote(password, safe='')}"
        return f"postgresql://{who}@/{self.name}?host={quote(str(self.folder), safe='')}"

    def connect(self, user: str = OWNER) -> "psycopg.Connection[tuple[object, ...]]":
        """Open a connection that commits each statement by itself."""
        return psycopg.connect(self.url(user), autocommit=True)


Result = TypeVar("Result")


class Server:
    """A server, and databases in it. ``stop`` and ``start`` may be called again and again."""

    def __init__(self, bin_folder: Path, folder: Path) -> None:
        """Make its files in a folder that belongs to the user who runs it, and start it."""
        self.folder = folder
        self._bin = bin_folder
        self._numbers = count()
        self._filled: dict[str, tuple[Database, Any]] = {}
        self._run("initdb", "--pgdata", self._data, "--username", SUPERUSER, "--auth", "trust", "--no-sync", *_TEXT)
        hba = self._data / "pg_hba.conf"
        hba.write_text(f"local all +{WITH_PASSWORD} scram-sha-256\nlocal all all trust\n")
        self.start()
        with self.connect() as con:
            con.execute(f"create role {OWNER} login")
            con.execute(f"create role {WITH_PASSWORD}")

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}='{value}'")]
        options = " ".join([*settings, "-k", str(self.folder)])
        self._run("pg_ctl", "start", "--pgdata", self._data, "--wait", "--log", self.folder / "log", "-o", options)

    def stop(self, mode: str = "immediate") -> None:
        """Stop it: ``immediate`` as if it had crashed, ``fast`` with its connections closed."""
        self._run("pg_ctl", "stop", "--pgdata", self._data, "--wait", "--mode", mode)

    def connect(self) -> "psycopg.Connection[tuple[object, ...]]":
        """Open a connection of the superuser, for roles, databases and tablespaces."""
        return Database("postgres", self.folder).connect(SUPERUSER)

    @contextmanager
    def database(self, tablespace: str = "pg_default") -> Iterator[Database]:
        """Make an empty database that belongs to OWNER, and drop it at the end."""
        database = Database(f"test_{next(self._numbers)}", self.folder)
        self._create(database, tablespace=tablespace)
        yield database
        self._drop(database)

    def fill(self, database: Database, name: str, fill: Callable[[Database], Result]) -> Result:
        """Make a database equal to the one that was filled under a name, which is once for all who name it."""
        if name not in self._filled:
            filled = Database(f"filled_{next(self._numbers)}", self.folder)
            self._create(filled)
            self._filled[name] = filled, fill(filled)
        filled, result = self._filled[name]
        self._drop(database)
        self._create(database, template=filled.name)
        return result

    def _create(self, database: Database, *, template: str = "template1", tablespace: str = "pg_default") -> None:
        names = map(sql.Identifier, (database.name, OWNER, template, tablespace))
        with self.connect() as con:
            con.execute(sql.SQL("create database {} owner {} template {} tablespace {}").format(*names))

    def _drop(self, database: Database) -> None:
        with self.connect() as con:
            con.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(database.name)))

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _run(self, program: str, *arguments: object) -> None:
        words = [str(self._bin / program), *map(str, arguments)]
        # Into a file: the server keeps the streams that pg_ctl has, and a pipe would never end.
        with (self.folder / "output").open("w+") as output:
            done = _as_its_user(words, cwd=self.folder, stdout=output, stderr=subprocess.STDOUT)
            output.seek(0)
            assert done.returncode == 0, output.read()


_TEXT = ("--encoding", "UTF8", "--locale", "C.UTF-8")
_as_its_user = partial(subprocess.run, check=False, stdin=subprocess.DEVNULL)
if os.geteuid() == 0:
    _as_its_user = partial(_as_its_user, user=NOBODY, group=NOBODY, extra_groups=())


@contextmanager
def served(bin_folder: Path) -> Iterator[Server]:
    # Not a folder of pytest's: only root may look into those, and the path of a socket has 107 bytes at most.
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as name:
        if os.geteuid() == 0:
            os.chown(name, NOBODY, NOBODY)
        server = Server(bin_folder, Path(name))
        try:
            yield server
        finally:
            server.stop()
