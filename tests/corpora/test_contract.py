"""What holds for every corpus, whatever it is: parametrised by the registry, without a word on any one of them."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.registry import corpora, rules_of, sample_of
from talkhouse.queries.catalogue import Catalogue, catalogue
from talkhouse.queries.heads import ExampleQuery, ViewQuery
from talkhouse.schema.tables import metadata, owned_by, qualified
from tests.conftest import Build
from tests.corpora import contract

HERE = Path(__file__).parent
CORPORA = list(corpora().values())
VIEWS: Catalogue = catalogue()

EVERY_CORPUS = pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.id)
EVERY_TABLE = pytest.mark.parametrize("table", metadata.tables.values(), ids=qualified)


def folders(corpus: Corpus, kind: str) -> list[Path]:
    """List the folders ``tests/corpora/<corpus>/<kind>/<case>``."""
    return sorted((HERE / corpus.id / kind).glob("*"))


def quick_one(corpus: Corpus, kind: str) -> Path | None:
    """Choose the case of each corpus that the quick lane tries: a record that is refused, where cases are rules."""
    rules = rules_of(corpus)
    paths = folders(corpus, kind)
    refused = [path for path in paths if path.name in rules and rules[path.name].severity == "reject_dialogue"]
    return next(iter([*refused, *paths]), None)


def cases(kind: str) -> list[Any]:
    """List the cases of every corpus: each is a build, so that one of a corpus is quick."""
    return [
        pytest.param(
            corpus,
            path,
            id=f"{corpus.id}-{path.name}",
            marks=() if path == quick_one(corpus, kind) else pytest.mark.slow,
        )
        for corpus in CORPORA
        for path in folders(corpus, kind)
    ]


def rows(con: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    """Run a query and give its rows as JSON has them."""
    return [
        json.loads(line) for (line,) in con.execute(f"select to_json(rows)::varchar from ({query}) as rows").fetchall()
    ]


@EVERY_CORPUS
def test_the_sample_loads_whole(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    contract.the_sample_loads_whole(corpus, con)


@EVERY_CORPUS
def test_the_sample_shows_every_scheme_and_split(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    contract.the_sample_shows_every_scheme_and_split(corpus, con)


@EVERY_CORPUS
def test_the_sample_is_declared_with_its_licence(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    contract.it_is_declared_with_its_licence(corpus, con)
    query = "select is_sample from main.corpora where corpus_id = ?"
    assert con.execute(query, [corpus.id]).fetchall() == [(True,)]


@EVERY_CORPUS
def test_a_corpus_has_a_readme(corpus: Corpus) -> None:
    contract.it_has_a_readme(corpus)


@EVERY_CORPUS
def test_the_sample_comes_back_equal(corpus: Corpus, con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    contract.files_come_back_equal(corpus, sample_of(corpus), con, tmp_path)


@EVERY_CORPUS
def test_every_task_of_the_sample_has_rows_in_every_split(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    contract.tasks_have_rows_in_every_split(corpus, con, VIEWS)


@pytest.mark.parametrize(("corpus", "case"), cases("golden"))
def test_golden(corpus: Corpus, case: Path, build_data: Build, tmp_path: Path, regen: bool) -> None:
    """Every table and view of a small invented corpus, row by row; ``--regen`` writes them again."""
    data = contract.laid_out(corpus, case / "raw", tmp_path)
    con = build_data(data)
    tables = {
        qualified(table): owned_by(table, corpus.id)
        for table in metadata.tables.values()
        if table.info["owner"] and table.name != "corpora"
    }
    drop = {"meta.source_files": "exclude (modified_at, mtime_ns, inode)"}
    contents = {
        name: rows(con, f"select * {drop.get(name, '')} from {name} where {mine} order by all")
        for name, mine in tables.items()
    }
    ours = [view for view in VIEWS.views if view.schema == corpus.id]
    contents |= {view.full_name: rows(con, f"from {view.full_name} order by {', '.join(view.grain)}") for view in ours}
    folder = case / "expected"
    texts = {
        name: "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in listed) for name, listed in contents.items()
    }
    if regen:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, text in texts.items():
            if text:
                (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    written = {path.name.removesuffix(".jsonl"): path.read_text(encoding="utf-8") for path in folder.glob("*.jsonl")}
    assert {name: text for name, text in texts.items() if text} == written
    contract.files_come_back_equal(corpus, data / corpus.id, con, tmp_path / "restored")


@pytest.mark.parametrize(("corpus", "case"), cases("broken"))
def test_a_broken_file_is_told_and_kept_and_the_rest_is_loaded(
    corpus: Corpus, case: Path, build_data: Build, tmp_path: Path
) -> None:
    data = contract.laid_out(corpus, case / "raw", tmp_path)
    contract.the_broken_file_is_told_and_kept(corpus, case.name, data, build_data(data), tmp_path / "restored")


@EVERY_CORPUS
def test_every_rule_has_its_own_broken_file(corpus: Corpus) -> None:
    contract.every_rule_has(corpus, [path.name for path in folders(corpus, "broken")])


@pytest.mark.parametrize("query", [*VIEWS.views, *VIEWS.examples], ids=lambda query: query.full_name)
def test_the_grain_is_unique(query: ViewQuery | ExampleQuery, con: duckdb.DuckDBPyConnection) -> None:
    contract.the_grain_is_unique(query, con)


@pytest.fixture(scope="module")
def attached(sample: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that has attached the sample under another name."""
    with duckdb.connect() as con:
        con.execute(f"attach '{sample}' as another_name (read_only)")
        yield con


@pytest.mark.parametrize("view", VIEWS.views, ids=lambda view: view.full_name)
def test_a_view_works_under_attach_and_says_what_it_is(
    view: ViewQuery, attached: duckdb.DuckDBPyConnection, con: duckdb.DuckDBPyConnection
) -> None:
    contract.the_view_works_under_attach_and_says_what_it_is(view, attached, con)


def test_every_column_of_every_view_says_what_it_is(con: duckdb.DuckDBPyConnection) -> None:
    contract.every_column_says_what_it_is(con, VIEWS.views)


@pytest.mark.parametrize("task", VIEWS.examples, ids=lambda task: task.full_name)
def test_a_task_view_has_the_columns_that_all_task_views_have(
    task: ExampleQuery, con: duckdb.DuckDBPyConnection
) -> None:
    contract.the_task_view_has_the_columns_of_all(task, con)


@EVERY_TABLE
def test_the_grain_of_a_table_is_unique(table: Any, con: duckdb.DuckDBPyConnection) -> None:
    contract.the_rows_of_a_table_are_told_apart(table, con)


@EVERY_TABLE
def test_every_reference_is_kept(table: Any, con: duckdb.DuckDBPyConnection) -> None:
    contract.every_reference_is_kept(table, con)
