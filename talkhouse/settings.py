"""Where the warehouse is, and which Talkhouse this is."""

import os
from collections.abc import Sequence
from pathlib import Path

DEFAULT_DATABASE = "talkhouse.duckdb"

RELEASE_PREFIX = "release:"
"""Begins what names a release where a warehouse could be named: ``--db release:2026-11``."""

DATA = Path("corpora")
"""The data folder of commands that are not told of another."""


def database(path: str | Path | None = None) -> Path:
    """Return the warehouse's path: ``path``, or ``$TALKHOUSE_DB``, or ``talkhouse.duckdb`` in this folder."""
    return Path(path or os.environ.get("TALKHOUSE_DB") or DEFAULT_DATABASE)


def local_database() -> Path:
    """Return the warehouse next to which files of a release lie, which is itself in the cache."""
    return Path(os.environ.get("TALKHOUSE_LOCAL_DB") or database())


def serve_database(path: Path, local: Path) -> None:
    """Name the warehouse, and the one next to which its files lie, for the rest of this process."""
    os.environ.update(TALKHOUSE_DB=str(path.absolute()), TALKHOUSE_LOCAL_DB=str(local))


def bookmarks(warehouse: Path | None = None) -> Path:
    """Return the path of the bookmarks: ``$TALKHOUSE_BOOKMARKS``, or ``bookmarks.toml`` next to the warehouse."""
    named = os.environ.get("TALKHOUSE_BOOKMARKS")
    return Path(named or (warehouse or local_database()).with_name("bookmarks.toml")).absolute()


def name_bookmarks(path: Path) -> None:
    """Name the file of the user's bookmarks for the rest of this process."""
    os.environ["TALKHOUSE_BOOKMARKS"] = str(path.absolute())


def text_model(name: str | None = None) -> str:
    """Return the folder of the model that turns texts into vectors: ``name``, or ``$TALKHOUSE_MODEL``, or ""."""
    return name or os.environ.get("TALKHOUSE_MODEL", "")


def corpus_folders(folders: Sequence[Path] | None = None) -> tuple[Path, ...]:
    """Return the folders of corpora that are named: ``folders``, or those of ``$TALKHOUSE_CORPORA``, or none."""
    named = os.environ.get("TALKHOUSE_CORPORA", "").split(os.pathsep)
    return tuple(folders or (Path(name) for name in named if name))


def name_corpus_folders(folders: Sequence[Path]) -> None:
    """Name folders of corpora for the rest of this process, and for those that it starts."""
    os.environ["TALKHOUSE_CORPORA"] = os.pathsep.join(str(folder.absolute()) for folder in folders)


def note_on_newer(recorded: str) -> str | None:
    """Return a line for the user where a newer Talkhouse has recorded its version; None also where neither is known."""
    try:
        there, here = ([int(number) for number in text.split(".")] for text in (recorded, version()))
    except ValueError:
        return None
    if there <= here:
        return None
    return f"its views were made by Talkhouse {recorded}, and are now those of this older one, {version()}"


def version() -> str:
    """Return the version of the installed Talkhouse."""
    from importlib.metadata import version  # takes as long as all of --help

    return version("talkhouse")
