"""Two invented corpora, taken from the page that teaches how to add one: their folders are all that they need."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

import talkhouse
from talkhouse.build.progress import Silent
from talkhouse.build.quarantine_limit import QuarantineLimit
from talkhouse.build.run import Result, build
from talkhouse.explore.search import search
from talkhouse.explore.show import show
from talkhouse.explore.status import status
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.registry import DEFAULT_ROOT as CORPORA
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.queries.catalogue import DEFAULT_ROOT as QUERIES
from talkhouse.queries.catalogue import Catalogue, catalogue
from talkhouse.query.export import export
from talkhouse.restore.raw_record import raw
from talkhouse.restore.write_back import write_back
from talkhouse.schema.errors import RegistryError
from talkhouse.schema.tables import metadata
from talkhouse.warehouse.opened import Warehouse
from tests.commands import COMMAND
from tests.corpora import contract
from tests.corpora.clauses import Clause, read_findings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sixth-corpus.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```\w+ (\S+/\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
IDS = ("teatime", "bookclub")


def laid_out(root: Path, *ids: str) -> Path:
    """Lay the page's files of some corpora out, and their samples as a data folder."""
    for name, text in FILES.items():
        if set(ids) & set(Path(name).parts):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for corpus_id in ids:
        shutil.copytree(root / "ingest" / "corpora" / corpus_id / "sample", root / "data" / corpus_id)
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tea Time's files, laid out outside of the project."""
    return laid_out(tmp_path, "teatime")


def made(folder: Path, **options: Any) -> Result:
    roots = {"corpus_roots": (folder / "ingest" / "corpora",), "query_roots": (folder / "queries",)}
    return build(folder / "w.duckdb", Silent(), data=folder / "data", **roots, **options)


class Invented(NamedTuple):
    """Both corpora, in a warehouse of their own."""

    folder: Path
    corpora: dict[str, Corpus]
    catalogue: Catalogue
    con: duckdb.DuckDBPyConnection

    @property
    def views(self) -> Catalogue:
        """What the two bring, without what Talkhouse has."""
        theirs = {query.path for query in catalogue().views}
        mine = tuple(view for view in self.catalogue.views if view.path not in theirs)
        return Catalogue((), mine, tuple(task for task in self.catalogue.examples if task.schema in IDS))


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Invented]:
    folder = laid_out(tmp_path_factory.mktemp("invented"), *IDS)
    made(folder)
    with talkhouse.open(folder / "w.duckdb") as con:
        yield Invented(folder, corpora((folder / "ingest" / "corpora",)), catalogue((QUERIES, folder / "queries")), con)


@pytest.fixture
def con(invented: Invented) -> duckdb.DuckDBPyConnection:
    return invented.con


def test_the_page_has_all_the_files() -> None:
    for corpus_id in IDS:
        parts = {"/".join(Path(name).parts[:2]) for name in FILES if corpus_id in Path(name).parts}
        assert {"ingest/corpora", f"queries/{corpus_id}"} <= parts
        assert not (CORPORA / corpus_id).exists()
        assert not (QUERIES / corpus_id).exists()
    assert all(set(IDS) & set(Path(name).parts) for name in FILES), "files of neither"


# The contract of every corpus.


@pytest.mark.parametrize("corpus_id", IDS)
def test_it_keeps_the_contract(invented: Invented, corpus_id: str, tmp_path: Path) -> None:
    corpus, con = invented.corpora[corpus_id], invented.con
    contract.the_sample_loads_whole(corpus, con)
    contract.the_sample_shows_every_scheme_and_split(corpus, con)
    contract.it_is_declared_with_its_licence(corpus, con)
    contract.files_come_back_equal(corpus, sample_of(corpus), con, tmp_path / "restored")
    contract.tasks_have_rows_in_every_split(corpus, con, invented.views)


def test_their_views_and_rows_keep_the_contract(invented: Invented) -> None:
    with duckdb.connect() as attached:
        attached.execute(f"attach '{invented.folder / 'w.duckdb'}' as another_name (read_only)")
        for view in invented.views.views:
            contract.the_view_works_under_attach_and_says_what_it_is(view, attached, invented.con)
    for query in (*invented.views.views, *invented.views.examples):
        contract.the_grain_is_unique(query, invented.con)
    for task in invented.views.examples:
        contract.the_task_view_has_the_columns_of_all(task, invented.con)
    contract.every_column_says_what_it_is(invented.con, invented.catalogue.views)
    for table in metadata.tables.values():
        contract.the_rows_of_a_table_are_told_apart(table, invented.con)
        contract.every_reference_is_kept(table, invented.con)


def test_what_the_page_writes_for_tests_keeps_the_contract(invented: Invented, tmp_path: Path) -> None:
    corpus = invented.corpora["bookclub"]
    contract.it_has_a_readme(corpus)
    clauses = clauses_of(invented.folder / "tests" / "corpora" / "bookclub" / "clauses.py")
    contract.every_rule_has(corpus, [clause.rule for clause in clauses])
    whole = read_findings(corpus, sample_of(corpus))
    for number, clause in enumerate(clauses):
        shutil.copytree(sample_of(corpus), tmp_path / str(number))
        clause.change(tmp_path / str(number))
        contract.the_clause_is_told(corpus, clause, read_findings(corpus, tmp_path / str(number)), whole)


def clauses_of(path: Path) -> list[Clause]:
    """Run a file of clauses."""
    spec = importlib.util.spec_from_file_location("clauses_of_the_page", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    clauses: list[Clause] = module.CLAUSES
    return clauses


def test_its_broken_file_is_told_and_kept(tmp_path: Path) -> None:
    folder = laid_out(tmp_path, "bookclub")
    corpus = corpora((folder / "ingest" / "corpora",))["bookclub"]
    shutil.rmtree(folder / "data")
    (case,) = (folder / "tests" / "corpora" / "bookclub" / "broken").iterdir()
    data = contract.laid_out(corpus, case / "raw", folder)
    made(folder, limit=QuarantineLimit("100%"))
    with talkhouse.open(folder / "w.duckdb") as con:
        contract.the_broken_file_is_told_and_kept(corpus, case.name, data, con, tmp_path / "restored")


# What each of them is.


def test_it_is_declared(invented: Invented) -> None:
    assert {"teatime", "bookclub"} < corpora((CORPORA, invented.folder / "ingest" / "corpora")).keys()
    listed = {one["corpus_id"]: one for one in status(invented.con, invented.folder / "w.duckdb")["corpora"]}
    teatime, bookclub = listed["teatime"], listed["bookclub"]
    assert (teatime["licence"], teatime["dialogues"], teatime["turns"]) == ("CC0-1.0", 2, 5)
    assert (bookclub["licence"], bookclub["dialogues"], bookclub["turns"]) == ("CC0-1.0", 5, 8)
    meanings = invented.con.execute("select label, meaning from main.labels where scheme = 'teatime.mood' order by all")
    assert meanings.fetchall() == [("+", "Well."), ("-", "Badly.")]


def test_teatime_is_queried(con: duckdb.DuckDBPyConnection) -> None:
    query = "select split, example_index, context, utterance, label from teatime.mood order by split, example_index"
    assert con.execute(query).fetchall() == [
        ("test", 0, ["It rains."], "So it's tea.", "+"),
        ("train", 0, ["Jam first, or cream first?"], "Cream, always.", "-"),
        ("train", 1, ["Jam first, or cream first?", "Cream, always."], "Then we can't be friends.", "+"),
    ]
    assert con.execute("select count(*) from teatime.mood_train").fetchall() == [(2,)]
    assert con.execute("select comment from duckdb_views() where view_name = 'mood'").fetchall()[0][0]


def test_bookclub_is_queried(con: duckdb.DuckDBPyConnection) -> None:
    query = "select split, native_id, utterance, part, is_question, tags from bookclub.tagging"
    assert con.execute(f"{query} order by split, example_index").fetchall() == [
        ("test", "t9", "Is anybody there?", "host", True, ["alone"]),
        ("train", "t1", "The end is slow, and far too long.", "critic", False, ["dislike", "pace"]),
        ("train", "t1", "I loved the end!", "host", False, ["like"]),
        ("train", "t2", "What is it about?", "novice", True, ["plot?"]),
    ]
    roles = (
        "select dialogue_id, name, role from main.participants inner join main.speakers using (speaker_id) "
        "where name = 'Ann' and corpus_id = 'bookclub'"
    )
    assert con.execute(f"{roles} order by all").fetchall() == [
        ("bookclub:l1", "Ann", "novice"),
        ("bookclub:t1", "Ann", "host"),
        ("bookclub:t2", "Ann", "host"),
    ]


def test_the_views_of_everybody_have_them_too(con: duckdb.DuckDBPyConnection) -> None:
    shared = [view for view in catalogue().views if view.path.parent == QUERIES / "bi"]
    for view in shared:
        assert "corpus_id" in [name for (name, *_) in con.execute(f"describe {view.full_name}").fetchall()]
        # One listener without a name is no panel: nothing tells of agreement. And nothing is wrong with the files.
        is_empty = view.full_name.endswith(("_agreement", ".annotators", ".findings"))
        # Nor has either of them spans, parts or replies.
        is_empty = is_empty or view.name in ("spans", "parts", "replies")
        some = () if is_empty else IDS
        expected = {(corpus_id,) for corpus_id in some}
        rows = con.execute(f"select distinct corpus_id from {view.full_name}").fetchall()
        assert set(rows) == expected, view.full_name


def test_their_labels_are_among_those_of_all_tasks(con: duckdb.DuckDBPyConnection) -> None:
    query = "select task, split, example_index, label, label_meaning, label_index, label_count from bi.example_labels"
    assert con.execute(f"{query} order by all").fetchall() == [
        ("mood", "test", 0, "+", "Well.", 0, 1),
        ("mood", "train", 0, "-", "Badly.", 0, 1),
        ("mood", "train", 1, "+", "Well.", 0, 1),
        ("tagging", "test", 0, "alone", None, 0, 1),
        ("tagging", "train", 0, "dislike", None, 0, 2),
        ("tagging", "train", 0, "pace", None, 1, 2),
        ("tagging", "train", 1, "like", None, 0, 1),
        ("tagging", "train", 2, "plot?", None, 0, 1),
    ]


@pytest.mark.slow
def test_they_are_checked(folder: Path, con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute("select count(*), sum(offending) from meta.checks").fetchall()[0][0] > 30
    assert con.execute("select corpus_id, check_name, scope from meta.exceptions").fetchall() == [
        ("bookclub", "labels_are_declared", "bookclub.tag")
    ]
    (folder / "data" / "teatime" / "train" / "broken.txt").write_text("# Milk\nnobody says this\n")
    (folder / "data" / "teatime" / "train" / "bytes.txt").write_bytes(b"# Tea\nAnn: caf\xe9\n")
    (folder / "data" / "teatime" / "dev").mkdir()
    (folder / "data" / "teatime" / "dev" / "milk.txt").write_text("# Milk\nAnn: Yes.\n")
    made(folder, limit=QuarantineLimit("100%"))
    with talkhouse.open(folder / "w.duckdb") as again:
        findings = "select rule, source_file_id, pointer from meta.findings order by rule"
        assert again.execute(findings).fetchall() == [
            ("TH-02", "teatime/train/bytes.txt", ""),
            ("TH-05", "teatime/dev/milk.txt", None),
            ("TT-01", "teatime/train/broken.txt", "/1"),
        ]
        assert again.execute("select count(*) from meta.quarantine").fetchall() == [(2,)]


@pytest.mark.slow
def test_an_exception_to_a_check_that_is_not_there_is_refused(folder: Path) -> None:
    declaration = folder / "ingest" / "corpora" / "teatime" / "__init__.py"
    text = declaration.read_text(encoding="utf-8").replace("Corpus, Scheme", "Corpus, Exempt, Scheme")
    exempt = '    exceptions=(Exempt("label_are_declared", "teatime.mood", "So."),),\n    read=read,\n'
    declaration.write_text(text.replace("    read=read,\n", exempt), encoding="utf-8")
    with pytest.raises(RegistryError, match="expected: one of: labels_are_declared"):
        made(folder)


def test_it_is_exported(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    output = tmp_path / "mood.jsonl"
    export(Warehouse(con), "teatime.mood", output, split="train")
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(row["utterance"], row["label"]) for row in rows] == [
        ("Cream, always.", "-"),
        ("Then we can't be friends.", "+"),
    ]
    assert "CC0-1.0" in Path(f"{output}.manifest.json").read_text()


def test_it_is_found_and_shown(con: duckdb.DuckDBPyConnection) -> None:
    assert "teatime:test-rain" in str(search(con, "tea"))
    assert "So it's tea." in str(show(con, "teatime:test-rain"))


def test_its_records_are_shown_as_published(invented: Invented) -> None:
    con, ours = invented.con, invented.corpora
    scones = (sample_of(ours["teatime"]) / "train" / "scones.txt").read_bytes()
    for name in ("teatime/train-scones", "teatime:train-scones", "scones", "teatime/train/scones.txt"):
        assert raw(con, name, ours) == scones
    assert raw(con, "bookclub/letters_train.csv#/l2", ours) == b'l2,Ben,critic,"""Zero"" again?"\n'
    with pytest.raises(RegistryError, match="no code here reads or writes the corpus 'teatime'"):
        raw(con, "teatime/train-scones")


@pytest.mark.slow
def test_a_file_that_is_there_twice_makes_its_examples_once(tmp_path: Path) -> None:
    folder = laid_out(tmp_path, "bookclub")
    (folder / "data" / "bookclub" / "z").mkdir()
    shutil.copy(folder / "data" / "bookclub" / "talks_train.json", folder / "data" / "bookclub" / "z")
    made(folder)
    with talkhouse.open(folder / "w.duckdb") as con:
        assert con.execute("select count(*) from bookclub.tagging_train").fetchall() == [(3,)]
        assert con.execute("select count(*) from main.records where subset = 'talks'").fetchall() == [(5,)]
        corpus = corpora((folder / "ingest" / "corpora",))["bookclub"]
        write_back(con, corpus, folder / "restored")
    assert len([path for path in (folder / "restored").rglob("*") if path.is_file()]) == 4


@pytest.mark.slow
def test_their_predictions_are_scored_by_the_commands_of_a_copy(tmp_path: Path) -> None:
    """A copy of the project, to which only the page's folders were added."""
    for package in ("ingest", "migrations", "queries", "schema", "talkhouse"):
        shutil.copytree(ROOT / package, tmp_path / package, symlinks=True)
    laid_out(tmp_path, *IDS)
    rows = [("test", 0, "+"), ("train", 0, "+"), ("train", 1, "+")]
    lines = [",".join(map(str, row)) + "\n" for row in (("split", "example_index", "label"), *rows)]
    (tmp_path / "moods.csv").write_text("".join(lines), encoding="utf-8")

    def talkhouse(*arguments: str) -> str:
        shown = run_copy(tmp_path, *arguments)
        assert shown.returncode == 0, shown.stderr
        return shown.stdout

    talkhouse("build")
    scored = json.loads(talkhouse("score", "teatime.mood", "moods.csv", "--json", "--by", "split"))
    values = {(one["slice"], one["name"]): (one["value"], one["official"]) for one in scored["metrics"]}
    assert (scored["rows"], values[None, "kappa"], values[None, "accuracy"]) == (3, (0, True), (2 / 3, False))
    assert values["split=train", "F1 macro"] == (pytest.approx(1 / 3), False)
    assert values["split=test", "kappa"] == (None, True)
    assert "kappa" in talkhouse("score", "teatime.mood", "--baseline", "oracle", "--split", "train")
    oracle = json.loads(talkhouse("score", "bookclub.tagging", "--baseline", "oracle", "--split", "train", "--json"))
    assert [(one["name"], one["value"]) for one in oracle["metrics"] if one["official"]] == [("overlap", 1)]
    for corpus_id in IDS:
        assert "equal" in talkhouse("verify", "--corpus", corpus_id)
    before = (tmp_path / "w.duckdb").read_bytes()
    reader = tmp_path / "ingest" / "corpora" / "teatime" / "read.py"
    reader.write_text(reader.read_text(encoding="utf-8").replace("topic, lines = ", "topic, lines, _ = "))
    shutil.copytree(tmp_path / "ingest" / "corpora" / "teatime" / "sample", tmp_path / "data" / "teatime" / "more")
    shown = run_copy(tmp_path, "build", "--data", "data")
    assert shown.returncode == 1
    assert "Traceback" not in shown.stderr
    assert "error: teatime/more/test/rain.txt: the reader of 'teatime' raised an exception" in shown.stderr
    assert "ValueError: not enough values to unpack (expected 3, got 2), in " in shown.stderr
    assert "/ingest/corpora/teatime/read.py, line " in shown.stderr
    assert (tmp_path / "w.duckdb").read_bytes() == before


def run_copy(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of a copy of the project."""
    env = {**os.environ, "PYTHONPATH": str(folder), "TALKHOUSE_DB": str(folder / "w.duckdb")}
    return subprocess.run([*COMMAND, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False)
