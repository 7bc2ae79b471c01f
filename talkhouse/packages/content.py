"""What a package is: its configurations, files, corpora and terms, and how a program's is planned and written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from talkhouse.export.composition import Composition
from talkhouse.export.pseudonyms import AboutPseudonyms, Pseudonyms, about
from talkhouse.export.row_stream import OnRows
from talkhouse.export.selection import Filters, Selection
from talkhouse.export.terms import LicencePart
from talkhouse.notes.notes_file import NoteNow
from talkhouse.packages.known_facts import CorpusFacts, known_facts
from talkhouse.system.files import sha256_of
from talkhouse.warehouse.opened import Warehouse


@dataclass(frozen=True)
class ClassLabel:
    """One of the values of a column whose values are of a closed set; its place in the list is its number."""

    label: str
    meaning: str | None = None


@dataclass(frozen=True)
class Classes:
    """A column whose values, or the items of whose lists, are of a closed set."""

    column: str
    is_list: bool
    labels: tuple[ClassLabel, ...]
    """In the declared order; then, by name, those that occur and that no declaration has."""
    scheme: str | None = None
    """What declares them."""


@dataclass(frozen=True)
class SplitRows:
    """The rows of one published split in a view."""

    published: str | None
    """As the publisher names it; None: the view has no column ``split``, or the rows no split."""
    name: str
    """As files and loaders name it: ``published`` with ``_`` for each run of what is no letter, digit, _ or dot."""
    standard: str | None
    """``train``, ``validation``, ``test`` or None."""
    rows: int


def has_splits(selection: Selection) -> bool:
    """Whether the rows name their split, and that is among the selected columns."""
    return any(column["name"] == "split" and column["type"] == "VARCHAR" for column in selection.columns)


@dataclass(frozen=True)
class Config:
    """A view or table of the package: what Hugging Face calls a configuration, and Croissant a record set."""

    name: str
    """The view's name, with ``_`` for what is no letter, digit, _ or dot."""
    selection: Selection
    """The rows, all splits together, in published order; its columns have name, type and meaning."""
    comment: str
    """What a row is, in a sentence."""
    splits: tuple[SplitRows, ...]
    """In the order train, validation, test, others by name; none of them is empty."""
    classes: tuple[Classes, ...] = ()
    composition: Composition = field(default_factory=list)
    """How many rows there are of each publisher's release, split, subset and language."""
    warnings: tuple[str, ...] = ()
    """What a reader may not expect of the rows, such as turns that are among them more than once."""
    task_category: str | None = None
    """What kind of task it is, as the Hugging Face Hub calls it."""

    @property
    def rows(self) -> int:
        """The rows of all splits."""
        return sum(split.rows for split in self.splits)


@dataclass(frozen=True)
class ExportPackage:
    """What is asked to be written as a package."""

    warehouse: Warehouse
    name: str
    """As the user named it: a corpus, a view or a table."""
    configs: tuple[Config, ...]
    corpora: list[dict[str, Any]]
    """The corpora whose rows are in it, as ``Warehouse.corpora`` has them."""
    parts: tuple[LicencePart, ...]
    """The terms that apply to what is in it."""
    pseudonyms: str | None = None
    """The fingerprint of the key by which ids of people are replaced, or None if they are as published."""
    notes: tuple[str, ...] = ()
    """What else is to be known of it, in sentences."""
    left_out: tuple[str, ...] = ()
    """The task views of a corpus that are not in it, as none of their rows are wanted or there are none."""

    @cached_property
    def facts(self) -> list[CorpusFacts]:
        """What the warehouse knows of the corpora, in the order of their ids; agreement only of what is in it."""
        schemes = {each.scheme for config in self.configs for each in config.classes if each.scheme}
        return known_facts(self.warehouse, [corpus["corpus_id"] for corpus in self.corpora], schemes)

    @property
    def about_pseudonyms(self) -> AboutPseudonyms | None:
        """The text on the pseudonyms in it, and on what still leads to people, or None if there are none."""
        return about(self.pseudonyms, (corpus["corpus_id"] for corpus in self.corpora)) if self.pseudonyms else None

    @property
    def rows(self) -> int:
        """The rows of all configurations."""
        return sum(config.rows for config in self.configs)


@dataclass(frozen=True)
class PackageFile:
    """A file of rows that was written."""

    config: str
    split: SplitRows
    path: Path
    """Inside the package's folder."""
    rows: int
    bytes: int
    sha256: str
    raw_bytes: int
    """What its rows take in memory, as Arrow counts them."""

    @property
    def described(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {
            "path": self.path.as_posix(),
            "config": self.config,
            "split": self.split.published,
            "rows": self.rows,
            "bytes": self.bytes,
            "sha256": self.sha256,
        }


@dataclass(frozen=True)
class PackageLayout:
    """The layout of the packages of one program."""

    plan: Callable[[Warehouse, str, Filters, Pseudonyms | None], ExportPackage]
    """Plan what a name stands for, filtered; UsageError for what can't be in such a package."""
    write: Callable[[ExportPackage, Path, OnRows], list[dict[str, Any]]]
    """Write the data, and what this program alone has, into a folder; return the manifest's entry of each data file.

    It is called again, with the same folder, where the memory was not enough.
    """
    with_notes: Callable[[ExportPackage, Sequence[NoteNow]], ExportPackage] | None = None
    """Return a package with notes of the user's that fit; None for a program that has no place for them."""


def described_file(path: Path, rows: int | None) -> dict[str, Any]:
    """Return the manifest's entry of a data file in the package's folder itself."""
    return {"path": path.name, "rows": rows, "bytes": path.stat().st_size, "sha256": sha256_of(path)}


def counted(number: int, what: str) -> str:
    """Return a number with what is counted: ``1 row``, ``2,000 rows``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
