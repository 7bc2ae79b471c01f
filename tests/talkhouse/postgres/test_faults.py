"""What can go wrong on the server: each has a clear error, leaves the former copy, and the next publication works."""

import shutil
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from talkhouse.postgres.publish import PublicationOutcome
from talkhouse.schema.errors import ServerFailed
from tests import postgres_server
from tests.commands import run
from tests.limits import small_disk
from tests.postgres_server import OWNER, SUPERUSER, Database, Server
from tests.talkhouse.postgres.builds import VIEWS, Builds, Steps, contents, published, schemas

pytestmark = pytest.mark.slow


class Nth:
    """Does something when it is called for the nth time."""

    def __init__(self, number: int, do: Callable[[], object]) -> None:
        self._left = number
        self._do = do

    def __call__(self) -> None:
        """Count."""
        self._left -= 1
        if self._left == 0:
            self._do()


# A server that goes away.


def test_a_server_that_crashes_meanwhile_keeps_the_former_copy(own_postgres_server: Server, builds: Builds) -> None:
    with own_postgres_server.database() as database:
        published(builds.path, database)
        for advances in (3, 100):  # while it gets rows, and while it gets keys
            before = contents(database)
            builds.next()
            with pytest.raises(ServerFailed) as failure:
                published(builds.path, database, Steps(at_rows=Nth(advances, own_postgres_server.stop)))
            own_postgres_server.start()
            assert "connection" in str(failure.value)
            assert contents(database) == before
            assert published(builds.path, database).outcome == PublicationOutcome.PUBLISHED
            assert contents(database) != before
            assert all("~" not in name for name in schemas(database))


def test_a_server_that_is_stopped_is_not_reached(own_postgres_server: Server, builds: Builds) -> None:
    with own_postgres_server.database() as database:
        own_postgres_server.stop()
        try:
            done = run("publish", database.url(), "--db", builds.path)
        finally:
            own_postgres_server.start()
    assert done.returncode == 1
    assert "the server can't be reached" in done.stderr


@pytest.mark.usefixtures("build_copied")
def test_a_connection_that_the_server_ends_leaves_the_former_copy(postgres: Database, builds: Builds) -> None:
    before = contents(postgres)
    builds.next()
    with pytest.raises(ServerFailed, match="terminat"):
        published(builds.path, postgres, Steps(at_rows=Nth(5, lambda: end_publishers(postgres))))
    assert contents(postgres) == before
    assert published(builds.path, postgres).outcome == PublicationOutcome.PUBLISHED


def end_publishers(database: Database) -> None:
    with database.connect(SUPERUSER) as con:
        con.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name ~ '^talkhouse publish'"
        )


# No room.


def test_a_full_disk_leaves_the_former_copy(postgres_programs: Path, builds: Builds, sample: Path) -> None:
    # It is there before the server is, and after it.
    nobody = postgres_server.NOBODY
    with (
        small_disk(f"size=64M,uid={nobody},gid={nobody},mode=700") as disk,
        postgres_server.served(postgres_programs) as server,
    ):
        with server.connect() as con:
            con.execute(f"create tablespace small owner {OWNER} location '{disk}'".encode())
        with server.database(tablespace="small") as database:
            published(builds.path, database)
            before = contents(database)
            ballast = disk / "ballast"
            ballast.write_bytes(bytes(shutil.disk_usage(disk).free - 1_000_000))
            with pytest.raises(ServerFailed, match=r"No space left on device[\s\S]*make room"):
                published(sample, database)
            assert contents(database) == before
            ballast.unlink()
            assert published(sample, database).outcome == PublicationOutcome.PUBLISHED
            assert contents(database) != before


# Rights.


def test_a_role_that_may_create_no_schemas_is_told_what_it_needs(postgres: Database, builds: Builds) -> None:
    with postgres.connect(SUPERUSER) as con:
        con.execute("create role reader login")
    try:
        done = run("publish", postgres.url("reader"), "--db", builds.path, "--views", VIEWS)
        assert done.returncode == 1
        assert "the role reader may not create schemas" in done.stderr
        assert f"grant create on database {postgres.name} to reader" in done.stderr
        assert schemas(postgres) == []
        with postgres.connect() as con:
            con.execute(f"grant create on database {postgres.name} to reader".encode())
        done = run("publish", postgres.url("reader"), "--db", builds.path, "--views", VIEWS)
        assert done.returncode == 0, done.stderr
    finally:
        with postgres.connect(SUPERUSER) as con:
            con.execute("drop owned by reader cascade")
            con.execute("drop role reader")


@pytest.mark.usefixtures("build_copied")
def test_another_role_does_not_replace_what_is_not_its_own(postgres: Database, builds: Builds) -> None:
    before = contents(postgres)
    builds.next()
    with postgres.connect(SUPERUSER) as con:
        con.execute("create role another login")
        con.execute(f"grant create on database {postgres.name} to another".encode())
    try:
        done = run("publish", postgres.url("another"), "--db", builds.path, "--views", VIEWS)
        assert done.returncode == 2
        assert "its schema belongs to the role owner" in done.stderr
        assert contents(postgres) == before
    finally:
        with postgres.connect(SUPERUSER) as con:
            con.execute("drop owned by another cascade")
            con.execute("drop role another")


def test_a_database_that_is_read_only_is_said_to_be(postgres: Database, builds: Builds) -> None:
    with postgres.connect() as con:
        con.execute(f"alter database {postgres.name} set default_transaction_read_only = on".encode())
    with pytest.raises(ServerFailed, match="read-only"):
        published(builds.path, postgres)


# Readers that stay.


@pytest.mark.usefixtures("build_copied")
def test_a_reader_who_keeps_the_former_copy_open_keeps_it(postgres: Database, builds: Builds) -> None:
    builds.next()
    with postgres.connect() as con:
        con.execute("begin")
        query = "select count(*) from main.records"
        con.execute("declare kept cursor for select record_id from main.records")
        assert con.execute(query).fetchall() == [(1,)]
        done = published(builds.path, postgres)
        assert done.outcome == PublicationOutcome.PUBLISHED
        assert any("stays for now" in note for note in done.notes)
        assert len(con.execute("fetch all from kept").fetchall()) == 1
        with postgres.connect() as other:
            assert other.execute(query).fetchall() == [(2,)]
        con.execute("commit")
    builds.next()
    assert published(builds.path, postgres).notes == ()
    assert all("~" not in name for name in schemas(postgres))


@pytest.mark.usefixtures("build_copied")
def test_a_statement_that_was_prepared_before_reads_the_new_copy(postgres: Database, builds: Builds) -> None:
    builds.next()
    with psycopg.connect(postgres.url(), autocommit=True) as con:
        query = "select count(*) from main.records"
        assert con.execute(query, prepare=True).fetchall() == [(1,)]
        published(builds.path, postgres)
        assert con.execute(query, prepare=True).fetchall() == [(2,)]
