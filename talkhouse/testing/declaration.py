"""What a corpus declares, what its views are, and what its reader keeps away from: networks, and the database."""

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from talkhouse.ingest.files.disk_files import disk_files
from talkhouse.ingest.registry import folder_of
from talkhouse.ingest.sources import opened
from talkhouse.queries.heads import ExampleQuery, ViewQuery
from talkhouse.schema.errors import closest
from talkhouse.schema.guard import guard
from talkhouse.schema.sql import column_types, identifier, literal
from talkhouse.testing.subject import CannotCheck, Subject, require, require_none
from talkhouse.translation.translate import left_out

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
    """The README next to the sample has the headings that all have."""
    if subject.is_declared:
        raise CannotCheck("a page of TOML declares the corpus: the README next to it is free")
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
        require(False, f"no broken file of {rule}", expected=f"a folder broken/{rule}/raw next to the tests")
    for name in sorted(folders - own - set(corpus.common_rules)):
        require(False, f"broken/{name} is about no rule of the corpus", expected=", ".join(sorted(own)), found=name)


def every_rule_has_its_clauses(subject: Subject) -> None:
    """Where there are clauses, there is one for each rule that the corpus can break, and for no other."""
    known = {*subject.corpus.common_rules, *(rule.id for rule in subject.corpus.rules)}
    named = {clause.rule for clause in subject.clauses.values()}
    if not subject.clauses:
        raise CannotCheck("there is no clauses.py next to the tests")
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
    """Return the packages that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


COMMON_COLUMNS = ["split", "standard_split", "example_index", "dialogue_id", "native_id"]
"""With these begins every view of a task."""


def the_grain_is_unique(subject: Subject) -> None:
    """No two rows of a view, or of a task's examples, have the grain that the head names."""
    queries: list[ViewQuery | ExampleQuery] = [*_own(subject), *subject.tasks]
    for query in queries:
        grain = ", ".join(map(identifier, query.grain))
        doubled = f"select {grain}, count(*) from ({query.sql}) group by all having count(*) > 1 order by all"
        rows = subject.sample.execute(doubled).fetchall()
        require_none(rows, f"rows of {query.path} with one grain", expected=f"one row of each {grain}")


def views_work_under_attach(subject: Subject) -> None:
    """A view has the same rows where the warehouse is attached under another name."""
    path = subject.sample_path
    with duckdb.connect() as con:
        con.execute(f"attach {literal(str(path))} as another_name (read_only)")
        guard(con)
        for view in _own(subject):
            there = con.execute(f"select count(*) from another_name.{view.name_in_sql}").fetchall()
            here = subject.sample.execute(f"select count(*) from {view.name_in_sql}").fetchall()
            require(there == here, f"{view.full_name} has other rows under ATTACH", expected=here, found=there)


def views_say_what_they_are(subject: Subject) -> None:
    """Every view has its comment, every column a meaning, and the head explains no column that is not there."""
    for view in _own(subject):
        where = [view.schema, view.name]
        query = "select comment from duckdb_views() where schema_name = ? and view_name = ?"
        ((comment,),) = subject.sample.execute(query, where).fetchall()
        require(comment == view.comment, f"another comment of {view.full_name}", expected=view.comment, found=comment)
        query = "select column_name, comment from duckdb_columns() where schema_name = ? and table_name = ?"
        columns = dict(subject.sample.execute(query, where).fetchall())
        bare = [(name,) for name, meaning in columns.items() if not meaning]
        expected = f"'--   name: meaning' in {view.path}"
        require_none(bare, f"columns of {view.full_name} without a meaning", expected=expected)
        others = [(name,) for name in view.columns if name not in columns]
        expected = f"one of {', '.join(columns)}"
        require_none(others, f"meanings of columns that {view.full_name} does not have", expected=expected)


def tasks_have_the_columns_of_all(subject: Subject) -> None:
    """The view of a task begins with the same five columns, and its examples are numbered without a gap."""
    if not subject.tasks:
        raise CannotCheck("the corpus has no task")
    for task in subject.tasks:
        columns = [*column_types(subject.sample, task.name_in_sql)]
        begin = columns[: len(COMMON_COLUMNS)]
        require(begin == COMMON_COLUMNS, f"other columns of {task.full_name}", expected=COMMON_COLUMNS, found=begin)
        gaps = subject.sample.execute(
            "select release, split, count(*) from main.examples where corpus_id = ? and task = ? "
            "group by all having min(example_index) <> 0 or max(example_index) <> count(*) - 1 order by all",
            [task.schema, task.name],
        )
        require_none(gaps.fetchall(), f"gaps in the examples of {task.full_name}", expected="0, 1, 2 ...")


def views_bind_in_the_oldest_duckdb(subject: Subject) -> None:
    """Every view works in the oldest DuckDB that is supported, where the warehouse is attached."""
    problems = problems_in(OLDEST, subject.sample_path, [view.name_in_sql for view in _own(subject)])
    require_none([*problems.items()], f"views fail in DuckDB {OLDEST}", expected="rows")


def views_translate_to_spark(subject: Subject) -> None:
    """Every view can be had in a lake; one that can't is no mistake, and is named."""
    own = {view.full_name for view in _own(subject)}
    lost = [view for view in left_out(subject.sample, subject.catalogue) if view.full_name in own]
    if lost:
        raise CannotCheck("; ".join(f"a lake leaves out {view.full_name}: {view.reason}" for view in lost))


def _own(subject: Subject) -> tuple[ViewQuery, ...]:
    if not subject.views:
        raise CannotCheck("the corpus has no view")
    return subject.views


OLDEST = "1.4.4"
"""The oldest version whose views work under ATTACH without USE (``docs/clients.md``)."""

_PROGRAM = """
import json, sys
from duckdb import connect
path, *views = json.load(sys.stdin)
con = connect()
con.execute("attach '" + path.replace("'", "''") + "' as w (read_only)")
problems = {}
for view in views:
    try:
        con.execute("from w." + view).fetchall()
    except Exception as error:
        problems[view] = f"{type(error).__name__}: {error}"
print(json.dumps(problems))
"""

_PYTHON = ">=3.11,<3.14"
"""For these it has wheels."""


def problems_in(version: str, warehouse: Path, views: Sequence[str]) -> dict[str, str]:
    """Query views in a version of DuckDB; return the errors, by view.

    Raises CannotCheck where uv, or this version in its cache, is missing: nothing is downloaded.
    """
    uv = shutil.which("uv")
    if uv is None:
        raise CannotCheck(f"DuckDB {version} runs by uv, which is not installed")
    wanted = ["--isolated", "--no-project", "--python", _PYTHON, "--with", f"duckdb=={version}", "--with", "pytz"]
    done = subprocess.run(  # noqa: S603 - our own words
        [uv, "run", "--offline", "--quiet", *wanted, "python", "-c", _PROGRAM],
        input=json.dumps([str(warehouse), *views]),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        command = f"uv run --no-project --python '{_PYTHON}' --with duckdb=={version} --with pytz python -c ''"
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CannotCheck(f"DuckDB {version} is not installed ({last}); to install it: {command}")
    problems: dict[str, str] = json.loads(done.stdout)
    return problems
