"""Connects to a PostgreSQL server, checks it, and finds what in it is the publishing role's own; shows no password.

What belongs to the role is told by the system catalogs alone: to read a view, or a table with row security, may call
functions of other roles with the rights of the one that reads. So nothing of a copy is read, granted, moved or dropped
before it was found to be the role's own. It stays so afterwards: only their owner can replace or change a table or
rename a schema, whatever others may create in it.
"""

import logging
import os
import socket
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psycopg
from psycopg import Connection, Cursor, Transaction

from talkhouse.escaping import visible
from talkhouse.schema.errors import ServerFailed, UsageError
from talkhouse.schema.sql import quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.schema.toml_files import toml_of

# The driver logs what goes wrong while it gives up a copy; the cause is raised, and told once.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

OLDEST = 14
"""The oldest version of the server that has what is needed."""

_WAIT = "60s"
_PATIENCE = "200ms"
"""How long to wait for a lock at most, and where readers that come meanwhile wait as well.

Servers look for deadlocks after a second. Nothing has to wait for others as long; who holds a lock for ever should not
hold a load up for ever.
"""

_TABLES = toml_of(__file__, "server")

_SETTINGS = {**_TABLES["settings"], "lock_timeout": _WAIT}

_NOTICED = "1s"
"""How soon the server notices that this process was killed, and rolls back."""

_ADVICE: dict[str, str] = _TABLES["advice"]
_UNREACHABLE = "check the host and port of the URL, and whether the server runs: psql URL"

_REFUSED: dict[str, str] = _TABLES["sqlstate"]
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
    second publisher of this role finds in its transaction that the schemas have changed, and makes a new copy or fails.
    """
    key = f"talkhouse publish {prefix}"
    ((is_ours,),) = run(server, "select pg_try_advisory_lock(hashtextextended(%s, 0))", [key]).fetchall()
    holders = [] if is_ours else run(server, sql_of(__file__, "lock_holder"), [key]).fetchall()
    if holders:
        raise ServerFailed(
            "another process is publishing to these schemas",
            where=where(server),
            found="; ".join(holder for (holder,) in holders),
            next_step="wait for it, or name other schemas with --schema-prefix",
        )
    yield
    if is_ours:  # now: the server ends the connection some time after it was closed
        run(server, "select pg_advisory_unlock(hashtextextended(%s, 0))", [key])


def where(con: Connection[Any]) -> str:
    """Return the database of a connection as messages name it, without the password."""
    return f"database {con.info.dbname} on {con.info.host or 'this machine'}"


@contextmanager
def _explained(con: Connection[Any]) -> Iterator[None]:
    """Turn what the driver raises into ServerFailed, with what the server said."""
    place = where(con)
    try:
        yield
    except psycopg.Error as error:
        message = error.diag.message_primary or str(error).strip()
        details = [error.diag.message_detail, error.diag.context, error.diag.message_hint]
        raise ServerFailed(
            "the server did not do it; what was published before is unchanged"
            if error.sqlstate
            else "the connection to the server was lost",
            where=place,
            found="; ".join([message, *(detail.splitlines()[0] for detail in details if detail)]),
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
    fatal = reason.rpartition("FATAL:")[2]
    advice = next((step for word, step in _ADVICE.items() if word in fatal), _UNREACHABLE)
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


TABLE, VIEW = "r", "v"
"""Kinds of relations that a publication makes, as the catalog names them."""

_KINDS = {
    TABLE: "table",
    VIEW: "view",
    "S": "sequence",
    "c": "composite type",
    "f": "foreign table",
    "m": "materialized view",
    "p": "partitioned table",
}

_ME = "(select oid from pg_catalog.pg_roles where rolname = current_user)"


_MARKED = f"""
select nspname from pg_catalog.pg_namespace
where nspowner = {_ME} and obj_description(oid, 'pg_namespace') = %s order by 1
"""

_OWNERS = f"""
select nspname, nspowner = {_ME}, pg_get_userbyid(nspowner) from pg_catalog.pg_namespace
where nspname = any(%s) order by 1
"""

_NAMES = f"""
select oid::regclass::text from pg_catalog.pg_class
where relowner = {_ME} and relkind::text = any(%s) and relnamespace = any(%s::regnamespace[])
"""

_LIKE_TEXT = "character varying"
"""The type of the revision's table, which Alembic makes; DuckDB has no other text than text."""


class OwnRelation(NamedTuple):
    """A table, view or the like that the catalog has."""

    kind: str
    columns: list[str]
    """Each with its type: ``text_id text``."""
    oddities: list[str]
    """What a publication of this role would not have made so."""

    def differs(self, kind: str, columns: Sequence[str] | None = None) -> str | None:
        """Return its difference from what the role made, for which it must not be read, or None."""
        differences = list(self.oddities)
        if self.kind != kind:
            differences.insert(0, f"it is a {_KINDS.get(self.kind, self.kind)}")
        elif columns is not None and self.columns != list(columns):
            differences.append(f"it has the columns {', '.join(self.columns) or '(none)'}")
        return visible("; ".join(differences)) or None


def relations(server: Connection[Any], schemas: Iterable[str]) -> dict[tuple[str, str], OwnRelation]:
    """Describe what is in some schemas, by the names of schema and relation."""
    return {
        (schema, name): OwnRelation(kind, [_as_text(column) for column in columns], oddities)
        for schema, name, kind, columns, oddities in run(
            server, sql_of(__file__, "own_relations", me=_ME), [sorted(schemas)]
        )
    }


def _as_text(column: str) -> str:
    name, _, kind = column.rpartition(f" {_LIKE_TEXT}")
    return f"{name} text" if name and not kind else column


def strange(server: Connection[Any], schemas: Collection[str], listed: Mapping[tuple[str, str], str]) -> list[str]:
    """Describe what is in some schemas and not listed (with its kind), or is listed and not as the role made it."""
    existing, descriptions = relations(server, schemas), []
    for schema, name, description in run(server, sql_of(__file__, "inside_schemas"), [sorted(schemas)]):
        relation, kind = existing.get((schema, name)), listed.get((schema, name))
        if relation is None or kind is None:
            descriptions.append(visible(description))
        elif why := relation.differs(kind):
            descriptions.append(f"{visible(description)}: {why}")
    return descriptions


def marked(server: Connection[Any], mark: str) -> list[str]:
    """Return the role's own schemas that have a mark as their comment, which only their owner can write."""
    return [name for (name,) in run(server, _MARKED, [mark])]


def owners(server: Connection[Any], schemas: Iterable[str]) -> dict[str, str | None]:
    """Return the owners of those schemas that exist; None for one of this role's own."""
    return {name: None if is_own else owner for name, is_own, owner in run(server, _OWNERS, [sorted(schemas)])}


def writers(server: Connection[Any], schema: str, names: Sequence[str]) -> list[str]:
    """Name, as SQL does, the other roles that may write tables."""
    return [role for (role,) in run(server, sql_of(__file__, "writers"), [schema, list(names)])]


def own_relations(server: Connection[Any], schemas: Iterable[str], kinds: Sequence[str] = (TABLE, VIEW)) -> list[str]:
    """Name, as SQL does, the role's own tables and views in some schemas."""
    return [name for (name,) in run(server, _NAMES, [list(kinds), [quoted(schema) for schema in schemas]])]
