"""The corpus that is tried: where it and its cases lie, its warehouses, each built once, and how a check fails."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import duckdb

import talkhouse
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.outcomes import Loaded, LoadedBatch, Outcome, ReaderFinding, Rejected, Unrecognised
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import all_corpora, folder_of, pick, rules_of, sample_of
from talkhouse.ingest.registry.origins import is_declared
from talkhouse.ingest.sources import opened
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import build
from talkhouse.queries.catalogue import BI, Catalogue
from talkhouse.queries.heads import ExampleQuery, ViewQuery
from talkhouse.schema.errors import TalkhouseError
from talkhouse.testing.clauses import Clause, clauses_in
from talkhouse.warehouse.opened import Warehouse


class ContractFailure(TalkhouseError, AssertionError):
    """A corpus does not keep to the contract."""


class CannotCheck(Exception):
    """Something that a check needs is not here; the message says what, and how to get it."""


def require(
    condition: object, what: str, *, where: object = None, expected: object = None, found: object = None
) -> None:
    """Raise ContractFailure unless a condition holds."""
    __tracebackhide__ = True  # pytest shows who asked
    if not condition:
        raise ContractFailure(
            what,
            where=where,
            expected=None if expected is None else str(expected),
            found=None if found is None else str(found),
        )


def require_none(rows: Sequence[tuple[object, ...]], what: str, *, expected: str) -> None:
    """Raise ContractFailure where a query for what must not be there has rows; the first of them are shown."""
    shown = "; ".join(str(row) for row in rows[:_SHOWN_ROWS])
    more = f"; and {len(rows) - _SHOWN_ROWS:,} more" if len(rows) > _SHOWN_ROWS else ""
    require(not rows, what, expected=expected, found=shown + more)


_SHOWN_ROWS = 3
"""Rows that a message shows."""


class PlacedFinding(NamedTuple):
    """A finding: its rule, how severe it is, where (``FILE#POINTER`` inside the corpus's folder), and its detail."""

    rule: str
    severity: str
    place: str
    detail: str

    @property
    def file(self) -> str:
        """The file, inside the corpus's folder."""
        return self.place.partition("#")[0]


class ReadOnce(NamedTuple):
    """What a reader made of a folder."""

    findings: Counter[PlacedFinding]
    loaded: int
    """Records."""


def read_folder(corpus: Corpus, folder: Path) -> ReadOnce:
    """Read a corpus's folder; return its reader's findings, and the number of records loaded."""
    rules = rules_of(corpus)
    findings, loaded = Counter[PlacedFinding](), 0
    with opened(disk_files(folder, corpus.id)) as (files, _):
        for outcome in corpus.read(files):
            loaded += outcome.records if isinstance(outcome, LoadedBatch) else isinstance(outcome, Loaded)
            for finding in _findings(outcome):
                severity = finding.severity or rules[finding.rule].severity
                findings[PlacedFinding(finding.rule, severity, _place(corpus, finding), finding.detail)] += 1
    return ReadOnce(findings, loaded)


def stored_findings(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> Counter[PlacedFinding]:
    """Return a warehouse's findings of its reader and of the checks, in files."""
    query = "select rule, severity, source_file_id, pointer, detail from meta.findings where source_file_id is not null"
    return Counter(
        PlacedFinding(rule, severity, f"{file.removeprefix(f'{corpus.id}/')}#{pointer or ''}", detail)
        for rule, severity, file, pointer, detail in con.execute(query).fetchall()
    )


def _findings(outcome: Outcome) -> Iterator[ReaderFinding]:
    """List the findings of an outcome, each at its place in the file."""
    match outcome:
        case Loaded(location, _, findings, _):
            yield from (location.finding(finding, "") for finding in findings)
        case LoadedBatch():
            yield from outcome.findings
        case Rejected(location, rule, detail, at=at):
            yield ReaderFinding(rule, detail, location.file, location.pointer + at)
        case Unrecognised(file, detail):
            yield ReaderFinding("TH-05", detail, file)
        case ReaderFinding():
            yield outcome


def _place(corpus: Corpus, finding: ReaderFinding) -> str:
    file = finding.file.id.removeprefix(f"{corpus.id}/") if finding.file else ""
    return f"{file}#{finding.pointer or ''}"


_ALL = QuarantineLimit("100%")
"""Broken files are what many checks are about."""


@dataclass
class Subject:
    """A corpus, and what is needed to try it."""

    corpus: Corpus
    cases: Path | None
    """The folder with ``golden/<case>``, ``broken/<rule>`` and ``clauses.py``, or None if there is none."""
    scratch: Path
    """A folder of the checks' own."""
    roots: tuple[Path, ...] = ()
    """Folders of corpora in addition to those of Talkhouse and of installed packages."""
    regen: bool = False
    """Golden files are written again in place of being compared."""
    _opened: list[duckdb.DuckDBPyConnection] = field(default_factory=list)

    @property
    def is_declared(self) -> bool:
        """Whether a page of TOML declares it: its sample is then the folder with that page."""
        return self.corpus.declaration is not None

    @property
    def sample_files(self) -> Path:
        """The folder of the sample."""
        return folder_of(self.corpus) if self.is_declared else sample_of(self.corpus)

    @cached_property
    def sample(self) -> duckdb.DuckDBPyConnection:
        """A warehouse of the sample."""
        return self.another_sample()

    @cached_property
    def clauses(self) -> dict[str, Clause]:
        """The clauses next to the tests, by rule and place in the list."""
        return {f"{clause.rule}.{number}": clause for number, clause in enumerate(clauses_in(self.cases))}

    @cached_property
    def read_findings(self) -> Counter[PlacedFinding]:
        """What the reader finds in the sample."""
        return read_folder(self.corpus, self.sample_files).findings

    @cached_property
    def built_findings(self) -> Counter[PlacedFinding]:
        """What a build finds in the sample."""
        return stored_findings(self.corpus, self.built(self.laid_out(self.sample_files)))

    @property
    def sample_path(self) -> Path:
        """The file of that warehouse."""
        ((path,),) = self.sample.execute("select path from duckdb_databases() where path is not null").fetchall()
        return Path(path)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The SQL of that warehouse."""
        return Warehouse(self.sample).catalogue

    @property
    def views(self) -> tuple[ViewQuery, ...]:
        """The views that the corpus brings."""
        mine = (self.corpus.id, f"{BI}.{self.corpus.id}_")
        return tuple(
            view for view in self.catalogue.views if view.schema == mine[0] or view.full_name.startswith(mine[1])
        )

    @property
    def tasks(self) -> tuple[ExampleQuery, ...]:
        """The tasks that the corpus brings."""
        return tuple(task for task in self.catalogue.examples if task.schema == self.corpus.id)

    def another_sample(self) -> duckdb.DuckDBPyConnection:
        """Build the sample again."""
        return self.built(self._sample_data)

    @cached_property
    def _sample_data(self) -> Path | None:
        return self.laid_out(self.sample_files) if self.is_declared else None

    def built(self, data: Path | None) -> duckdb.DuckDBPyConnection:
        """Build a data folder, or the sample, in a new file and open it; a record in it may be broken."""
        path = self.folder("built") / "w.duckdb"
        roots = () if self.is_declared else self.roots
        build(path, Silent(), data=data, only=(self.corpus.id,), limit=_ALL, corpus_roots=roots)
        self._opened.append(talkhouse.open(path))
        return self._opened[-1]

    def laid_out(self, raw: Path, change: Callable[[Path], object] = lambda _: None) -> Path:
        """Copy raw files into a new data folder, and change the copies; what declares the corpus is there too."""
        data = self.folder("data")
        shutil.copytree(raw, data / self.corpus.id)
        if self.corpus.declaration is not None:
            (data / self.corpus.id / DECLARATION).write_text(self.corpus.declaration, encoding="utf-8", newline="")
        change(data / self.corpus.id)
        return data

    def folder(self, name: str) -> Path:
        """Make a new folder for a check."""
        number = sum(1 for path in self.scratch.glob(f"{name}_*"))
        path = self.scratch / f"{name}_{number}"
        path.mkdir(parents=True)
        return path

    def case_names(self, kind: str) -> list[str]:
        """Return the names of the cases of a kind."""
        root = self.cases / kind if self.cases else None
        return sorted(path.name for path in root.iterdir() if path.is_dir()) if root and root.is_dir() else []

    def case(self, kind: str, name: str) -> Path:
        """Return the folder of a case."""
        return Path(self.cases or "") / kind / name

    def close(self) -> None:
        """Close every warehouse."""
        for con in self._opened:
            con.close()


def subject_of(corpus_id: str, cases: Path | None, scratch: Path, folders: Iterable[Path] = ()) -> Subject:
    """Return a known corpus; one whose folder has the cases is known by that.

    Raises RegistryError where there is none of this id, or where it is broken.
    """
    known_by = [cases.parent] if cases and is_corpus(cases.parent, corpus_id) else []
    roots = tuple(dict.fromkeys(path.absolute() for path in (*folders, *known_by)))
    return Subject(pick(all_corpora(roots), corpus_id), cases, scratch, roots)


def is_corpus(folder: Path, corpus_id: str) -> bool:
    """Whether a folder may be a corpus."""
    return folder.name == corpus_id and ((folder / "__init__.py").is_file() or is_declared(folder))


def folder_of_tests(folder: Path) -> Path | None:
    """Find the folder of tests in a corpus's folder, or next to it as in a package's project."""
    near = (folder / "tests", folder.parent / "tests")
    return next((path for path in near if any((path / name).exists() for name in _OF_TESTS)), None)


_OF_TESTS = ("golden", "broken", "clauses.py")
