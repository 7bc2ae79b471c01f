"""What the system refuses a user: to read, write or enter a file or folder; each is said with what to do next."""

from errno import EACCES, ELOOP, ENAMETOOLONG, EPERM, EROFS
from pathlib import Path
from typing import TypedDict

from talkhouse.schema.errors import UsageError

_REFUSALS = (EACCES, EPERM, EROFS, ELOOP, ENAMETOOLONG)
"""Of these no code of ours can be the cause, but the path alone."""


class ErrorText(TypedDict):
    """The parts of an error that say how a path can be used."""

    expected: str | None
    found: str
    next_step: str


def refused(error: OSError) -> UsageError | None:
    """Return the message for a path that the system refuses; None for every other failure, which may be our mistake."""
    if error.errno not in _REFUSALS or not isinstance(error.filename, str):
        return None
    what = "permission denied" if isinstance(error, PermissionError) else "this path can't be used"
    return UsageError(what, where=error.filename, **error_text(error, Path(error.filename)))


def error_text(error: OSError, path: Path, *, another: str = "name another") -> ErrorText:
    """Return what was refused, which on the way to a path is the folder that may not be entered, and what to do.

    ``another`` says how another path is named.
    """
    reason = error.strerror or str(error)
    if not isinstance(error, PermissionError):
        return {"expected": None, "found": reason, "next_step": another}
    folder = _closed(path)
    return {
        "expected": "a file or folder that you may use, in folders that you may enter",
        "found": reason if folder is None else f"{reason}: the folder {folder} may not be entered",
        "next_step": f"allow it, for instance with: {chmod(path, 'rwX')}   or {another}",
    }


def chmod(path: Path, rights: str) -> str:
    """Return what the owner types to have rights to a path: those to the first folder on the way that lacks them."""
    # Somebody else may have named it: in a shell no quote in the name ends the one around it.
    name = str(_closed(path) or path).replace("'", "'\\''")
    return f"chmod u+{rights} '{name}'"


def _closed(path: Path) -> Path | None:
    """Return the first folder on the way to a path that may not be entered; None where each may be."""
    path = path.absolute()
    for step in (*reversed(path.parents), path):
        try:
            step.lstat()
        except PermissionError:
            return step.parent
        except OSError:
            break
    return None
