"""Makes the tables of the newest schema revision, and migrates older ones to it by Alembic."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from talkhouse.schema.sql import literal
from talkhouse.schema.warehouse import HOUSEKEEPING

if TYPE_CHECKING:  # a build that finds nothing to do needs neither Alembic nor SQLAlchemy, which take their time
    from alembic.config import Config

VERSION_TABLE = "alembic_version"
VERSION_COMMENT = "The schema revision of this file."
VERSION_NUMBER_COMMENT = "Revision, see migrations/versions."
SCRIPTS = str(files(__name__))


def head() -> str:
    """Return the newest schema revision: the highest number among the version files (no import of Alembic)."""
    names = (entry.name for entry in (files(__name__) / "versions").iterdir())
    return max(name[:4] for name in names if name[:4].isdigit())


def make(con: duckdb.DuckDBPyConnection) -> None:
    """Make the tables of the newest revision in an empty private database, in one transaction.

    The migrations from the first on would make the same, as tests prove, and take five times as long. Raises DuckDB's
    own errors.
    """
    from sqlalchemy import create_mock_engine
    from sqlalchemy.sql.ddl import ExecutableDDLElement

    from talkhouse.schema.tables import metadata

    def write(statement: ExecutableDDLElement, *_: object) -> None:
        statements.append(str(statement.compile(dialect=engine.dialect)))

    engine = create_mock_engine("talkhouse://", write)
    statements = ["begin", f"create schema {HOUSEKEEPING}"]
    metadata.create_all(engine, checkfirst=False)
    version = f"{HOUSEKEEPING}.{VERSION_TABLE}"
    statements += [
        f"create table {version} (version_num varchar, primary key (version_num))",
        f"comment on table {version} is {literal(VERSION_COMMENT)}",
        f"comment on column {version}.version_num is {literal(VERSION_NUMBER_COMMENT)}",
        f"insert into {version} values ({literal(head())})",
        "commit",
    ]
    con.execute(";\n".join(statements))


def upgrade(path: Path, revision: str = "head") -> None:
    """Migrate a private database file to a revision, in one transaction; raises DuckDB's own errors."""
    from alembic import command
    from sqlalchemy.exc import DBAPIError

    try:
        with configured(path) as config:
            command.upgrade(config, revision)
    except DBAPIError as error:
        raise error.orig or error from error


@contextmanager
def configured(path: Path, scripts: str = SCRIPTS) -> Iterator["Config"]:
    """Open a private database file for Alembic's commands; ``scripts`` is the folder of the migrations."""
    from alembic.config import Config

    from talkhouse.schema.dialect import engine

    config = Config()
    config.set_main_option("script_location", scripts.replace("%", "%%"))  # as in any INI file
    with engine(path).connect() as connection:
        config.attributes["connection"] = connection
        yield config
