"""Files and folders that appear whole or not at all: written next to the output and renamed."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import duckdb

from talkhouse.schema.errors import FULL, OutputFailed, UsageError, error_text
from talkhouse.system import ctrl_c
from talkhouse.system.files import Taken, delete_folder, locked, new_folder, target_of

_PART_FOLDER = ".talkhouse.part"


def check_free(con: duckdb.DuckDBPyConnection, paths: Sequence[Path], *, force: bool) -> None:
    """Raise UsageError where a file would replace the warehouse, or without ``force`` anything."""
    databases = con.execute("select path from duckdb_databases() where database_name = current_database()").fetchall()
    warehouses = [Path(path) for (path,) in databases if path]
    check_replaceable(paths, {"the warehouse": warehouses}, force=force)


def check_replaceable(paths: Sequence[Path], protected: Mapping[str, Sequence[Path]], *, force: bool) -> None:
    """Raise UsageError where a file would replace one that is ``kept`` (what these are -> files), or one that is there.

    With ``force``, only for those that are kept.
    """
    for path in paths:
        with output_errors(path):
            if path.is_dir() or not path.exists():
                continue
            for what, files in protected.items():
                if any(path.samefile(file) for file in files):
                    problem = f"the output would replace {what}"
                    raise UsageError(problem, where=path, next_step="name another --output")
        if not force:
            raise UsageError(
                "the file exists already", where=path, next_step="name another --output, or replace it with --force"
            )


@contextmanager
def atomic_file(output: Path) -> Iterator[Path]:
    """Yield a path next to a file, which replaces the file at the end, so that there is never half a file."""
    with output_errors(output):
        target = _target(output)
        if target.exists() and not target.is_file():
            # /dev/null or a named pipe: nothing can replace it.
            yield target
            return
        with private_folder(output) as folder:
            yield folder / target.name
            move_into_place(folder / target.name, target)


@contextmanager
def private_folder(output: Path, *, patience: float = 0) -> Iterator[Path]:
    """Yield a private folder next to a file for its intermediate files; it is removed at the end.

    What a killed process left there is cleared first. UsageError where the output can't be a file, or where another
    process is writing it, for longer than ``patience`` in seconds.
    """
    with output_errors(output):
        target = _target(output)
        if target.exists() and not target.is_file():
            raise UsageError("the output is not a file that can be replaced", where=output, next_step="name a file")
        folder = private_folder_path(output)
        with private_folder_at(folder, output, patience=patience):
            yield folder


@contextmanager
def private_folder_at(folder: Path, output: Path, *, patience: float = 0, mode: int = 0o700) -> Iterator[None]:
    """Make a private folder, which is removed at the end, and hold its lock; no link is followed to it.

    What a killed process left there is cleared first. UsageError where another process has it, for longer than
    ``patience`` in seconds.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder.with_name(f"{folder.name}.lock"), lambda: patience))
        except Taken:
            next_step = "wait for it, or name another --output"
            raise UsageError(
                "another process is writing this file or folder", where=output, next_step=next_step
            ) from None
        stack.enter_context(new_folder(folder, mode))
        yield


def clear_private_folder(output: Path) -> None:
    """Remove what a process that was killed left next to a file, unless another process is writing it."""
    with suppress(UsageError, OutputFailed), private_folder(output):
        pass


def private_folder_path(output: Path) -> Path:
    """Return the path of the folder that ``private_folder`` makes; UsageError where the output can't be."""
    with output_errors(output):
        target = target_of(output)
    return target.with_name(f".{target.name}.part")


def move_into_place(part: Path, target: Path) -> None:
    """Rename a complete file to its final path; it takes over the permissions of the file that it replaces."""
    if target.exists():
        shutil.copymode(target, part)
    part.replace(target)


@contextmanager
def atomic_folder(output: Path) -> Iterator[Path]:
    """Yield a private folder whose content is in ``output`` at the end, or nowhere.

    An existing folder must be empty, and stays the folder that it is. What a killed process left is cleared first.
    Raises UsageError where the folder can't be made, OutputFailed where there is no room.
    """
    with output_errors(output, _FOLDER):
        target = target_of(output)
        _check_folder(output, target)
        private = target / _PART_FOLDER if target.is_dir() else target.with_name(f".{target.name}{_PART_FOLDER}")
        with private_folder_at(private, output, mode=0o777):
            yield private
            _move_content(private, target)


@contextmanager
def replaced_folder(output: Path, check_own: Callable[[Path], None]) -> Iterator[Path]:
    """Yield a private folder that is at ``output`` at the end, in place of the one there, or nowhere.

    ``check_own`` raises UsageError for a folder that must stay as it is; it is not asked about an empty one. Where a
    process was killed while it replaced the folder, the one that was there before is put back first. Raises UsageError
    where the folder can't be made, OutputFailed where there is no room.
    """

    def check() -> None:
        if target.is_dir() and any(target.iterdir()):
            check_own(target)

    with output_errors(output, _FOLDER):
        target = target_of(output)
        _check_place(output, target)
        private = target.with_name(f".{target.name}{_PART_FOLDER}")
        before = private.with_name(f"{private.name}.before")
        with private_folder_at(private, output, mode=0o777):
            if before.is_dir() and not target.exists():
                before.rename(target)
            check()
            yield private
            check()
            if target.exists():
                shutil.copymode(target, private)
            with ctrl_c.ignored():
                _exchange(private, target, before)


def _exchange(private: Path, target: Path, before: Path) -> None:
    """Rename a complete folder to its final path; what was there is at ``before`` for that moment, then deleted."""
    delete_folder(before)
    if target.exists():
        target.rename(before)
    try:
        private.rename(target)
    except OSError:
        if before.exists():
            before.rename(target)
        raise
    delete_folder(before)


def _check_place(output: Path, target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise UsageError("the output is a file", where=output, next_step="name a folder")
    if not target.exists() and not target.parent.is_dir():
        raise UsageError("there is no such folder", where=output.parent, next_step="make it, or name another folder")


def _check_folder(output: Path, target: Path) -> None:
    _check_place(output, target)
    if target.is_dir() and any(not path.name.startswith(_PART_FOLDER) for path in target.iterdir()):
        # No option replaces it: that would delete whatever else somebody keeps in the folder.
        raise UsageError(
            "the folder is not empty",
            where=output,
            expected="a new folder, or an empty one",
            next_step="name another --output, or empty it yourself",
        )


def _move_content(private: Path, target: Path) -> None:
    """Rename the private folder; where the target exists, what is in it, and nothing if that fails halfway."""
    if not target.exists():
        private.rename(target)
        return
    moved: list[Path] = []
    try:
        for path in sorted(private.iterdir()):
            moved.append(path.rename(target / path.name))
    except BaseException:
        for path in moved:
            path.rename(private / path.name)
        raise


class OutputMessages(NamedTuple):
    """The words of the error where an output can't be completed."""

    full: str
    next_step: str
    other: str


_FILE = OutputMessages(
    "there is no room for the file; what was there before is unchanged",
    "make room, or name a file on another disk",
    "the file can't be written",
)
_FOLDER = OutputMessages(
    "there is no room for the files; nothing was left behind",
    "make room, or name a folder on another disk",
    "the folder can't be written",
)


@contextmanager
def output_errors(output: Path, messages: OutputMessages = _FILE) -> Iterator[None]:
    """Turn an OSError into why an output can't be written: OutputFailed for a full disk, UsageError otherwise."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            reason = error.strerror or str(error)
            raise OutputFailed(messages.full, where=output, found=reason, next_step=messages.next_step) from error
        # A relative name is one in an open folder that is unknown here.
        refused = Path(error.filename) if isinstance(error.filename, str) else output
        place = refused.parent if refused.is_absolute() and not os.path.isdir(refused) else output  # noqa: PTH112
        raise UsageError(messages.other, where=output, **error_text(error, place)) from error


@contextmanager
def database_errors(output: Path, messages: OutputMessages) -> Iterator[None]:
    """Turn what DuckDB raises where it could not write, or had too little memory, into OutputFailed."""
    try:
        yield
    except duckdb.Error as error:
        kinds = (duckdb.IOException, duckdb.OutOfMemoryException)
        if not isinstance(error, kinds) and "Could not write" not in str(error):
            raise
        found = str(error).strip().splitlines()[0]
        raise OutputFailed(messages.full, where=output, found=found, next_step=messages.next_step) from error


def _target(output: Path) -> Path:
    """Follow links to where a file is to be; UsageError where that can't be."""
    target = target_of(output)
    if target.is_dir():
        raise UsageError("the output is a folder", where=output, next_step="name a file in it: --output FILE")
    if not target.parent.is_dir():
        raise UsageError("there is no such folder", where=output.parent, next_step="make it, or name another --output")
    return target
