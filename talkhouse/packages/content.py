"""What a package is: its configurations, files, corpora and terms, and how a program's is planned and written."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from talkhouse.export.composition import Composition
from talkhouse.export.pseudonyms import AboutPseudonyms, Pseudonyms, about
from talkhouse.export.row_stream import OnRows
from talkhouse.export.selection import Filters, Selection
from talkhouse.export.terms import LicencePart
from talkhouse.notes.notes_file import NoteNow
from talkhouse.schema.sql import dicts, literal, quoted
from talkhouse.schema.sql_files import sql_of
from talkhouse.system.files import sha256_of
from talkhouse.warehouse.build_facts import datasheets
from talkhouse.warehouse.opened import Warehouse

_PLACES = 6
"""Sums of floats differ in the last places from one run to the next."""


@dataclass(frozen=True)
class Agreement:
    """How far the annotators of a scheme agree in a publisher's release; units with one annotator do not count."""

    release: str | None
    units: int
    mean_majority_share: float
    """Mean share of a unit's annotators who gave its commonest label, 0 to 1."""
    krippendorff_alpha: float | None
    """For nominal data, or None if a single label occurs."""
    fleiss_kappa: float | None
    """None also where units differ in their number of annotators."""


@dataclass(frozen=True)
class SchemeFacts:
    """A scheme that occurs: what is labelled, and by how many."""

    scheme: str
    description: str
    target: str
    """turn, dialogue, record or persona: what a unit is."""
    units: int
    fewest_annotators: int
    median_annotators: int
    """Of a unit; of two in the middle, the lower."""
    most_annotators: int
    agreement: tuple[Agreement, ...]
    """By publisher's release; empty where annotators cannot be compared."""


@dataclass(frozen=True)
class CorpusFacts:
    """What the tables of a warehouse say of a corpus."""

    corpus_id: str
    title: str
    description: str
    homepage: str
    languages: tuple[str, ...]
    is_sample: bool
    dialogue_count: int
    record_count: int
    turn_count: int
    speaker_count: int
    label_count: int
    quarantined_count: int
    """Records that the files have and that could not be read."""
    timed_turn_count: int
    """Turns with a known time."""
    first_said_at: datetime | None
    last_said_at: datetime | None
    findings: tuple[tuple[str, str, int], ...]
    """Rule, severity and number of what the build has found in its files."""
    schemes: tuple[SchemeFacts, ...]
    datasheet: Mapping[str, Any]
    """What its publisher says of it, by the keys of ``datasheets.QUESTIONS``; empty for a sample, which is not it."""


def known_facts(
    warehouse: Warehouse, corpus_ids: Iterable[str], compared: Collection[str] | None = None
) -> list[CorpusFacts]:
    """Return the facts that a warehouse has on these corpora, in the order of their ids.

    ``compared``: the schemes whose agreement is wanted, which takes longest; None: all.
    """
    ids = sorted(corpus_ids)
    times = {row.pop("corpus_id"): row for row in _rows(warehouse, "facts_times", ids)}
    findings = defaultdict[str, list[tuple[str, str, int]]](list)
    for row in _rows(warehouse, "facts_findings", ids):
        findings[row["corpus_id"]].append((row["rule"], row["severity"], row["findings"]))
    schemes = _schemes(warehouse, ids, compared)
    sheets = datasheets(warehouse.con, warehouse.database)
    no_times = {"timed_turn_count": 0, "first_said_at": None, "last_said_at": None}
    return [
        CorpusFacts(
            **{**row, "languages": tuple(row["languages"].split())},
            **times.get(row["corpus_id"], no_times),
            findings=tuple(findings[row["corpus_id"]]),
            schemes=tuple(schemes[row["corpus_id"]]),
            datasheet={} if row["is_sample"] else sheets.get(row["corpus_id"], {}),
        )
        for row in _rows(warehouse, "facts_corpora", ids)
    ]


def _schemes(
    warehouse: Warehouse, ids: list[str], compared: Collection[str] | None
) -> defaultdict[str, list[SchemeFacts]]:
    names = [row["scheme"] for row in _rows(warehouse, "facts_names", ids)]
    schemes = defaultdict[str, list[SchemeFacts]](list)
    # Names written out: DuckDB then reads the labels of these schemes alone, which takes a third of the time.
    listed = ", ".join(map(literal, names)) or "null"
    for row in dicts(warehouse.con.execute(_written(warehouse, "facts_schemes", schemes=listed))):
        corpus_id, scheme = row.pop("corpus_id"), row["scheme"]
        is_compared = row["most_annotators"] > 1 and (compared is None or scheme in compared)
        schemes[corpus_id].append(SchemeFacts(**row, agreement=_agreement(warehouse, scheme) if is_compared else ()))
    return schemes


def _agreement(warehouse: Warehouse, scheme: str) -> tuple[Agreement, ...]:
    query = _written(warehouse, "facts_agreement", scheme=literal(scheme))
    return tuple(Agreement(**row) for row in dicts(warehouse.con.execute(query)))


def _rows(warehouse: Warehouse, name: str, ids: list[str]) -> list[dict[str, Any]]:
    return dicts(warehouse.con.execute(_written(warehouse, name), {"ids": ids}))


def _written(warehouse: Warehouse, name: str, **fragments: str) -> str:
    return sql_of(__file__, name, db=quoted(warehouse.database), places=_PLACES, **fragments)


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
