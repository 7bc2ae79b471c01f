"""What holds for every corpus, whatever it is: parametrised by the registry, without a word on any one of them."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.ingest.common_rules import COMMON_RULES
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.files.skipped import skip_reason
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.queries.catalogue import Catalogue, catalogue
from talkhouse.queries.heads import ExampleQuery, ViewQuery
from talkhouse.restore.write_back import write_back
from talkhouse.schema.tables import metadata, owned_by, qualified
from tests.conftest import Build

HERE = Path(__file__).parent
CORPORA = list(corpora().values())
VIEWS: Catalogue = catalogue()


def cases(kind: str) -> list[Any]:
    """List the folders ``tests/corpora/<corpus>/<kind>/<case>`` of every corpus."""
    found = [(corpus, path) for corpus in CORPORA for path in sorted((HERE / corpus.id / kind).glob("*"))]
    return [pytest.param(corpus, path, id=f"{corpus.id}-{path.name}") for corpus, path in found]


def data_folder(corpus: Corpus, raw: Path, tmp_path: Path) -> Path:
    """Lay a corpus's raw files out as a data folder."""
    shutil.copytree(raw, tmp_path / "data" / corpus.id)
    return tmp_path / "data"


def rows(con: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    """Run a query and give its rows as JSON has them."""
    return [
        json.loads(line) for (line,) in con.execute(f"select to_json(rows)::varchar from ({query}) as rows").fetchall()
    ]


def decoded(raw: bytes) -> str:
    """Decode a file in which single records may be no UTF-8, each such byte as half of a surrogate pair."""
    return raw.decode("utf-8-sig", errors="surrogateescape")


def assert_equal_files(corpus: Corpus, raw: Path, con: duckdb.DuckDBPyConnection, output: Path) -> int:
    """Restore a corpus and compare: JSON by value and order of keys, everything else byte for byte."""
    write_back(con, corpus, output)
    compared = 0
    for path in (path for path in raw.rglob("*") if path.is_file() and not skip_reason(path.name)):
        name = path.relative_to(raw)
        (kind,) = con.execute(
            "select kind from meta.source_files where source_file_id = ?", [f"{corpus.id}/{name}"]
        ).fetchall()[0]
        if kind == "unrecognised":
            continue
        came, went = path.read_bytes(), (output / name).read_bytes()
        if path.suffix == ".json" and kind == "read":
            assert json.dumps(json.loads(decoded(went))) == json.dumps(json.loads(decoded(came)))
            assert went[:1] == came[:1], "the byte order mark"
        else:
            assert went == came, name
        compared += 1
    return compared


EVERY_CORPUS = pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.id)


@EVERY_CORPUS
def test_the_sample_loads_whole(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    found = con.execute(
        "select sum(records_in), sum(records_loaded), sum(records_quarantined) "
        "from meta.source_files where corpus_id = ?",
        [corpus.id],
    ).fetchall()
    ((came, loaded, quarantined),) = found
    assert came == loaded > 0
    assert quarantined == 0


@EVERY_CORPUS
def test_the_sample_shows_every_scheme_and_split(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    schemes = con.execute("select distinct scheme from main.annotations where starts_with(record_id, ?)", [corpus.id])
    assert {scheme for (scheme,) in schemes.fetchall()} == {scheme.name for scheme in corpus.schemes}
    splits = con.execute("select distinct split, standard_split from main.records where corpus_id = ?", [corpus.id])
    assert {pair for pair in splits.fetchall() if pair[0]} == set(corpus.splits.items())


@EVERY_CORPUS
def test_the_sample_is_declared_with_its_licence(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    query = "select licence, citation, is_sample from main.corpora where corpus_id = ?"
    assert con.execute(query, [corpus.id]).fetchall() == [(corpus.licence, corpus.citation, True)]
    assert corpus.licence
    assert corpus.citation


@EVERY_CORPUS
def test_the_sample_comes_back_equal(corpus: Corpus, con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    assert assert_equal_files(corpus, sample_of(corpus), con, tmp_path) > 0


@EVERY_CORPUS
def test_every_task_of_the_sample_has_rows_in_every_split(corpus: Corpus, con: duckdb.DuckDBPyConnection) -> None:
    for task in (query for query in VIEWS.examples if query.schema == corpus.id):
        for split in corpus.splits:
            assert con.execute(f"select count(*) > 0 from {task.full_name}_{split}").fetchall() == [(True,)]


@pytest.mark.parametrize(("corpus", "case"), cases("golden"))
def test_golden(corpus: Corpus, case: Path, build_data: Build, tmp_path: Path, regen: bool) -> None:
    """Every table and view of a small invented corpus, row by row; ``--regen`` writes them again."""
    data = data_folder(corpus, case / "raw", tmp_path)
    con = build_data(data)
    tables = {
        qualified(table): owned_by(table, corpus.id)
        for table in metadata.tables.values()
        if table.info["owner"] and table.name != "corpora"
    }
    drop = {"meta.source_files": "exclude (modified_at, mtime_ns, inode)"}
    found = {
        name: rows(con, f"select * {drop.get(name, '')} from {name} where {mine} order by all")
        for name, mine in tables.items()
    }
    ours = [view for view in VIEWS.views if view.schema == corpus.id]
    found |= {view.full_name: rows(con, f"from {view.full_name} order by {', '.join(view.grain)}") for view in ours}
    folder = case / "expected"
    texts = {name: "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in some) for name, some in found.items()}
    if regen:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, text in texts.items():
            if text:
                (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    written = {path.name.removesuffix(".jsonl"): path.read_text(encoding="utf-8") for path in folder.glob("*.jsonl")}
    assert {name: text for name, text in texts.items() if text} == written
    assert assert_equal_files(corpus, data / corpus.id, con, tmp_path / "restored") > 0


@pytest.mark.parametrize(("corpus", "case"), cases("broken"))
def test_a_broken_file_is_told_and_kept_and_the_rest_is_loaded(
    corpus: Corpus, case: Path, build_data: Build, tmp_path: Path
) -> None:
    data = data_folder(corpus, case / "raw", tmp_path)
    con = build_data(data)
    rule = {rule.id: rule for rule in (*COMMON_RULES, *corpus.rules)}[case.name]
    told = con.execute(
        "select findings.severity, source_file_id, detail, remedy "
        "from meta.findings inner join meta.rules using (rule) where rule = ?",
        [rule.id],
    ).fetchall()
    assert rule.severity in {severity for severity, *_ in told}, f"no finding of {rule.id} as severe as the rule is"
    assert all(file and detail and remedy for _, file, detail, remedy in told)
    came, loaded, quarantined = con.execute(
        "select sum(records_in), sum(records_loaded), sum(records_quarantined) from meta.source_files"
    ).fetchall()[0]
    assert came == loaded + quarantined
    assert loaded == con.execute("select count(*) from main.records").fetchall()[0][0] > 0
    refused = con.execute(
        "select source_file_id, pointer, raw from meta.quarantine where rule = ?", [rule.id]
    ).fetchall()
    assert bool(refused) == rule.severity.startswith("reject_") or rule.severity == "reject_example"
    for name, pointer, raw in refused:
        whole = (data / name).read_bytes()
        assert raw in whole if pointer else raw == whole
    assert assert_equal_files(corpus, data / corpus.id, con, tmp_path / "restored") > 0


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.id)
def test_every_rule_has_its_own_broken_file(corpus: Corpus) -> None:
    given = {path.name for path in (HERE / corpus.id / "broken").glob("*")}
    assert given == {*corpus.common_rules, *(rule.id for rule in corpus.rules)}


@pytest.mark.parametrize("query", [*VIEWS.views, *VIEWS.examples], ids=lambda query: query.full_name)
def test_the_grain_is_unique(query: ViewQuery | ExampleQuery, con: duckdb.DuckDBPyConnection) -> None:
    grain = ", ".join(query.grain)
    doubled = f"select {grain}, count(*) from ({query.sql}) group by all having count(*) > 1"
    assert con.execute(doubled).fetchall() == []


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
    there = attached.execute(f"select count(*) from another_name.{view.full_name}").fetchall()
    comment = attached.execute(
        "select comment from duckdb_views() where schema_name = ? and view_name = ?", [view.schema, view.name]
    ).fetchall()
    assert there == con.execute(f"select count(*) from {view.full_name}").fetchall()
    assert comment == [(view.comment,)]


def test_every_column_of_every_view_says_what_it_is(con: duckdb.DuckDBPyConnection) -> None:
    views = "select schema_name, view_name from duckdb_views() where not internal"
    bare = f"""
        select schema_name, table_name, column_name from duckdb_columns()
        where comment is null and (schema_name, table_name) in ({views})
    """
    assert con.execute(bare).fetchall() == []
    for view in VIEWS.views:
        columns = {name for (name, *_) in con.execute(f"describe {view.full_name}").fetchall()}
        assert view.columns.keys() <= columns, "a meaning of a column that is not there"


@pytest.mark.parametrize("task", VIEWS.examples, ids=lambda task: task.full_name)
def test_a_task_view_has_the_columns_that_all_task_views_have(
    task: ExampleQuery, con: duckdb.DuckDBPyConnection
) -> None:
    columns = [name for (name, *_) in con.execute(f"describe {task.full_name}").fetchall()]
    assert columns[:5] == ["split", "standard_split", "example_index", "dialogue_id", "native_id"]
    gaps = (
        f"select release, split from main.examples where corpus_id = '{task.schema}' and task = '{task.name}' "
        "group by all having min(example_index) <> 0 or max(example_index) <> count(*) - 1"
    )
    assert con.execute(gaps).fetchall() == []


@pytest.mark.parametrize("table", metadata.tables.values(), ids=qualified)
def test_the_grain_of_a_table_is_unique(table: Any, con: duckdb.DuckDBPyConnection) -> None:
    grain = ", ".join(table.info["grain"])
    doubled = f"select {grain}, count(*) from {qualified(table)} group by all having count(*) > 1"
    assert con.execute(doubled).fetchall() == []


@pytest.mark.parametrize("table", metadata.tables.values(), ids=qualified)
def test_every_reference_is_kept(table: Any, con: duckdb.DuckDBPyConnection) -> None:
    for constraint in table.foreign_key_constraints:
        pairs = [(element.parent.name, element.column) for element in constraint.elements]
        target = qualified(pairs[0][1].table)
        match = " and ".join(f"there.{column.name} = here.{name}" for name, column in pairs)
        given = " and ".join(f"here.{name} is not null" for name, _ in pairs)
        lost = (
            f"select count(*) from {qualified(table)} as here "
            f"where {given} and not exists (from {target} as there where {match})"
        )
        assert con.execute(lost).fetchall() == [(0,)], constraint
