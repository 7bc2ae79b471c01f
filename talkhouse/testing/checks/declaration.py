"""What a corpus declares, and what its reader keeps away from: networks, and the database."""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.registry import folder_of
from talkhouse.ingest.sources import opened
from talkhouse.schema.errors import closest
from talkhouse.testing.failure import CannotCheck, require
from talkhouse.testing.subject import Subject

HEADINGS = ("What it is", "Source and licence", "Citation", "How raw becomes rows", "Quirks", "Left out")
"""Of a corpus's README, in this order."""


def it_is_declared_with_its_licence(subject: Subject) -> None:
    """The warehouse says under which licence the corpus is, and what to cite."""
    corpus = subject.corpus
    query = "select licence, citation, is_sample from main.corpora where corpus_id = ?"
    rows = subject.sample.execute(query, [corpus.id]).fetchall()
    require(
        rows == [(corpus.licence, corpus.citation, not subject.is_declared)],
        "the warehouse says something else",
        expected=f"{corpus.licence}; {corpus.citation}",
        found=rows,
    )
    for name in ("licence", "citation"):
        require(getattr(corpus, name), f"the declaration has no {name}", expected=f"{name}='...' in Corpus(...)")


def its_terms_are_of_columns_that_there_are(subject: Subject) -> None:
    """Each column that ``licence_terms`` names is one of the warehouse: of another, nobody would be told its terms."""
    columns = "select schema_name || '.' || table_name || '.' || column_name from duckdb_columns() where not internal"
    known = {name for (name,) in subject.sample.execute(columns).fetchall()}
    for terms in subject.corpus.licence_terms:
        for name in terms.columns:
            of_view = ".".join(name.split(".")[:3])  # behind it may stand a member of a JSON column
            near = ", ".join(closest(of_view, known))
            require(of_view in known, f"the part '{terms.part}' names a column {name}", expected=f"one of: {near}")


def its_readme_has_the_headings(subject: Subject) -> None:
    """The README beside the sample has the headings that all have."""
    if subject.is_declared:
        raise CannotCheck("a page of TOML declares the corpus: a README beside it may say anything")
    path = folder_of(subject.corpus) / "README.md"
    if not path.is_file():
        raise CannotCheck(f"there is no {path}")
    found = tuple(line[3:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("## "))
    require(found == HEADINGS, "other headings", where=path, expected=", ".join(HEADINGS), found=", ".join(found))


def every_rule_has_its_broken_file(subject: Subject) -> None:
    """There is ``broken/<rule>`` for each rule that the corpus declares; common rules may have one too."""
    corpus, folders = subject.corpus, set(subject.case_names("broken"))
    if subject.cases is None:
        raise CannotCheck("there is no folder of tests here; in a command, --tests names it")
    own = {rule.id for rule in corpus.rules}
    for rule in sorted(own - folders):
        require(False, f"no broken file of {rule}", expected=f"a folder broken/{rule}/raw beside the tests")
    for name in sorted(folders - own - set(corpus.common_rules)):
        require(False, f"broken/{name} is about no rule of the corpus", expected=", ".join(sorted(own)), found=name)


def every_rule_has_its_clauses(subject: Subject) -> None:
    """Where there are clauses, there is one for each rule that the corpus can break, and for no other."""
    known = {*subject.corpus.common_rules, *(rule.id for rule in subject.corpus.rules)}
    named = {clause.rule for clause in subject.clauses.values()}
    if not subject.clauses:
        raise CannotCheck("there is no clauses.py beside the tests")
    expected, found = ", ".join(sorted(known)), ", ".join(sorted(named))
    require(named == known, "the clauses are about other rules", expected=expected, found=found)


DATABASES = {"duckdb", "sqlalchemy"}

_NETWORK = ("socket.__new__", "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto")
_met: list[str] | None = None
"""What was asked of the network, while anybody wants to know."""
_hooked: list[bool] = []


def the_reader_opens_no_socket(subject: Subject) -> None:
    """The sample is read without asking anything of the network."""
    with _network_calls() as met, opened(disk_files(subject.sample_files, subject.corpus.id)) as (files, _):
        for _outcome in subject.corpus.read(files):
            pass
    require(
        not met, "the reader uses the network", expected="nothing but the files", found=", ".join(dict.fromkeys(met))
    )


@contextmanager
def _network_calls() -> Iterator[list[str]]:
    """Collect what this process asks of the network; an audit hook stays for ever, and so is made once."""
    global _met
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_heard)
    met: list[str] = []
    _met = met
    try:
        yield met
    finally:
        _met = None


def _heard(event: str, _: tuple[Any, ...]) -> None:
    if _met is not None and event in _NETWORK:
        _met.append(event)


def the_reader_imports_no_database(subject: Subject) -> None:
    """No module of the corpus imports DuckDB: a reader yields rows, a writer gets them."""
    folder = folder_of(subject.corpus)
    apart = {folder / "sample", folder / "tests"}
    for path in sorted(folder.rglob("*.py")):
        if not apart & set(path.parents):
            for name in sorted(_imported(path) & DATABASES):
                require(False, f"it imports {name}", where=path, expected="rows in and out; no database")


def _imported(path: Path) -> set[str]:
    """Name the packages that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}
