"""Connects to a PostgreSQL server, checks what it must have, and says what it did not do; no password is ever shown."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import Connection, Cursor, Transaction

from talkhouse.schema.errors import ServerFailed, UsageError

# The driver logs what goes wrong while it gives up a copy; the cause is raised, and told once.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

OLDEST = 14
"""The oldest version of the server that has what is needed."""

_WAIT = "60s"
_PATIENCE = "200ms"
"""How long to wait for a lock at most, and where readers that come meanwhile wait as well.

Servers look for deadlocks after a second.
"""

_SETTINGS = {
    # Fixed: what is written as text must not depend on the role's own settings.
    "array_nulls": "on",
    "datestyle": "ISO",
    # What others do is seen by the next statement.
    "default_transaction_isolation": "read committed",
    "extra_float_digits": "1",
    # A limit for the queries of users would stop a load, which takes as long as it takes.
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    # Nothing has to wait for others as long as that; who holds a lock for ever should not hold this up for ever.
    "lock_timeout": _WAIT,
    "quote_all_identifiers": "off",
    "standard_conforming_strings": "on",
    "timezone": "UTC",
    # For the sorting of indexes: the default of 64 MB takes a third longer.
    "maintenance_work_mem": "512MB",
}

_NOTICED = "1s"
"""How soon the server notices that this process was killed, and rolls back."""

_ADVICE = {
    "password": "give the password in ~/.pgpass, in $PGPASSWORD or in the URL",
    "role": "name a role that the server has: postgresql://ROLE@HOST/DATABASE",
    "database": "create the database, or name another: postgresql://ROLE@HOST/DATABASE",
    "definition of service": "name a service of ~/.pg_service.conf, or the host itself",
    "pg_hba.conf": "let the server's pg_hba.conf admit this role from this machine",
    "SSL": "choose another sslmode in the URL, or see what the server offers",
    "certificate": "choose another sslmode or sslrootcert in the URL",
}
_UNREACHABLE = "check the host and port of the URL, and whether the server runs: psql URL"

_REFUSED = {
    "42501": "let the owner of the database or of the object named above grant the right, or publish as that role",
    "53100": "make room on the server's disk, and publish again",
    "53200": "raise the server's max_locks_per_transaction or its memory, and publish again",
    "54000": "shorten the key that is named above, or leave its corpus out: an index takes 2,704 bytes at most",
    "42P06": "see whose schema that is: \\dn+ in psql; remove it, or name other schemas with --schema-prefix",
    "55P03": "see in pg_locks who holds the lock, and publish again when it is gone",
    "25006": "name the server that takes writes; this one is read-only",
}
"""What to do about errors of the server, by SQLSTATE."""

_LOST = "see the server's log; what was published before is unchanged unless it says otherwise; publish again"


@contextmanager
def connected(url: str) -> Iterator[Connection[Any]]:
    """Open a connection for a URL as libpq takes it; whatever is not committed at the end is rolled back.

    UsageError where the URL can't be read; ServerFailed where the server can't be reached, does not have what is
    needed, or fails inside.
    """
    _check_url(url)
    name = f"talkhouse publish, process {os.getpid()} on {socket.gethostname()}"
    try:
        con = psycopg.connect(url, autocommit=True, application_name=name, client_encoding="utf8")
    except psycopg.ProgrammingError:
        # Its message quotes the part of the URL that it does not understand, which may be a part of the password.
        raise _not_a_url("a parameter that libpq does not know, or one without a value") from None
    except UnicodeError:  # from Python's own look-up of names
        raise _not_a_url("a host of which a part is empty or too long") from None
    except psycopg.OperationalError as error:
        raise _no_connection(str(error)) from None
    with closing(con), _explained(con):
        _check_server(con)
        # The first statement, and one that calls nothing: functions and operators of others are not found from here on.
        run(con, "set search_path to pg_catalog, pg_temp")
        for setting, value in _SETTINGS.items():
            run(con, "select pg_catalog.set_config(%s, %s, false)", [setting, value])
        with suppress(psycopg.errors.InvalidParameterValue):  # not every system can
            run(con, f"set client_connection_check_interval = '{_NOTICED}'")
        yield con


def version(server: Connection[Any]) -> tuple[int, int]:
    """Return the version of the server: ``(15, 4)``."""
    return divmod(server.info.server_version, 10_000)


def run(server: Connection[Any], statement: str, values: Any = None) -> Cursor[tuple[Any, ...]]:
    """Run a statement; where there are values, they stand for %s in it, and %% for a percent sign."""
    return server.execute(statement.encode(), values)


@contextmanager
def impatient(server: Connection[Any]) -> Iterator[Transaction]:
    """Run statements in a transaction of their own, or a part of one, that waits for no lock longer than a moment."""
    with server.transaction() as part:
        run(server, f"set local lock_timeout = '{_PATIENCE}'")
        yield part
        run(server, f"set local lock_timeout = '{_WAIT}'")  # a part's settings hold for all that follows it


@contextmanager
def locked(server: Connection[Any], prefix: str) -> Iterator[None]:
    """Keep other publishers of the same schemas away; ServerFailed says who is at it. The connection holds the lock.

    Other roles can't publish to these schemas. But any role can take the lock, and then that role does not count: a
    second publisher of this role would only find the schemas changed, and fail in its transaction.
    """
    key = f"talkhouse publish {prefix}"
    ((is_ours,),) = run(server, "select pg_try_advisory_lock(hashtextextended(%s, 0))", [key]).fetchall()
    holders = [] if is_ours else run(server, _HOLDER, [key]).fetchall()
    if holders:
        raise ServerFailed(
            "another process is publishing to these schemas",
            where=where(server),
            found="; ".join(holder for (holder,) in holders),
            next_step="wait for it, or name other schemas with --schema-prefix",
        )
    yield


_HOLDER = """
select format('%%s as %%s since %%s (server process %%s)', coalesce(nullif(application_name, ''), 'a connection'),
    usename, to_char(backend_start at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS UTC'), pid)
from pg_catalog.pg_locks join pg_catalog.pg_stat_activity using (pid)
where locktype = 'advisory' and database = (select oid from pg_catalog.pg_database where datname = current_database())
    and objsubid = 1 and granted and usename = current_user
    and (classid::bigint << 32) | objid::bigint = hashtextextended(%s, 0)
"""


def where(con: Connection[Any]) -> str:
    """Name the database that a connection leads to, without the password."""
    return f"database {con.info.dbname} on {con.info.host or 'this machine'}"


@contextmanager
def _explained(con: Connection[Any]) -> Iterator[None]:
    """Turn what the driver raises into ServerFailed, with what the server said."""
    place = where(con)
    try:
        yield
    except psycopg.Error as error:
        said = error.diag.message_primary or str(error).strip()
        details = [error.diag.message_detail, error.diag.context, error.diag.message_hint]
        raise ServerFailed(
            "the server did not do it; what was published before is unchanged"
            if error.sqlstate
            else "the connection to the server was lost",
            where=place,
            found="; ".join([said, *(detail.splitlines()[0] for detail in details if detail)]),
            next_step=_REFUSED.get(error.sqlstate or "", _LOST),
        ) from None


def _check_url(url: str) -> None:
    if not url.startswith(("postgresql://", "postgres://")):
        # It is not shown: it may hold a password all the same.
        raise UsageError("this is not the URL of a PostgreSQL database", expected="postgresql://ROLE@HOST/DATABASE")
    try:
        place = urlsplit(url).netloc
    except ValueError:  # its message quotes a part of the URL
        raise _not_a_url("a host that is neither a name nor an address") from None
    if url.count("@") > place.count("@") or url.count("@") > 1:
        raise _not_a_url("a character of the role or password that a URL can't have as it is")
    if not url.isprintable():
        raise _not_a_url("a character that can't be printed")


def _not_a_url(found: str) -> UsageError:
    return UsageError(
        "the URL can't be read",
        expected="postgresql://ROLE@HOST/DATABASE, with libpq's parameters behind a question mark",
        found=found,
        next_step="write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23 and % as %25 in the role and password",
    )


def _no_connection(message: str) -> ServerFailed:
    reason = message.strip().splitlines()[0].removeprefix("connection failed: ").removeprefix("connection is bad: ")
    said = reason.rpartition("FATAL:")[2]
    advice = next((step for word, step in _ADVICE.items() if word in said), _UNREACHABLE)
    is_reached = "FATAL:" in reason or advice != _UNREACHABLE
    return ServerFailed(
        "the server refused the connection" if is_reached else "the server can't be reached",
        found=reason,
        next_step=advice,
    )


def _check_server(con: Connection[Any]) -> None:
    """Refuse a server that is too old, is read-only, or does not store every character."""
    if version(con) < (OLDEST,):
        raise ServerFailed(
            "the server is too old",
            where=where(con),
            expected=f"PostgreSQL {OLDEST} or newer",
            found=f"PostgreSQL {con.info.parameter_status('server_version')}",
            next_step="publish to a newer server",
        )
    encoding = con.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise ServerFailed(
            "the database can't store every character",
            where=where(con),
            expected="the encoding UTF8",
            found=f"the encoding {encoding}",
            next_step="create another: create database NAME template template0 encoding 'UTF8'",
        )
