"""The files of a catalogue: SQL, and the declarations of charts, read from folders or kept in a warehouse.

``<folder>/lines.sql`` belongs to the corpus ``<folder>``; ``bi``, ``checks`` and ``metrics`` are for all of them. A
corpus from elsewhere has the files of its folder in ``queries/`` next to its module.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from talkhouse import queries
from talkhouse.schema.errors import CatalogueError

DEFAULT_ROOT = Path(queries.__path__[0])

_PATTERNS = (
    *("*.sql", "*/*.sql", "metrics.toml", "dashboards/*.toml"),
    *("bi/metrics.toml", "bi/reading.toml", "bi/dashboards/*.toml"),
)


@dataclass(frozen=True)
class QueryFile:
    """A file with its text."""

    folder: str
    """The corpus, or ``bi``, ``checks``, ``metrics``."""
    name: str
    """Its path in the folder: ``lines.sql``, ``bi/dashboards/scenes.toml``."""
    text: str
    path: Path
    """Where it is, for messages."""

    @property
    def kind(self) -> str:
        """The subfolder that it is in, or nothing: ``macros``, ``bi/dashboards``."""
        return self.name.rpartition("/")[0]

    @property
    def stem(self) -> str:
        """Its name without the ending."""
        return PurePosixPath(self.name).stem

    @property
    def is_sql(self) -> bool:
        """Whether it is SQL, and not a declaration of charts."""
        return self.name.endswith(".sql")


Files: TypeAlias = tuple[QueryFile, ...]


def files_in(roots: Iterable[Path]) -> Files:
    """Read the files below roots, which have a folder for each corpus."""
    folders = [folder for root in roots for folder in sorted(root.iterdir()) if folder.is_dir()]
    return tuple(file for folder in folders for file in files_of(folder, folder.name))


def files_of(folder: Path, name: str) -> Iterator[QueryFile]:
    """Read the files of one corpus, which ``name`` is the id of; CatalogueError for one that is not UTF-8."""
    for path in (path for pattern in _PATTERNS for path in sorted(folder.glob(pattern))):
        try:
            yield QueryFile(name, path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8"), path)
        except UnicodeDecodeError as error:
            raise CatalogueError(
                "the file is not UTF-8", where=path, found=str(error), next_step="save it as UTF-8"
            ) from error


@cache
def own_files() -> Files:
    """Read Talkhouse's own files, once in a process."""
    return files_in((DEFAULT_ROOT,))
