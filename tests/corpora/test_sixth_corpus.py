"""A sixth corpus, taken from the page that teaches how to add one: its folders are all that it needs."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest

import talkhouse
from talkhouse.build.progress import Silent
from talkhouse.build.quarantine_limit import QuarantineLimit
from talkhouse.build.run import Result, build
from talkhouse.explore.status import status
from talkhouse.ingest.registry import DEFAULT_ROOT as CORPORA
from talkhouse.ingest.registry import corpora
from talkhouse.queries.catalogue import DEFAULT_ROOT as QUERIES
from talkhouse.queries.catalogue import catalogue
from talkhouse.restore.write_back import write_back
from talkhouse.warehouse.opened import Warehouse
from tests.commands import COMMAND

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sixth-corpus.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```\w+ (\S+/\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The page's files, laid out outside of the project; the sample is given as a data folder."""
    for name, text in FILES.items():
        path = tmp_path / name.replace("sample/", "data/teatime/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def made(folder: Path, **options: Any) -> Result:
    roots = {"corpus_roots": (folder / "ingest" / "corpora",), "query_roots": (folder / "queries",)}
    return build(folder / "w.duckdb", Silent(), data=folder / "data", **roots, **options)


@pytest.fixture
def con(folder: Path) -> duckdb.DuckDBPyConnection:
    made(folder)
    return talkhouse.open(folder / "w.duckdb")


def test_the_page_has_all_the_files() -> None:
    folders = {name.rpartition("/")[0] for name in FILES}
    assert folders == {
        "ingest/corpora/teatime",
        "queries/teatime",
        "queries/teatime/bi/dashboards",
        "queries/teatime/examples",
        "queries/teatime/metrics",
        "queries/teatime/scores",
        "sample/test",
        "sample/train",
    }
    assert not (CORPORA / "teatime").exists()
    assert not (QUERIES / "teatime").exists()


def test_it_is_declared(folder: Path, con: duckdb.DuckDBPyConnection) -> None:
    assert "teatime" in corpora((CORPORA, folder / "ingest" / "corpora"))
    (found,) = status(con, folder / "w.duckdb")["corpora"]
    assert (found["corpus_id"], found["licence"], found["dialogues"], found["turns"]) == ("teatime", "CC0-1.0", 2, 5)
    meanings = con.execute("select label, meaning from main.labels where scheme = 'teatime.mood' order by all")
    assert meanings.fetchall() == [("+", "Well."), ("-", "Badly.")]


def test_it_is_queried(con: duckdb.DuckDBPyConnection) -> None:
    query = "select split, example_index, context, utterance, label from teatime.mood order by split, example_index"
    assert con.execute(query).fetchall() == [
        ("test", 0, ["It rains."], "So it's tea.", "+"),
        ("train", 0, ["Jam first, or cream first?"], "Cream, always.", "-"),
        ("train", 1, ["Jam first, or cream first?", "Cream, always."], "Then we can't be friends.", "+"),
    ]
    assert con.execute("select count(*) from teatime.mood_train").fetchall() == [(2,)]
    assert con.execute("select comment from duckdb_views() where view_name = 'mood'").fetchall()[0][0]


def test_the_views_of_everybody_have_it_too(con: duckdb.DuckDBPyConnection) -> None:
    shared = [view for view in catalogue().views if view.path.parent == QUERIES / "bi"]
    with_corpus = [
        view.full_name
        for view in shared
        if "corpus_id" in [name for (name, *_) in con.execute(f"describe {view.full_name}").fetchall()]
    ]
    assert with_corpus == [view.full_name for view in shared]
    for name in with_corpus:
        # One listener without a name is no panel: nothing tells of agreement. And nothing is wrong with the files.
        is_empty = name.endswith(("_agreement", ".annotators", ".findings"))
        expected = [] if is_empty else [("teatime",)]
        assert con.execute(f"select distinct corpus_id from {name}").fetchall() == expected, name


def test_its_labels_are_among_those_of_all_tasks(con: duckdb.DuckDBPyConnection) -> None:
    query = "select task, split, example_index, label, label_meaning, label_index, label_count from bi.example_labels"
    assert con.execute(f"{query} order by all").fetchall() == [
        ("mood", "test", 0, "+", "Well.", 0, 1),
        ("mood", "train", 0, "-", "Badly.", 0, 1),
        ("mood", "train", 1, "+", "Well.", 0, 1),
    ]


def test_it_is_checked(folder: Path, con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute("select count(*), sum(offending) from meta.checks").fetchall()[0][0] > 30
    con.close()
    (folder / "data" / "teatime" / "train" / "broken.txt").write_text("# Milk\nnobody says this\n")
    (folder / "data" / "teatime" / "train" / "bytes.txt").write_bytes(b"# Tea\nAnn: caf\xe9\n")
    (folder / "data" / "teatime" / "notes.csv").write_text("a,b\n")
    made(folder, limit=QuarantineLimit("100%"))
    with talkhouse.open(folder / "w.duckdb") as again:
        found = "select rule, source_file_id, pointer from meta.findings where rule <> 'TH-05' order by rule"
        assert again.execute(found).fetchall() == [
            ("TH-02", "teatime/train/bytes.txt", ""),
            ("TT-01", "teatime/train/broken.txt", "/1"),
        ]
        assert again.execute("select source_file_id from meta.findings where rule = 'TH-05'").fetchall() == [
            ("teatime/notes.csv",)
        ]
        assert again.execute("select count(*) from meta.quarantine").fetchall() == [(2,)]


def test_it_is_exported(folder: Path, con: duckdb.DuckDBPyConnection) -> None:
    from talkhouse.query.export import export

    output = folder / "mood.jsonl"
    export(Warehouse(con), "teatime.mood", output, split="train")
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(row["utterance"], row["label"]) for row in rows] == [
        ("Cream, always.", "-"),
        ("Then we can't be friends.", "+"),
    ]
    assert "CC0-1.0" in Path(f"{output}.manifest.json").read_text()


def test_it_is_found_and_shown(con: duckdb.DuckDBPyConnection) -> None:
    from talkhouse.explore.search import search
    from talkhouse.explore.show import show

    assert "teatime:test-rain" in str(search(con, "tea"))
    assert "So it's tea." in str(show(con, "teatime:test-rain"))


def test_its_records_are_shown_as_published(folder: Path, con: duckdb.DuckDBPyConnection) -> None:
    from talkhouse.restore.raw_record import raw
    from talkhouse.schema.errors import RegistryError

    ours = corpora((folder / "ingest" / "corpora",))
    scones = (folder / "data" / "teatime" / "train" / "scones.txt").read_bytes()
    for name in ("teatime/train-scones", "teatime:train-scones", "scones", "teatime/train/scones.txt"):
        assert raw(con, name, ours) == scones
    with pytest.raises(RegistryError, match="can't write a record of the corpus 'teatime'"):
        raw(con, "teatime/train-scones")


def test_it_is_restored(folder: Path, con: duckdb.DuckDBPyConnection) -> None:
    write_back(con, corpora((folder / "ingest" / "corpora",))["teatime"], folder / "restored")
    for path in (folder / "data" / "teatime").rglob("*.txt"):
        assert (folder / "restored" / path.relative_to(folder / "data" / "teatime")).read_bytes() == path.read_bytes()


def test_its_predictions_are_scored(folder: Path) -> None:
    """The command itself, in a copy of the project to which only the page's folders were added."""
    for package in ("ingest", "migrations", "queries", "schema", "talkhouse"):
        shutil.copytree(ROOT / package, folder / package, dirs_exist_ok=True)
    rows = [("test", 0, "+"), ("train", 0, "+"), ("train", 1, "+")]
    lines = [",".join(map(str, row)) + "\n" for row in (("split", "example_index", "label"), *rows)]
    (folder / "moods.csv").write_text("".join(lines), encoding="utf-8")

    def talkhouse(*arguments: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(folder), "TALKHOUSE_DB": str(folder / "w.duckdb")}
        done = subprocess.run([*COMMAND, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    talkhouse("build", "--data", "data")
    found = json.loads(talkhouse("score", "teatime.mood", "moods.csv", "--json", "--by", "split"))
    values = {(one["slice"], one["name"]): (one["value"], one["official"]) for one in found["metrics"]}
    assert (found["rows"], values[None, "kappa"], values[None, "accuracy"]) == (3, (0, True), (2 / 3, False))
    assert values["split=train", "F1 macro"] == (pytest.approx(1 / 3), False)
    assert values["split=test", "kappa"] == (None, True)
    assert "kappa" in talkhouse("score", "teatime.mood", "--baseline", "oracle", "--split", "train")
