"""The PostgreSQL server that tests start: it is theirs alone, and a test's role has no rights but on its database."""

import psycopg
import pytest

from tests.postgres_server import SUPERUSER, WITH_PASSWORD, Database


def test_a_database_is_empty_and_belongs_to_a_role_without_rights(postgres: Database) -> None:
    with postgres.connect() as con:
        assert con.execute("select count(*) from pg_tables where schemaname = 'public'").fetchall() == [(0,)]
        rights = "select rolsuper, rolcreatedb, rolcreaterole, rolbypassrls from pg_roles where rolname = current_user"
        assert con.execute(rights).fetchall() == [(False,) * 4]
        con.execute("create schema main")
        assert con.execute("show listen_addresses").fetchall() == [("",)]


def test_a_role_may_need_its_password(postgres: Database) -> None:
    with postgres.connect(SUPERUSER) as con:
        con.execute(f"create role guarded login password 'a b/c' in role {WITH_PASSWORD}")
        try:
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(postgres.url("guarded", "wrong"))
            psycopg.connect(postgres.url("guarded", "a b/c")).close()
        finally:
            con.execute("drop role guarded")
