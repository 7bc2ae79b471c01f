"""Corpora, tasks, splits, schemes, labels and columns that are named by words of SQL."""

import json
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.export.selection import select
from talkhouse.ingest.progress import Silent
from talkhouse.lake.write_lake import write_lake
from talkhouse.schema.contents import RESERVED
from talkhouse.schema.sql import identifier, reserved_words
from talkhouse.spark.check import check
from talkhouse.warehouse.build_facts import views
from talkhouse.warehouse.opened import Warehouse
from tests.commands import run
from tests.data_files import data_of
from tests.postgres_server import Database
from tests.talkhouse.postgres.conftest import publish_to

DATA = data_of(__file__)

FEW = ["all", "group", "order"]
OTHERS = sorted(reserved_words() - {*FEW})
KEYWORDS = duckdb.execute("select keyword_name from duckdb_keywords()").fetchall()
UNRESERVED = sorted({word for (word,) in KEYWORDS} - {*RESERVED, *FEW, *OTHERS})
DECLARED = DATA["declared"]
OWN = DATA["own"]


def build_named(folder: Path, words: list[str]) -> Path:
    """Build a corpus for each word, whose other names are the words that follow."""
    for at, corpus in enumerate(words):
        split, task, scheme, label = (words[(at + step) % len(words)] for step in (1, 2, 3, 4))
        names = {"corpus": corpus, "split": split, "task": task, "scheme": scheme, "label": label}
        record = {"id": "1", "messages": [{"role": "user", "content": f"Say {corpus}"}], scheme: label}
        files = {"data/{}/a.jsonl": json.dumps(record), "code/{}/corpus.toml": DECLARED.format(**names)}
        files |= {"code/{}/queries/own.sql": OWN.format(**names), "code/{}/queries/macros/same.sql": "-- It.\n(x) as x"}
        for name, text in files.items():
            path = folder / name.format(corpus)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    done = run("build", "--data", folder / "data", "--corpora", folder / "code", "--db", folder / "w.duckdb")
    assert (done.returncode, "leaves out" in done.stderr) == (0, False), done.stderr
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_named(tmp_path_factory.mktemp("few"), FEW)


def check_named(path: Path, words: list[str]) -> None:
    with talkhouse.open(path) as con:
        listed = {(view["schema"], view["name"]): view["rows"] for view in views(con)}
        warehouse = Warehouse(con)
        for at, corpus in enumerate(words):
            split, task = (words[(at + step) % len(words)] for step in (1, 2))
            for name in ("own", task, f"{task}_{split}"):
                assert listed[corpus, name] == 1
                rows = con.execute(f"from {identifier(corpus, name)}").fetchall()
                assert len(con.execute(select(warehouse, f"{corpus}.{name}").sql()).fetchall()) == len(rows) == 1


@pytest.mark.slow
def test_every_name_is_quoted(few: Path, tmp_path: Path) -> None:
    check_named(few, FEW)
    assert run("export", "all.order", "--output", tmp_path / "a.csv", "--db", few).returncode == 0
    hint = run("sql", 'from "all".ordr', "--db", few).stderr.partition("one of: ")[2].splitlines()[0]
    assert (hint, run("sql", f"from {hint}", "--db", few).returncode) == ('"all"."order"', 0)


@pytest.mark.slow
def test_other_words_that_need_quotes(tmp_path: Path) -> None:
    path = build_named(tmp_path, OTHERS[::32])
    check_named(path, OTHERS[::32])
    assert run("report", "--output", tmp_path / "a.html", "--db", path).returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("words", [OTHERS, UNRESERVED], ids=["reserved", "unreserved"])
def test_every_keyword(tmp_path: Path, words: list[str]) -> None:
    check_named(build_named(tmp_path, words), words)


@pytest.mark.long
def test_postgresql_and_spark_have_them_too(few: Path, tmp_path: Path, postgres: Database, sail_url: str) -> None:
    assert publish_to(postgres.url(), few).notes == ()
    with postgres.connect() as server:
        for at, corpus in enumerate(FEW):
            query = f"select count(*) from {identifier(corpus, FEW[(at + 2) % len(FEW)])}"
            assert server.execute(query.encode()).fetchall() == [(1,)]
    write_lake(tmp_path / "lake", [few], Silent())
    assert [each.difference for each in check(tmp_path / "lake", sail_url, Silent()).relations if each.difference] == []
