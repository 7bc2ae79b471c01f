"""The way from one schema revision to the next; run by ``talkhouse build`` and by the ``alembic`` program alike."""

from importlib.resources import files
from pathlib import Path

VERSION_TABLE = "alembic_version"


def head() -> str:
    """Give the newest schema revision: the highest number among the version files (no import of Alembic)."""
    names = (entry.name for entry in (files(__name__) / "versions").iterdir())
    return max(name[:4] for name in names if name[:4].isdigit())


def upgrade(path: Path, revision: str = "head") -> None:
    """Bring a private database file to a revision, in one transaction."""
    from alembic import command
    from alembic.config import Config

    from schema.dialect import engine

    config = Config()
    config.set_main_option("script_location", str(files(__name__)))
    with engine(path).connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
