"""What is wrong with a corpus's own code, as an error: the data file and the place in it, the code's file and line."""

from errno import EDQUOT, EFBIG, EIO, EMFILE, ENFILE, ENOMEM, ENOSPC
from functools import partial
from pathlib import Path
from traceback import walk_tb
from typing import Any, Literal

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.input_files import InputFile
from talkhouse.ingest.outcomes import SourceLocation
from talkhouse.ingest.registry import folder_of
from talkhouse.ingest.sources import SourceFile
from talkhouse.schema.errors import CorpusFailed, code_line, described

_MACHINE = {EDQUOT, EFBIG, EIO, EMFILE, ENFILE, ENOMEM, ENOSPC}
"""Errors of the system for which no code is to blame: a full disk, too many open files."""


class ContractBroken(Exception):
    """A reader or writer did what it may not; ``where`` is the record or file, if it is another than the last one."""

    def __init__(self, what: str, *, expected: str, found: str, where: str | None = None) -> None:
        self.what, self.expected, self.found, self.where = what, expected, found, where
        super().__init__(f"{what}: expected {expected}, found {found}")


def is_machines(error: Exception) -> bool:
    """Whether an exception is about the machine, and not a mistake in the code that met it."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _MACHINE)


def place_of(location: SourceLocation) -> str:
    """Write where a record stands: ``FILE#POINTER``; of one that is a whole file, the file."""
    return f"{location.file.id}#{location.pointer}" if location.pointer else location.file.id


def failed(
    corpus: Corpus,
    error: Exception,
    part: Literal["read", "write"],
    *,
    where: str | None,
    last: str | None,
    file: str | None = None,
) -> CorpusFailed:
    """Return the error of a corpus's reader or writer that raised an exception or broke the contract.

    ``where``: the record that it had in hand, as far as known; ``last``: the one before that; ``file``: the only file
    that can't be written.
    """
    name = {"read": "reader", "write": "writer"}[part]
    head = f"the {name} of '{corpus.id}'"
    if isinstance(error, ContractBroken):
        what, expected, found, code = f"{head} {error.what}", error.expected, error.found, None
        if error.where is not None:
            where, last = error.where, None
    else:
        code = code_line(error, folder_of(corpus))
        expected = {
            "read": "every record loaded, or rejected with a rule (BadRecord)",
            "write": "every record written as its file had it",
        }[part]
        what, found = f"{head} raised an exception", described(error) + (f", {code}" if code else "")
    if last and last != where:
        found += f"; the last record before it: {last}"
    failure = CorpusFailed(
        f"{what}; {'this file is not written' if file else _DONE[part]}",
        where=where,
        expected=expected,
        found=found,
        next_step=_NEXT[part].format(name=name, code=_code(corpus, part, is_named=bool(code))),
    )
    failure.source_file_id = file
    return failure


_DONE = {"read": "nothing of it was published", "write": "nothing was written"}
_NEXT = {
    "read": "fix the {name}{code}, or report this message if it came with Talkhouse",
    "write": "if somebody has changed the warehouse, build it again from the publisher's files; else fix the "
    "{name}{code}, or report this message if it came with Talkhouse",
}


def place_in_hand(error: Exception) -> str | None:
    """Find the record, or else the file, that the code had in hand which raised an exception: by its variables."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)][1:]
    for variables in reversed([frame.f_locals.values() for frame in frames]):
        held = [value.location if isinstance(value, InputFile) else value for value in variables]
        locations = [value for value in held if isinstance(value, SourceLocation)]
        if locations:
            return place_of(max(locations, key=lambda location: len(location.pointer)))
        files = [value for value in held if isinstance(value, SourceFile)]
        if files:
            return files[-1].id
    return None


def _code(corpus: Corpus, part: str, *, is_named: bool) -> str:
    """Return the code's place, unless already stated, or Talkhouse's own since TOML declares the corpus."""
    if is_named or corpus.declaration is not None:
        return ""
    return f" ({_defined(corpus, getattr(corpus, part))})"


def _defined(corpus: Corpus, function: Any) -> str:
    """Name the file and line in which a function of a corpus is defined; its folder where that is somewhere else."""
    while isinstance(function, partial):
        function = function.func
    code, folder = getattr(function, "__code__", None), folder_of(corpus)
    if code is None or not Path(code.co_filename).is_relative_to(folder):
        return str(folder)
    return f"{code.co_filename}, line {code.co_firstlineno}"
