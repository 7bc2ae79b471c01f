"""What a package of a corpus or view has: configurations, splits and their names, classes in the declared order."""

import re
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import talkhouse
from talkhouse.export.selection import Filters
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.packages.content import Config, ExportPackage
from talkhouse.packages.plan import file_name, plan
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.opened import Warehouse
from tests.samples import GROUPS, POSTS, RELEASES
from tests.talkhouse.toy import declare

TASK = f"{RELEASES}.breakdown_detection"
Connection = duckdb.DuckDBPyConnection


def planned(con: Connection, name: str, **options: dict[str, str]) -> ExportPackage:
    return plan(Warehouse(con), name, **options)  # type: ignore[arg-type]


def labels(config: Config) -> dict[str, list[str]]:
    return {each.column: [label.label for label in each.labels] for each in config.classes}


def splits(config: Config) -> list[tuple[str | None, str]]:
    return [(split.published, split.name) for split in config.splits]


@pytest.mark.slow
def test_a_corpus_has_its_task_views_and_their_rows(con: Connection) -> None:
    package = planned(con, POSTS)
    tasks = ["intent_prediction", *(f"response_ranking{size}" for size in ("", "_10", "_50"))]
    assert [config.name for config in package.configs] == tasks
    for config in package.configs:
        counts = con.execute(f"select split, count(*) from {config.selection.source} group by all").fetchall()
        assert {split.published: split.rows for split in config.splits} == dict(counts)
        assert [split.name for split in config.splits] == ["train", "dev", "test"]
        assert [split.standard for split in config.splits] == ["train", "validation", "test"]
    assert [corpus["corpus_id"] for corpus in package.corpora] == [POSTS]
    (intents,) = package.configs[0].classes
    query = f"select label, meaning from main.labels where scheme = '{POSTS}.intent' order by label_index"
    assert [(label.label, label.meaning) for label in intents.labels] == con.execute(query).fetchall()
    assert (intents.column, intents.is_list) == ("intents", True)
    assert package.configs[0].task_category == "text-classification"


@pytest.mark.parametrize("name", [TASK, f"{TASK}_eval"])
def test_classes_are_in_the_declared_order(con: Connection, name: str) -> None:
    config = planned(con, name).configs[0]
    assert labels(config) == {"label": list("OTX"), "label_at_half": list("OTX"), "lenient_label": ["O_l", "X_l"]}
    assert all(label.meaning for label in config.classes[0].labels)


def test_a_task_of_several_releases_has_each_example_once_and_each_release_whole(con: Connection) -> None:
    found = {config.name: config.rows for config in planned(con, TASK).configs}
    every = con.execute(f"select release, dialogue_id, turn_index from {TASK}").fetchall()
    releases = Counter(release for release, *_ in every)
    assert len(releases) == 3
    once = len({tuple(turn) for _, *turn in every})
    assert found == {
        "breakdown_detection": once,
        **{f"breakdown_detection_{release}": count for release, count in releases.items()},
    }
    narrowed = planned(con, TASK, filters=Filters(release="dbdc3")).configs
    assert [(config.name, config.rows) for config in narrowed] == [("breakdown_detection", releases["dbdc3"])]


@pytest.mark.slow
def test_without_a_scheme_the_labels_are_those_of_the_score(con: Connection) -> None:
    found = {config.name: labels(config).get("label") for config in planned(con, GROUPS).configs}
    assert found["change_of_mind"] == ["+", "-", "0"]
    assert found["outcome"] == ["gain", "same", "loss"]
    assert all(label.meaning for label in planned(con, f"{GROUPS}.outcome").configs[0].classes[0].labels)
    assert found["deliberation_type"] == ["Probing", "Non-probing-deliberation", "None", "0"]
    assert found["probing_generation"] is None


def relabel(con: Connection, label: str) -> None:
    con.execute(f"create table main.stored as from {TASK}")
    con.execute("update main.stored set label = ? where example_index = 0 and split = 'dev'", [label])
    con.execute(f"create or replace view {TASK} as from main.stored")


@pytest.mark.slow
def test_a_label_that_came_after_the_declaration_has_the_last_number(writable: Connection) -> None:
    relabel(writable, "A")
    for label in ("Z", "A"):
        writable.execute(f"insert into main.labels (scheme, label) values ('{RELEASES}.breakdown', ?)", [label])
    assert labels(planned(writable, TASK).configs[0])["label"] == ["O", "T", "X", "A", "Z"]


@pytest.mark.slow
@pytest.mark.parametrize("label", ["", " ", "o", "1"])
def test_a_value_without_a_name_stops_the_export(writable: Connection, label: str) -> None:
    relabel(writable, label)
    with pytest.raises(UsageError, match=r"'label' has values that are not among its labels[\s\S]*O, T, X") as raised:
        planned(writable, TASK)
    assert f"'{label}'" in str(raised.value)
    assert labels(plan(Warehouse(writable), TASK, Filters(split="eval")).configs[0])["label"] == ["O", "T", "X"]


@pytest.mark.slow
def test_the_classes_of_a_view_without_scheme_and_score_are_what_occurs_in_all_rows(
    writable: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from talkhouse.packages import plan as plan_module

    declared = plan_module.ClassColumn("utterance_kind", False, None, ())
    monkeypatch.setattr(plan_module, "_declared", lambda *_: [declared])
    columns = "case when example_index % 2 = 0 then 'b' when example_index % 3 = 0 then 'a' end as utterance_kind"
    writable.execute(f"create table main.stored as select *, {columns} from {TASK}")
    writable.execute(f"create or replace view {TASK} as from main.stored")
    package = plan(Warehouse(writable), TASK, Filters(where="example_index = 0"))
    assert labels(package.configs[0]) == {"utterance_kind": ["a", "b"]}


def with_splits(con: Connection, names: list[str | None]) -> None:
    con.execute("create or replace table main.odd (split varchar, i integer)")
    con.executemany("insert into main.odd values (?, 1)", [[name] for name in names])


@pytest.mark.slow
def test_splits_are_named_so_that_loaders_and_files_can_have_them(writable: Connection) -> None:
    published = ["test", "dev-2", "b.c", "train", "validation", "10 % of it", ".x", "é", "", "../up", None]
    with_splits(writable, [*published, "dev-2"])
    (config,) = planned(writable, "odd").configs
    assert splits(config) == [
        ("train", "train"), ("validation", "validation"), ("test", "test"), ("", "_"), ("../up", "_up"), (".x", "_x"),
        ("10 % of it", "10_of_it"), ("b.c", "b.c"), ("dev-2", "dev_2"), ("é", "é"), (None, "all"),
    ]  # fmt: skip
    assert [split.rows for split in config.splits if split.published == "dev-2"] == [2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "match"),
    [
        (["a b", "a-b"], r"'a_b': '(a b|a-b)' and '(a b|a-b)'"),
        (["all", None], r"'train': 'all' and the rows without a split"),
        (["ALL", "train"], r"'train': 'train' and 'ALL'"),
        (["train", None], r"'train': 'train' and the rows without a split"),
    ],
)
def test_two_splits_of_one_name_are_an_error(writable: Connection, names: list[str | None], match: str) -> None:
    with_splits(writable, names)
    with pytest.raises(UsageError, match=match + r"\n.*export them apart"):
        planned(writable, "odd", reserved={"all": "train"})


@pytest.mark.slow
def test_all_is_another_name_only_where_it_is_reserved(writable: Connection) -> None:
    with_splits(writable, ["all", "train"])
    assert splits(planned(writable, "odd").configs[0]) == [("train", "train"), ("all", "all")]
    with_splits(writable, ["all"])
    assert splits(planned(writable, "odd", reserved={"all": "train"}).configs[0]) == [("all", "train")]


@pytest.mark.slow
def test_a_view_without_splits_is_one(writable: Connection) -> None:
    for name in ("main.turns", "main.corpora"):
        assert splits(planned(writable, name).configs[0]) == [(None, "all")]
    writable.execute("create table main.whole as select 7 as split")
    assert splits(planned(writable, "whole").configs[0]) == [(None, "all")]


def test_views_without_rows_are_refused_or_left_out(con: Connection) -> None:
    with pytest.raises(UsageError, match=r"there are no rows of main.parts to export"):
        planned(con, "main.parts")
    with pytest.raises(UsageError, match=rf"no row of {TASK} is left"):
        plan(Warehouse(con), TASK, Filters(where="example_index < 0"))


@pytest.mark.slow
def test_a_corpus_leaves_out_the_views_of_which_filters_leave_nothing(con: Connection) -> None:
    package = plan(Warehouse(con), POSTS, Filters(where="example_index >= 100"))
    assert [config.name for config in package.configs] == ["response_ranking_50"]
    left_out = ("intent_prediction", "response_ranking", "response_ranking_10")
    assert package.left_out == tuple(f"{POSTS}.{name}" for name in left_out)
    with pytest.raises(UsageError, match=r"has no rows of the split 'cached'"):
        plan(Warehouse(con), POSTS, Filters(split="cached"))
    with pytest.raises(UsageError, match=rf"does not fit {POSTS}"):
        plan(Warehouse(con), POSTS, Filters(where="no_such_column = 1"))


@pytest.mark.slow
def test_a_corpus_leaves_out_what_has_no_rows_and_says_so(writable: Connection) -> None:
    writable.execute(f"create table main.none as from {GROUPS}.outcome where false")
    writable.execute(f"create or replace view {GROUPS}.outcome as from main.none")
    package = planned(writable, GROUPS)
    assert package.left_out == (f"{GROUPS}.outcome",)
    assert "outcome" not in {config.name for config in package.configs}


@pytest.mark.slow
def test_a_corpus_without_tasks_has_tables_to_name(tmp_path: Path) -> None:
    roots = declare(tmp_path)
    (tmp_path / "data" / "toy").mkdir(parents=True)
    (tmp_path / "data" / "toy" / "a.txt").write_text("one\ntwo\n")
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data", corpus_roots=roots)
    with talkhouse.open(tmp_path / "w.duckdb") as con:
        with pytest.raises(UsageError, match=r"the corpus toy has no tasks[\s\S]*such as main\.turns"):
            planned(con, "toy")
        (config,) = planned(con, "main.turns").configs
        assert (config.rows, config.task_category, config.classes) == (2, None, ())


def test_a_name_that_is_none_is_answered_with_corpora_and_views(con: Connection) -> None:
    with pytest.raises(UsageError, match=r"no corpus, view or table 'dbdc'") as raised:
        planned(con, "dbdc")
    assert re.search(rf"expected: one of: {RELEASES}, bi\.{RELEASES}_\w+", str(raised.value))
    with pytest.raises(UsageError, match=r"expected: one of: (\w+, )+\w+\n"):
        planned(con, "nothing_alike")


@given(st.text())
@example("a b")
@example("..")
@example("x.")
@example("a..b")
def test_every_name_becomes_one_that_files_can_have(name: str) -> None:
    changed = file_name(name)
    assert re.fullmatch(r"\w+(\.\w+)*", changed)
    assert file_name(changed) == changed
    assert changed == name or not re.fullmatch(r"\w+(\.\w+)*", name)
