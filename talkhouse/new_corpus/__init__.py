"""A corpus to begin with: whole ones of invented data, written under another name.

It is a folder or a package with a reader, a writer, a task, a chart, a sample, and tests that pass. Those to begin with
lie in ``templates/``; the tutorial shows them as they are.
"""

from enum import StrEnum
from pathlib import Path
from shutil import copytree, ignore_patterns
from string import Template

from talkhouse.schema.errors import UsageError
from talkhouse.system.files import temporary_folder

ROOT = Path(__file__).with_name("templates")

_CACHES = ("__pycache__",)
CACHES = ignore_patterns(*_CACHES)
"""What Python leaves behind."""


class Like(StrEnum):
    """What the publisher's files are like."""

    JSON_LIST = "json-list"
    CSV_ROWS = "csv-rows"
    FILE_PER_DIALOGUE = "file-per-dialogue"

    @property
    def folder(self) -> Path:
        """The folder of its corpus, whose name is the corpus's id."""
        (folder,) = (path for path in (ROOT / self).iterdir() if path.is_dir())
        return folder

    @property
    def name_of_corpus(self) -> str:
        """The title of its corpus."""
        return (self.folder / "README.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def new_corpus(corpus_id: str, like: Like, parent: Path, *, is_package: bool = False) -> Path:
    """Write a corpus into a new folder of ``parent``, and return that: ``ID``, or ``talkhouse-ID`` of a package.

    Raises UsageError for an id that can't be one, that another corpus has, or whose folder is there already.
    """
    # Here, for a help page lists those to begin with, and needs none of it.
    from talkhouse.ingest.registry import all_corpora
    from talkhouse.system.atomic_output import atomic_folder

    check_id(corpus_id)
    target = parent / (f"talkhouse-{corpus_id.replace('_', '-')}" if is_package else corpus_id)
    if target.exists():
        raise UsageError(
            "it is there already; nothing is overwritten", where=target, next_step="choose another id or folder"
        )
    if corpus_id in all_corpora():
        raise UsageError(f"there is a corpus '{corpus_id}' already", next_step="choose another id")
    with temporary_folder() as scratch:
        copied = scratch / corpus_id
        copy(like, corpus_id, copied)
        _write_golden(corpus_id, copied, scratch)
        with atomic_folder(target) as folder:
            if is_package:
                as_package(copied, corpus_id, folder)
            else:
                copytree(copied, folder, ignore=CACHES, dirs_exist_ok=True)
    return target


def _write_golden(corpus_id: str, folder: Path, scratch: Path) -> None:
    """Write the rows that its golden cases become, which depend on this version's tables."""
    from talkhouse.testing.sample import a_golden_case_gives_its_rows
    from talkhouse.testing.subject import subject_of

    subject = subject_of(corpus_id, folder / "tests", scratch / "golden")
    subject.regen = True
    for case in subject.case_names("golden"):
        a_golden_case_gives_its_rows(subject, case)
    subject.close()


def check_id(corpus_id: str) -> None:
    """Raise UsageError for what can be no id of a corpus."""
    from talkhouse.ingest.contract.definition import id_problem

    problem = id_problem(corpus_id)
    if problem:
        raise UsageError(f"{corpus_id!r} can't be the id of a corpus", expected=problem)


def copy(like: Like, corpus_id: str, folder: Path) -> None:
    """Write a corpus's files into a folder, with another id and title, also in their names."""
    source = like.folder
    for path in sorted(source.rglob("*")):
        if path.is_file() and not {*_CACHES} & {*path.parts}:
            target = folder / renamed(like, corpus_id, path.relative_to(source).as_posix())
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(renamed(like, corpus_id, path.read_bytes().decode()).encode())


def renamed(like: Like, corpus_id: str, text: str) -> str:
    """Put an id and what is made of it in the place of those that a template has."""
    old = like.folder.name
    text = text.replace(old, corpus_id).replace(like.name_of_corpus, corpus_id.replace("_", " ").title())
    return text.replace(old.upper(), corpus_id.replace("_", "").upper())


def as_package(folder: Path, corpus_id: str, project: Path) -> None:
    """Write a corpus as the project of a package, its tests next to the module."""
    name, module = f"talkhouse-{corpus_id.replace('_', '-')}", f"talkhouse_{corpus_id}"
    copytree(folder, project / module, ignore=ignore_patterns(*_CACHES, "tests"))
    copytree(folder / "tests", project / "tests", ignore=CACHES)
    template = Path(__file__).with_name("pyproject.template").read_text(encoding="utf-8")
    text = Template(template).substitute(name=name, module=module, corpus_id=corpus_id)
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
