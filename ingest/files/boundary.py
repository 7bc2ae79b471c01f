"""Which links are followed among the files that a user names: those that stay in the folder, unless told otherwise."""

import io
import os
from dataclasses import dataclass
from pathlib import Path

from talkhouse.schema.errors import SourceError

OPTION = "--follow-links"

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY  # a named pipe that replaced it does not block
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW


@dataclass(frozen=True)
class Boundary:
    """The folder out of which no link may lead; None where links are followed wherever they lead.

    A hard link can't be told from any other file.
    """

    folder: Path | None
    """Without links itself."""

    @classmethod
    def of(cls, named: Path, *, follow_links: bool = False) -> "Boundary":
        """Take the folder or file that a user named, which may be a link itself."""
        return cls(None if follow_links or not named.is_dir() else _real(named))

    def real(self, path: Path) -> Path:
        """Follow all links of a path; SourceError where that leads out of the folder."""
        real = _real(path)
        if self.folder is not None and not real.is_relative_to(self.folder):
            raise SourceError(
                "the link leads out of the folder that was named",
                where=path,
                expected=f"files and folders inside {self.folder}",
                found=f"a link to {real}",
                next_step=f"copy what it leads to into the folder; or, for a folder that you trust: {OPTION}",
            )
        return real

    def open(self, path: Path) -> io.FileIO:
        """Open a file by its real path; a link that has replaced it, or a folder on the way to it, is not followed.

        Raises OSError; for such a link NotADirectoryError, or one with ELOOP.
        """
        if self.folder is None:
            return io.FileIO(os.open(path, _FILE))
        *folders, name = path.relative_to(self.folder).parts
        handle = os.open(self.folder, _FOLDER)
        try:
            for folder in folders:
                above, handle = handle, os.open(folder, _FOLDER, dir_fd=handle)
                os.close(above)
            return io.FileIO(os.open(name, _FILE, dir_fd=handle))
        finally:
            os.close(handle)


def _real(path: Path) -> Path:
    """Follow all links; of a loop and what does not exist the rest stays as it is."""
    return Path(os.path.realpath(path))
