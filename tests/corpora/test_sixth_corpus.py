"""The corpora that ``talkhouse new corpus`` begins and the tutorial shows: what their views and commands give."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

import talkhouse
from talkhouse.dialogues.dialogue import show
from talkhouse.export.export import export
from talkhouse.export.selection import Filters
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.request import QuarantineLimit
from talkhouse.load.run import BuildResult, build
from talkhouse.new_corpus import Like
from talkhouse.queries.catalogue import catalogue
from talkhouse.queries.files import DEFAULT_ROOT as QUERIES
from talkhouse.restore.raw_record import raw
from talkhouse.restore.write_back import write_back
from talkhouse.schema.errors import RegistryError
from talkhouse.search.containing import search
from talkhouse.warehouse.build_facts import status
from talkhouse.warehouse.opened import Warehouse
from tests.commands import run

PAGE = Path(__file__).parents[2] / "docs" / "sixth-corpus.md"
BLOCK = re.compile(r"^(```\w+ (\S+/\S+)\n)(.*?)^```$", re.MULTILINE | re.DOTALL)
TEMPLATES = {like.folder.name: like.folder for like in Like}
IDS = ("bookclub", "penpals", "teatime")
IDS_OF = {
    # One listener without a name is no panel: nothing tells of agreement. And nothing is wrong with the files.
    **dict.fromkeys(("turn_agreement", "subset_agreement", "scheme_agreement", "annotators", "findings"), ()),
    **dict.fromkeys(("default_releases", "label_changes", "parts", "replies", "turn_paths"), ()),
    "dialogue_labels": (),
    **dict.fromkeys(("persona_uses", "persona_splits", "persona_words", "shared_personas", "speaker_personas"), ()),
    "labelled_turns": ("penpals", "teatime"),
    "spans": ("bookclub",),
}
"""View -> the corpora that have something of the kind; all of them in the others."""


def laid_out(root: Path, *ids: str) -> Path:
    """Lay corpora out below a folder, and their samples as a data folder."""
    for corpus_id in ids:
        shutil.copytree(TEMPLATES[corpus_id], root / "corpora" / corpus_id)
        shutil.copytree(TEMPLATES[corpus_id] / "sample", root / "data" / corpus_id)
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return laid_out(tmp_path, "teatime")


def build_in(folder: Path, **options: Any) -> BuildResult:
    return build(folder / "w.duckdb", Silent(), data=folder / "data", corpus_roots=(folder / "corpora",), **options)


class Invented(NamedTuple):
    """All three, in a warehouse of their own."""

    corpora: Mapping[str, Corpus]
    con: duckdb.DuckDBPyConnection
    path: Path


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Invented]:
    folder = laid_out(tmp_path_factory.mktemp("invented"), *IDS)
    build_in(folder)
    with talkhouse.open(folder / "w.duckdb") as con:
        yield Invented(corpora((folder / "corpora",)), con, folder / "w.duckdb")


@pytest.fixture
def con(invented: Invented) -> duckdb.DuckDBPyConnection:
    return invented.con


def test_the_page_shows_the_files_as_they_are_written(regen: bool) -> None:
    def written(block: re.Match[str]) -> str:
        corpus_id, _, name = block[2].partition("/")
        return f"{block[1]}{(TEMPLATES[corpus_id] / name).read_text(encoding='utf-8')}```"

    page = PAGE.read_text(encoding="utf-8")
    assert {name.partition("/")[0] for _, name, _ in BLOCK.findall(page)} == {*IDS}
    again = BLOCK.sub(written, page)
    if regen:
        PAGE.write_text(again, encoding="utf-8")
    assert again == PAGE.read_text(encoding="utf-8")


# What each of them is.


def test_they_are_declared(invented: Invented) -> None:
    listed = {corpus["corpus_id"]: corpus for corpus in status(invented.con, invented.path, {})["corpora"]}
    counts = {name: (corpus["licence"], corpus["dialogues"], corpus["turns"]) for name, corpus in listed.items()}
    assert counts == {"bookclub": ("CC0-1.0", 3, 5), "penpals": ("CC0-1.0", 3, 6), "teatime": ("CC0-1.0", 2, 5)}
    meanings = invented.con.execute("select label, meaning from main.labels where scheme = 'teatime.mood' order by all")
    assert meanings.fetchall() == [("+", "Well."), ("-", "Badly.")]


ASKED = {
    "split, context, utterance, label from teatime.mood order by split, example_index": [
        ("test", ["It rains."], "So it's tea.", "+"),
        ("train", ["Jam first, or cream first?"], "Cream, always.", "-"),
        ("train", ["Jam first, or cream first?", "Cream, always."], "Then we can't be friends.", "+"),
    ],
    "count(*) from teatime.mood_train": [(2,)],
    "length(comment) > 0 from duckdb_views() where view_name = 'mood'": [(True,)],
    "split, native_id, utterance, part, is_question, tags from bookclub.tagging order by split, example_index": [
        ("test", "t9", "Is anybody there?", "host", True, ["alone"]),
        ("train", "t1", "The end of The Garden is slow, and far too long.", "critic", False, ["dislike", "pace"]),
        ("train", "t1", "I loved the end!", "host", False, ["like"]),
        ("train", "t2", "What is it about?", "novice", True, ["plot?"]),
    ],
    "dialogue_id, role from main.participants inner join main.speakers using (speaker_id) where name = 'Ann' "
    "and corpus_id = 'bookclub' order by all": [("bookclub:t1", "host"), ("bookclub:t2", "host")],
    "native_id, what, words from bookclub.mentions inner join main.records using (record_id) order by all": [
        *(("t1", "book", "The Garden"), ("t1", "part", "The end"), ("t1", "part", "the end"))
    ],
    "split, native_id, answered, letter, label from penpals.tone order by split, example_index": [
        ("test", "007", None, "Is it late?", "calm"),
        ("train", "e1", None, "Dear all, what next?", "calm"),
        ("train", "e1", "Something short.\nOr nothing.", "So be it.", "cross"),
        ("train", "e2", None, '"Zero" again?', "cross"),
    ],
}


def test_they_are_queried(con: duckdb.DuckDBPyConnection) -> None:
    assert {query: con.execute(f"select {query}").fetchall() for query in ASKED} == ASKED


def test_the_views_of_everybody_have_them_too(con: duckdb.DuckDBPyConnection) -> None:
    shared = [view for view in catalogue().views if view.path.parent == QUERIES / "bi"]
    for view in shared:
        assert "corpus_id" in [name for (name, *_) in con.execute(f"describe {view.full_name}").fetchall()]
        some = IDS_OF.get(view.name, IDS)
        rows = con.execute(f"select distinct corpus_id from {view.full_name}").fetchall()
        assert set(rows) == {(corpus_id,) for corpus_id in some}, view.full_name


def test_their_labels_are_among_those_of_all_tasks(con: duckdb.DuckDBPyConnection) -> None:
    query = "select task, split, example_index, label, label_meaning, label_index, label_count from bi.example_labels"
    assert con.execute(f"{query} order by all").fetchall() == [
        ("mood", "test", 0, "+", "Well.", 0, 1),
        *(("mood", "train", 0, "-", "Badly.", 0, 1), ("mood", "train", 1, "+", "Well.", 0, 1)),
        ("tagging", "test", 0, "alone", None, 0, 1),
        *(("tagging", "train", 0, "dislike", None, 0, 2), ("tagging", "train", 0, "pace", None, 1, 2)),
        *(("tagging", "train", 1, "like", None, 0, 1), ("tagging", "train", 2, "plot?", None, 0, 1)),
        *(("tone", "test", 0, "calm", "Calm.", 0, 1), ("tone", "train", 0, "calm", "Calm.", 0, 1)),
        *(("tone", "train", 1, "cross", "Cross.", 0, 1), ("tone", "train", 2, "cross", "Cross.", 0, 1)),
    ]


@pytest.mark.slow
def test_teatime_is_checked(folder: Path, con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute("select count(*), sum(offending) from meta.checks").fetchall()[0][0] > 30
    (folder / "data" / "teatime" / "train" / "broken.txt").write_text("# Milk\nnobody says this\n")
    (folder / "data" / "teatime" / "train" / "bytes.txt").write_bytes(b"# Tea\nAnn: caf\xe9\n")
    (folder / "data" / "teatime" / "dev").mkdir()
    (folder / "data" / "teatime" / "dev" / "milk.txt").write_text("# Milk\nAnn: Yes.\n")
    build_in(folder, limit=QuarantineLimit("100%"))
    with talkhouse.open(folder / "w.duckdb") as again:
        findings = "select rule, source_file_id, pointer from meta.findings order by rule"
        assert again.execute(findings).fetchall() == [
            ("TEATIME-01", "teatime/train/broken.txt", "/1"),
            ("TH-02", "teatime/train/bytes.txt", ""),
            ("TH-05", "teatime/dev/milk.txt", None),
        ]
        assert again.execute("select count(*) from meta.quarantine").fetchall() == [(2,)]


@pytest.mark.slow
def test_an_exception_to_a_check_that_is_not_there_is_refused(folder: Path) -> None:
    declaration = folder / "corpora" / "teatime" / "__init__.py"
    text = declaration.read_text(encoding="utf-8").replace("Corpus, Rule", "Corpus, Exempt, Rule")
    exempt = '    exceptions=(Exempt("label_are_declared", "teatime.mood", "So."),),\n    read=read,\n'
    declaration.write_text(text.replace("    read=read,\n", exempt), encoding="utf-8")
    with pytest.raises(RegistryError, match="expected: one of: labels_are_declared"):
        build_in(folder)


def test_it_is_exported(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    output = tmp_path / "mood.jsonl"
    export(Warehouse(con), "teatime.mood", output, filters=Filters("train"))
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
    con, known = invented.con, invented.corpora
    scones = (sample_of(known["teatime"]) / "train" / "scones.txt").read_bytes()
    for name in ("teatime/train-scones", "teatime:train-scones", "scones", "teatime/train/scones.txt"):
        assert raw(con, name, known) == scones
    assert raw(con, "penpals/train.csv#/e2", known) == b'e2,Ben,"""Zero"" again?",cross\n'
    with pytest.raises(RegistryError, match="no code here reads or writes the corpus 'teatime'"):
        raw(con, "teatime/train-scones")


@pytest.mark.slow
def test_a_file_that_is_there_twice_makes_its_examples_once(tmp_path: Path) -> None:
    folder = laid_out(tmp_path, "bookclub")
    (folder / "data" / "bookclub" / "z").mkdir()
    shutil.copy(folder / "data" / "bookclub" / "train.json", folder / "data" / "bookclub" / "z")
    build_in(folder)
    with talkhouse.open(folder / "w.duckdb") as con:
        assert con.execute("select count(*) from bookclub.tagging_train").fetchall() == [(3,)]
        assert con.execute("select count(*) from main.records").fetchall() == [(5,)]
        write_back(con, corpora((folder / "corpora",))["bookclub"], folder / "restored")
    assert len([path for path in (folder / "restored").rglob("*") if path.is_file()]) == 3


@pytest.mark.slow
def test_their_predictions_are_scored_and_a_mistake_in_a_reader_is_told(tmp_path: Path) -> None:
    laid_out(tmp_path, *IDS)
    rows = [("test", 0, "+"), ("train", 0, "+"), ("train", 1, "+")]
    lines = [",".join(map(str, row)) + "\n" for row in (("split", "example_index", "label"), *rows)]
    (tmp_path / "moods.csv").write_text("".join(lines), encoding="utf-8")
    env = {"TALKHOUSE_CORPORA": str(tmp_path / "corpora"), "TALKHOUSE_DB": str(tmp_path / "w.duckdb")}

    def command(*arguments: str) -> str:
        shown = run(*arguments, cwd=tmp_path, env=env)
        assert shown.returncode == 0, shown.stderr
        return shown.stdout

    command("build")
    scored = json.loads(command("score", "teatime.mood", "moods.csv", "--json", "--by", "split"))
    values = {(metric["slice"], metric["name"]): (metric["value"], metric["official"]) for metric in scored["metrics"]}
    assert (scored["rows"], values[None, "kappa"], values[None, "accuracy"]) == (3, (0, True), (2 / 3, False))
    assert values["split=train", "F1 macro"] == (pytest.approx(1 / 3), False)
    assert values["split=test", "kappa"] == (None, True)
    assert "kappa" in command("score", "teatime.mood", "--baseline", "oracle", "--split", "train")
    oracle = json.loads(command("score", "bookclub.tagging", "--baseline", "oracle", "--split", "train", "--json"))
    assert [(metric["name"], metric["value"]) for metric in oracle["metrics"] if metric["official"]] == [("overlap", 1)]
    for corpus_id in IDS:
        assert "equal" in command("verify", "--corpus", corpus_id)
    before = (tmp_path / "w.duckdb").read_bytes()
    reader = tmp_path / "corpora" / "teatime" / "read.py"
    reader.write_text(reader.read_text(encoding="utf-8").replace("topic, lines = ", "topic, lines, _ = "))
    shutil.copytree(tmp_path / "corpora" / "teatime" / "sample", tmp_path / "data" / "teatime" / "more")
    shown = run("build", "--data", "data", "--corpus", "teatime", cwd=tmp_path, env=env)
    assert shown.returncode == 1
    assert "Traceback" not in shown.stderr
    assert "error: teatime/more/test/rain.txt: the reader of 'teatime' raised an exception" in shown.stderr
    assert "ValueError: not enough values to unpack (expected 3, got 2), in " in shown.stderr
    assert "/corpora/teatime/read.py, line " in shown.stderr
    assert (tmp_path / "w.duckdb").read_bytes() == before
