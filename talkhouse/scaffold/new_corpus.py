"""Begins a corpus: a folder or a package with a reader, a writer, a task, a chart, a sample, and tests that pass."""

from pathlib import Path
from shutil import copytree

from talkhouse.ingest.registry import all_corpora
from talkhouse.scaffold.templates import CACHES, Like, as_package, check_id, copy
from talkhouse.schema.errors import UsageError
from talkhouse.system.atomic_output import atomic_folder
from talkhouse.system.folders import temporary_folder
from talkhouse.testing.sample import a_golden_case_gives_its_rows
from talkhouse.testing.subject import subject_of


def new_corpus(corpus_id: str, like: Like, parent: Path, *, is_package: bool = False) -> Path:
    """Write a corpus into a new folder of ``parent``, and return that: ``ID``, or ``talkhouse-ID`` of a package.

    Raises UsageError for an id that can't be one, that another corpus has, or whose folder is there already.
    """
    check_id(corpus_id)
    target = parent / (f"talkhouse-{corpus_id.replace('_', '-')}" if is_package else corpus_id)
    if target.exists():
        raise UsageError(
            "it is there already; nothing is overwritten", where=target, next_step="choose another id or folder"
        )
    if corpus_id in all_corpora():
        raise UsageError(f"there is a corpus '{corpus_id}' already", next_step="choose another id")
    with temporary_folder() as scratch:
        made = scratch / corpus_id
        copy(like, corpus_id, made)
        _write_golden(corpus_id, made, scratch)
        with atomic_folder(target) as folder:
            if is_package:
                as_package(made, corpus_id, folder)
            else:
                copytree(made, folder, ignore=CACHES, dirs_exist_ok=True)
    return target


def _write_golden(corpus_id: str, folder: Path, scratch: Path) -> None:
    """Write the rows that its golden cases become, which depend on this version's tables."""
    subject = subject_of(corpus_id, folder / "tests", scratch / "golden")
    subject.regen = True
    for case in subject.case_names("golden"):
        a_golden_case_gives_its_rows(subject, case)
    subject.close()
