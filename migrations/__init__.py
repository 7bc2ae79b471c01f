"""The way from one schema revision to the next; run by ``talkhouse build`` and by the ``alembic`` program alike."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a build that finds nothing to do needs neither Alembic nor SQLAlchemy, which take their time
    from alembic.config import Config

VERSION_TABLE = "alembic_version"
SCRIPTS = str(files(__name__))


def head() -> str:
    """Give the newest schema revision: the highest number among the version files (no import of Alembic)."""
    names = (entry.name for entry in (files(__name__) / "versions").iterdir())
    return max(name[:4] for name in names if name[:4].isdigit())


def upgrade(path: Path, revision: str = "head") -> None:
    """Bring a private database file to a revision, in one transaction; raises DuckDB's own errors."""
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

    from schema.dialect import engine

    config = Config()
    config.set_main_option("script_location", scripts.replace("%", "%%"))  # as in any INI file
    with engine(path).connect() as connection:
        config.attributes["connection"] = connection
        yield config
