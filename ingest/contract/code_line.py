"""An exception of a corpus's own code, in words: what it says, and the line of that code that it came through."""

from pathlib import Path
from traceback import extract_tb

_LONGEST = 300
"""Characters of an exception's message that are shown."""


def described(error: BaseException) -> str:
    """Describe an exception by its type and the first line of its message."""
    try:
        message = (str(error).strip().splitlines() or [""])[0]
    except Exception:  # noqa: BLE001 - its __str__ is somebody's code too
        message = "a message that can't be written"
    return f"{type(error).__name__}: {message[:_LONGEST]}" if message else type(error).__name__


def code_line(error: BaseException, folder: Path) -> str:
    """Name the innermost line of a folder that an exception came through; empty where there is none."""
    lines = [line for line in extract_tb(error.__traceback__) if Path(line.filename).is_relative_to(folder)]
    return f"in {lines[-1].filename}, line {lines[-1].lineno}, in {lines[-1].name}" if lines else ""
