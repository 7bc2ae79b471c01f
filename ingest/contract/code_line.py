"""The line of a corpus's own code that an exception came through."""

from pathlib import Path
from traceback import extract_tb


def code_line(error: BaseException, folder: Path) -> str:
    """Name the innermost line of a folder that an exception came through; empty where there is none."""
    lines = [line for line in extract_tb(error.__traceback__) if Path(line.filename).is_relative_to(folder)]
    return f"in {lines[-1].filename}, line {lines[-1].lineno}, in {lines[-1].name}" if lines else ""
