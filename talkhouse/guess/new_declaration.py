"""Writes the ``corpus.toml`` of a folder that has none."""

import os
from pathlib import Path

from talkhouse.guess.declare import declaration_text
from talkhouse.guess.folder import Look, look
from talkhouse.ingest.contract.declaration import id_problem
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.registry import all_corpora
from talkhouse.schema.errors import SourceError, UsageError
from talkhouse.schema.refusals import error_text
from talkhouse.system.atomic_output import clear_private_folder, private_folder


def new_declaration(folder: Path) -> Look:
    """Look into a folder, whose name is the corpus's id, and write its declaration.

    Raises UsageError where it is no folder, has a declaration, or has a name that can be no id; SourceError where it
    is not there, empty, or can't be read. Nothing is ever overwritten.
    """
    corpus_id = folder.resolve().name
    target = folder / DECLARATION
    if folder.is_file():
        raise UsageError(
            "this is a file; a corpus is a folder, named by its id",
            where=folder,
            next_step=f"talkhouse inspect {folder}, or put it into a folder of its own",
        )
    if not folder.exists():
        raise SourceError("there is no such folder", where=folder, next_step="check the path, as seen from this folder")
    clear_private_folder(target)  # it would be looked at as one of the files
    if target.exists() or target.is_symlink():
        raise UsageError("it is there already; nothing is overwritten", where=target, next_step="edit it, or remove it")
    _check_id(corpus_id, folder)
    seen = look(folder)
    text = declaration_text(corpus_id, seen)
    try:
        with private_folder(target) as private:
            whole = private / DECLARATION
            whole.write_text(text, encoding="utf-8", newline="\n")
            _put(whole, target)
    except FileExistsError as error:
        raise UsageError("it is there already; nothing is overwritten", where=target) from error
    except OSError as error:
        another = "copy the files to a folder of that name, in which you may write"
        raise UsageError("it can't be written", where=target, **error_text(error, folder, another=another)) from error
    return seen


def _put(whole: Path, target: Path) -> None:
    """Link a whole file to its final name; a rename would replace what came meanwhile."""
    try:
        os.link(whole, target)
    except FileExistsError:
        raise
    except OSError:  # the disk has no hard links
        whole.rename(target)


def _check_id(corpus_id: str, folder: Path) -> None:
    """Raise UsageError where the folder's name is no id, or that of a corpus that has a reader of its own."""
    problem = id_problem(corpus_id)
    if problem:
        raise UsageError(
            f"the folder's name is the corpus's id, and {corpus_id!r} can be none",
            where=folder,
            expected=problem,
            next_step="rename the folder",
        )
    registry = all_corpora()
    if corpus_id in registry:
        raise UsageError(
            f"there is a corpus '{corpus_id}' already, which has a reader of its own",
            where=folder,
            found=" and ".join(origin.place for origin in registry.origins[corpus_id]),
            next_step="rename the folder, if this is another corpus",
        )
