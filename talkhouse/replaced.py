"""Files that appear whole or not at all: written beside their place and renamed."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schema.errors import UsageError


@contextmanager
def replaced(output: Path) -> Iterator[Path]:
    """Give a path beside a file that takes its place at the end, so that there is never half a file."""
    target = output.resolve()
    if target.is_dir():
        raise UsageError("the output is a folder", where=output, next_step="name a file in it: --output FILE")
    if target.exists() and not target.is_file():
        # /dev/null or a named pipe: nothing can take its place.
        yield target
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except OSError as error:
        raise UsageError("the file can't be written", where=output, found=str(error)) from error
    finally:
        part.unlink(missing_ok=True)
