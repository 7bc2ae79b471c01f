"""Every view is in the lake, and gives the same rows on an engine for Spark's SQL as in DuckDB."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import talkhouse
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora
from talkhouse.lake.write_lake import LakeOutcome, LakeResult, write_lake
from talkhouse.lake_format.documents import read_translation, sql
from talkhouse.lake_format.lake_manifest import read
from talkhouse.load.run import build
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.errors import LakeDamaged, UsageError
from talkhouse.spark import check as spark_check
from talkhouse.spark.check import Checked, check, compare_all
from talkhouse.spark.compare import ComparedRelation, SparkColumn, compare
from talkhouse.spark.sessions import attach
from talkhouse.translation import spark_query
from talkhouse.translation.translate import Outcomes, left_out_lines, translate
from talkhouse.translation.translated import (
    LeftOutView,
    NotTranslated,
    Outcome,
    Translated,
    TranslatedViews,
    View,
    check_query,
    functions,
)
from talkhouse.warehouse.opened import Warehouse
from tests.corpora.test_sixth_corpus import laid_out
from tests.data_files import data_of
from tests.lakes import lake_of
from tests.lanes import one_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def translation(small: Path) -> TranslatedViews:
    with talkhouse.open(small) as con:
        return translate(con, catalogue(), Warehouse(con).split_views)


def test_every_view_is_translated(translation: TranslatedViews, small: Path) -> None:
    with talkhouse.open(small) as con:
        views = con.execute("select schema_name, view_name from duckdb_views() where not internal").fetchall()
    assert {(view.schema, view.name) for view in translation.views} == set(views)


def test_a_view_comes_after_those_that_it_reads(translation: TranslatedViews) -> None:
    created: set[str] = set()
    names = {view.full_name for view in translation.views}
    for view in translation.views:
        assert {name for name in names - created if f" {name}\n" in f"{view.sql}\n"} == set(), view.full_name
        created.add(view.full_name)


@pytest.mark.slow
@pytest.mark.long
def test_every_view_gives_the_rows_that_it_gives_in_duckdb(filled: Path, tmp_path: Path, sail: "SparkSession") -> None:
    lake = lake_of(filled, tmp_path / "lake")
    attach(sail, lake)
    views = {view.full_name: view for view in read_translation(lake, read(lake)).views}
    with talkhouse.open(filled) as con:
        # Those of single splits are all made alike.
        of_splits = [name for name in views if name in Warehouse(con).split_views]
        names = [*(views.keys() - of_splits), *one_in(8, of_splits)]
        compared = {name: compare(con, sail, relation(views[name])) for name in names}
    assert {name: str(view.difference) for name, view in compared.items() if view.difference} == {}
    # No published corpus labels whole dialogues.
    assert [name for name, view in compared.items() if not view.rows] == ["bi.dialogue_labels"]


def relation(view: View) -> ComparedRelation:
    columns = tuple(SparkColumn(column.name, column.type, column.spark_type) for column in view.columns)
    return ComparedRelation(view.schema, view.name, tuple(view.grain), columns)


# The SQL of a view in a lake: a query that computes is taken, and nothing that does more.

REFUSED = data_of(__file__)["refused"]  # fmt: skip
TAKEN = [
    "SELECT 1",
    "WITH x AS (SELECT 'it\\'s; \"`' AS `a b`) SELECT upper(`a b`) FROM x AS y(z) WHERE z IN (1, 2.5e3)",
    "/* a comment; with a semicolon */ SELECT TRANSFORM(x, y -> y || 'z')[0] FROM main.turns AS t",
    "SELECT CAST(x AS DECIMAL(38, 10)), COUNT(*) FILTER(WHERE NOT (x % 2 <> 0)) OVER (PARTITION BY y) FROM bi.turns",
]


def test_a_query_that_does_more_than_compute_is_refused() -> None:
    for query in REFUSED:
        with pytest.raises(ValueError, match=r"quer|parenthesis"):
            check_query(query)
    for query in TAKEN:
        check_query(query)


def test_no_function_that_may_be_called_reaches_out() -> None:
    out = {"REFLECT", "TRY_REFLECT", "JAVA_METHOD", "CALL_FUNCTION", "CURRENT_USER", "INPUT_FILE_NAME", "XPATH"}
    assert not functions() & out
    assert len(functions()) > 400


@pytest.mark.slow
def test_a_lake_with_another_query_is_refused(lake: Path) -> None:
    path = lake / "snapshot-1" / "translation.json"
    good = json.loads(path.read_bytes())
    for query in REFUSED:
        good["views"][0]["sql"] = query
        path.write_text(json.dumps(good))
        with pytest.raises(LakeDamaged, match="the views of the lake can't be read"):
            sql(lake)


# Views that can't be translated: each fails alone, the build says so, and the lake has all the others.

DATA = data_of(__file__)

VIEWS = DATA["views"]
REASONS = DATA["reasons"]
READERS = {"over_anyone", "over_that", "mood_test", "mood_train"}


class Tea(NamedTuple):
    """A corpus of somebody's own whose views don't translate, in a warehouse of its own."""

    folder: Path
    warehouse: Path
    notes: list[str]

    @property
    def queries(self) -> Path:
        """Where its views are."""
        return self.folder / "corpora" / "teatime" / "queries"

    @property
    def corpus_roots(self) -> tuple[Path, ...]:
        """Where it is declared."""
        return (self.folder / "corpora",)

    def write(self, lake: Path, *, dry_run: bool = False) -> LakeResult:
        """Write a lake of it."""
        return write_lake(lake, [self.warehouse], Silent(), dry_run=dry_run)


def built(folder: Path, number: int = 0) -> Tea:
    path = folder / f"{number}.duckdb"
    tea = Tea(folder, path, [])
    return tea._replace(notes=build(path, Silent(), data=folder / "data", corpus_roots=tea.corpus_roots).notes)


@pytest.fixture(scope="module")
def tea(tmp_path_factory: pytest.TempPathFactory) -> Tea:
    """The corpus of the tutorial, with more views; its task's view can't be translated either."""
    folder = laid_out(tmp_path_factory.mktemp("tea"), "teatime")
    queries = folder / "corpora" / "teatime" / "queries"
    for name, text in VIEWS.items():
        (queries / f"{name}.sql").write_text(f"-- A row.\n-- grain: dialogue_id\n{text}\n")
    (queries / "macros").mkdir()
    (queries / "macros" / "odd.sql").write_text("-- Odd.\n(x) as strip_accents(x)\n")
    task = (queries / "mood.sql").read_text()
    more = "annotations.label,\n    any_value(annotations.label) over () as any_label,"
    (queries / "mood.sql").write_text(task.replace("annotations.label,", more))
    return built(folder)


@pytest.fixture(scope="module")
def tea_lake(tea: Tea, tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("tea") / "lake"
    tea.write(lake)
    return lake


def test_the_build_warns_of_each_view(tea: Tea) -> None:
    for name, words in REASONS.items():
        (note,) = (note for note in tea.notes if note.startswith(f"a lake leaves out teatime.{name}: "))
        assert f"can't be translated: {words}" in note
    assert [note for note in tea.notes if "over_" in note] == [
        "a lake leaves out teatime.anyone: can't be translated: any_value is not in the portable set, which is "
        "the same in Spark: ANY_VALUE(text); and with it what reads it: teatime.over_anyone, teatime.over_that"
    ]
    assert "a lake leaves out bi.example_labels: the labels of teatime.mood, which is left out" in tea.notes


@pytest.mark.slow
def test_the_lake_has_all_other_views(tea_lake: Path) -> None:
    manifest = read(tea_lake)
    translation = read_translation(tea_lake, manifest)
    assert {view.name: view.reason for view in translation.unportable if not view.because}.keys() == REASONS.keys()
    assert {view.name for view in translation.unportable if view.because} == READERS
    assert {view.schema for view in translation.views} >= {"bi", "dbdc3", "delidata", "mantis", "mpchat"}
    assert not {view.schema for view in translation.unportable} - {"teatime"}
    (labels,) = (view for view in translation.views if view.full_name == "bi.example_labels")
    assert labels.without == ["teatime.mood"]
    assert "teatime" not in labels.sql
    assert "delidata.deliberation_type" in labels.sql
    assert manifest.left_out == translation.left_out
    written = json.loads((tea_lake / "manifest.json").read_bytes())["left_out"]
    assert {"schema": "bi", "name": "example_labels", "part": "the labels of teatime.mood"}.items() <= written[
        -1
    ].items()


def test_asking_for_a_view_that_is_left_out_says_why(tea_lake: Path) -> None:
    with pytest.raises(UsageError, match="the type TIME: hour"):
        sql(tea_lake, "teatime.clock")
    with pytest.raises(UsageError, match=r"it reads teatime\.mood, which is left out"):
        sql(tea_lake, "teatime.mood_train")


@pytest.mark.slow
@pytest.mark.long
def test_the_other_views_are_equal_on_spark(tea_lake: Path, sail_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_lane(con: Any, spark: Any, relations: Sequence[ComparedRelation], *more: Any) -> Iterator[Checked]:
        """Compare those with rows of this corpus, and only some of the corpora of which there are no rows."""
        others = [relation for relation in relations if relation.schema in corpora()]
        chosen = [relation for relation in relations if relation not in others]
        return compare_all(con, spark, [*chosen, *one_in(8, others)], *more)

    monkeypatch.setattr(spark_check, "compare_all", of_lane)
    done = check(tea_lake, sail_url, Silent())
    assert done.different == []
    assert {view.name for view in done.left_out} == REASONS.keys() | READERS | {"example_labels"}


# Kept by what it depends on.


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    queries: list[str] = []
    translated = spark_query.translated

    def listening(sql: str, *rest: object) -> object:
        queries.append(sql)
        return translated(sql, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(spark_query, "translated", listening)
    return queries


@pytest.mark.slow
def test_nothing_is_translated_twice(tea: Tea, tea_lake: Path, asked: list[str]) -> None:
    again = tea.write(tea_lake, dry_run=True)
    assert again.outcome is LakeOutcome.UNCHANGED
    assert {view.name for view in again.left_out} == REASONS.keys() | READERS | {"example_labels"}
    assert built(tea.folder, 1).notes == tea.notes
    assert asked == []


@pytest.mark.slow
def test_of_a_new_catalogue_only_the_new_views_are_translated(tea: Tea, asked: list[str]) -> None:
    path = tea.queries / "new.sql"
    path.write_text("-- A row.\n-- grain: dialogue_id\nselect dialogue_id from main.dialogues\n")
    try:
        assert built(tea.folder, 2).notes == tea.notes
    finally:
        path.unlink()
    assert asked == ["select dialogue_id from main.dialogues"]


DAMAGED: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut off": lambda whole: whole[:-20],
    "one bit": lambda whole: whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
    "something else": lambda _: b"x" * 100,
}


@pytest.mark.slow
def test_what_is_kept_and_damaged_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    outcomes = Outcomes()
    outcomes.get_or_make("key", lambda: NotTranslated("can't be translated: a reason"))
    outcomes.keep()
    (file,) = (tmp_path / "talkhouse").iterdir()
    whole = file.read_bytes()
    for name, damage in DAMAGED.items():
        file.write_bytes(damage(whole))
        assert Outcomes().get_or_make("key", lambda: NotTranslated("made again")) == NotTranslated("made again"), name
    file.write_bytes(whole)
    found = Outcomes().get_or_make("key", lambda: NotTranslated("again"))
    assert found.reason.endswith("a reason")  # type: ignore[union-attr]


def test_what_reads_a_view_that_is_left_out_is_told_with_it() -> None:
    views = [
        LeftOutView("toy", "a", "can't be translated: x"),
        LeftOutView("toy", "b", "it reads toy.a, which is left out", because="toy.a"),
        LeftOutView("bi", "all", "toy.a is left out", "the labels of toy.a", "toy.a"),
    ]
    assert left_out_lines(views) == [
        "toy.a: can't be translated: x; and with it what reads it: toy.b",
        "bi.all: the labels of toy.a, which is left out",
    ]


def test_the_page_says_what_is_portable() -> None:
    page = (Path(__file__).parents[3] / "docs" / "sixth-corpus.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*) \| (`.*) \|$", page.partition("## Portable SQL")[2], re.MULTILINE)
    assert len(rows) > 8
    for instead, write in rows:
        (refused,) = re.findall("`(.*?)`", instead)
        assert isinstance(outcome(refused), NotTranslated), refused
        for taken in re.findall(r"`(\S.*?)`", write.replace("a `with` that", "")):
            assert isinstance(outcome(taken), Translated), taken


def outcome(expression: str) -> Outcome:
    group = " group by dialogue_id" if re.match(r"list|any|min", expression) else ""
    return spark_query.translated(f"select {expression} as x from main.turns{group}", [], [("x", "VARCHAR")])
