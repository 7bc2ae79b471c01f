"""Tasks: every example of every task is shown as its view has it, found without reading the view."""

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path
from typing import Any

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from talkhouse.dashboard import examples, links, warehouse
from talkhouse.dashboard.content.tasks import example_html
from talkhouse.escaping import visible
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.sql import dicts
from tests.commands import COMMAND
from tests.corpora.test_sixth_corpus import build_in, folder  # noqa: F401 - a fixture
from tests.lanes import first_quick
from tests.samples import RELEASES
from tests.talkhouse.dashboard.pages import draw, html, messages, prepared

BREAKDOWN = f"{RELEASES}.breakdown_detection"
TASKS = [view for view in catalogue().views if view.full_name in {task.full_name for task in catalogue().examples}]
ACTING = "<script>x</script> **b** `c` :red[d] $e$ \u202e\u05e9\u05dc\u05d5\u05dd \0 &amp; <b>"


def by_sql(
    con: duckdb.DuckDBPyConnection, name: str, grain: tuple[str, ...], where: str = "true"
) -> list[dict[str, Any]]:
    order = ", ".join(f"{column} nulls last" for column in grain)
    return dicts(con.execute(f"from {name} where {where} order by {order}"))


def texts(value: Any) -> list[str]:
    """Every text in a value, however deep."""
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) and value else []


def assert_shown(page: AppTest, row: dict[str, Any]) -> None:
    assert not page.exception
    assert not page.error
    shown = "\n".join([unescape(re.sub("<[^>]*>", "", line)) for line in re.split("<(?:li|div|span)[ >]", html(page))])
    for name, value in row.items():
        assert name in shown
        for text in texts(value):
            assert visible(text, lines=True) in shown, name


@pytest.mark.parametrize("task", first_quick(TASKS), ids=lambda task: task.full_name)
@pytest.mark.usefixtures("served")
def test_the_first_and_the_last_example_are_those_of_the_view(task: Any, con: duckdb.DuckDBPyConnection) -> None:
    rows = by_sql(con, task.full_name, task.grain)
    assert_shown(draw("tasks", task=task.full_name), rows[0])
    assert_shown(draw("tasks", task=task.full_name, example=len(rows)), rows[-1])


@pytest.mark.parametrize("task", first_quick(TASKS), ids=lambda task: task.full_name)
@pytest.mark.usefixtures("served")
def test_every_position_has_the_example_that_the_view_has_there(task: Any, con: duckdb.DuckDBPyConnection) -> None:
    opened = warehouse.current()
    view = examples.find_task(opened, task.full_name)
    sizes = examples.sizes(opened, view)
    rows = by_sql(con, task.full_name, task.grain)
    assert sum(size.count for size in sizes) == len(rows)
    step = max(len(rows) // 12, 1)
    for position in range(0, len(rows), step):
        assert examples.example(opened, view, examples.Choice(), position, sizes) == rows[position]
    for label, count in examples.label_counts(opened, view, examples.Choice()).items():
        choice = examples.Choice(label=label)
        having = [
            row for row in rows if label in ([row[view.label]] if isinstance(row[view.label], str) else row[view.label])
        ]
        assert count == len(having)
        assert examples.example(opened, view, choice, count - 1, sizes) == having[-1]


@pytest.mark.usefixtures("served")
def test_a_choice_leaves_its_examples_and_begins_with_the_first(con: duckdb.DuckDBPyConnection) -> None:
    page = draw("tasks", task="dbdc3.breakdown_detection", example=20)
    page.selectbox(key="task_split").select("dev").run()
    page.selectbox(key="task_release").select("dbdc3_revised").run()
    page.selectbox(key="task_label").select("X").run()
    where = "split = 'dev' and release = 'dbdc3_revised' and label = 'X'"
    rows = by_sql(con, "dbdc3.breakdown_detection", ("release", "split", "example_index"), where)
    assert_shown(page, rows[0])
    assert any(f"of {len(rows):,} " in caption.value for caption in page.caption)
    address = {"task_split": "dev", "task_release": "dbdc3_revised", "task_label": "X"}
    assert_shown(draw("tasks", task="dbdc3.breakdown_detection", example=len(rows), **address), rows[-1])


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_another_task_begins_anew(con: duckdb.DuckDBPyConnection) -> None:
    page = draw("tasks", task="dbdc3.breakdown_detection", task_split="eval", example=20)
    page.selectbox(key="task").select("mantis.intent_prediction").run()
    assert_shown(page, by_sql(con, "mantis.intent_prediction", ("split", "example_index"))[0])


@pytest.mark.usefixtures("served")
def test_an_address_that_names_what_is_not_there_shows_something() -> None:
    assert draw("tasks", task="no.task", task_split="none", example=10**9).get("html")


@pytest.mark.usefixtures("served")
def test_the_gold_candidate_is_marked(con: duckdb.DuckDBPyConnection) -> None:
    for name, where in {
        "mpchat.next_response_prediction": "candidates is not null",
        "blended_skill_talk.guided_response": "label_candidates is not null",
    }.items():
        task = examples.find_task(warehouse.current(), name)
        for row in by_sql(con, name, ("split", "example_index"), where):
            marked = re.findall(r'<li dir="auto" class="gold">(.*?)</li>', example_html(task, row, {}))
            answer = row.get("response") or row["label"]
            assert [unescape(re.sub("<[^>]*>", "", text)).strip() for text in marked] == [answer.strip()]


@pytest.mark.slow
def test_text_that_means_something_to_a_page_is_shown_as_it_is(changed: Callable[[str], Path]) -> None:
    acting = ACTING.replace("\0", "' || chr(0) || '")
    changed(f"update main.turns set text = '{acting}' where starts_with(dialogue_id, 'dbdc3:')")
    page = draw("tasks", task="dbdc3.breakdown_detection", example=2)
    assert "<script>" not in html(page)
    assert escape(visible(ACTING), quote=False) in html(page)


def test_null_the_empty_text_and_the_empty_list_are_told_apart() -> None:
    columns = tuple(examples.TaskColumn(name, "VARCHAR", "") for name in "abcd")
    task = examples.ExampleTask(
        "toy", "task", "", columns, ("split",), None, has_many_labels=False, scheme=None, meanings={}
    )
    shown = example_html(task, {"a": None, "b": "", "c": [], "d": ["", None, " "]}, {})
    assert [
        unescape(re.sub("<[^>]*>", "", line)) for line in re.findall(r'<div class="value">(.*?)</div></div>', shown)
    ] == ["null", "empty text", "empty list", 'empty textnull" "']


@pytest.mark.slow
def test_a_task_of_another_corpus_is_shown_by_its_columns(
    folder: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build_in(folder)
    monkeypatch.setenv("TALKHOUSE_DB", str(folder / "w.duckdb"))
    page = draw("tasks", task="teatime.mood", task_split="train", example=2)
    for text in ("Cream, always.", "Then we can&#39;t be friends.", "How it was taken, + or -."):
        assert text in html(page)


@pytest.mark.slow
@pytest.mark.usefixtures("empty")
def test_a_warehouse_without_corpora_says_so() -> None:
    assert [info.value for info in draw("tasks").info] == ["No task has examples in this warehouse."]


@pytest.mark.slow
def test_a_build_published_in_between_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.duckdb"
    monkeypatch.setenv("TALKHOUSE_DB", str(path))
    build(path, Silent(), only=("dbdc3",))
    page = draw("tasks")
    assert page.selectbox(key="task").options == ["dbdc3.breakdown_detection"]
    build(path, Silent(), only=("dbdc3", "mantis"))
    assert "mantis.response_ranking" in page.run().selectbox(key="task").options
    path.unlink()
    assert "there is no warehouse here" in messages(page.run())[0]


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["csv", "jsonl", "parquet"])
@pytest.mark.usefixtures("served")
def test_a_download_is_what_the_command_that_is_shown_writes(tmp_path: Path, file_format: str) -> None:
    page = draw("tasks", task="dbdc3.breakdown_detection", task_split="eval")
    (shown,) = messages(page)
    assert shown.startswith("talkhouse export dbdc3.breakdown_detection --split eval --output")
    page.session_state["file_format"] = file_format
    page.run()
    page.button(key="make_file").click().run()
    assert not page.error
    (shown,) = messages(page)
    subprocess.run([*COMMAND, *shlex.split(shown)[1:]], cwd=tmp_path, check=True, capture_output=True)
    name = f"dbdc3.breakdown_detection.eval.{file_format}"
    assert prepared(page).path.read_bytes() == (tmp_path / name).read_bytes()
    assert page.get("download_button")


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_a_download_of_one_label_has_its_rows(con: duckdb.DuckDBPyConnection) -> None:
    page = draw("tasks", task="mantis.intent_prediction", task_label="FD")
    page.session_state["file_format"] = "jsonl"
    page.run()
    page.button(key="make_file").click().run()
    assert not page.error
    lines = [json.loads(line) for line in prepared(page).path.read_text().splitlines()]
    assert lines == by_sql(con, "mantis.intent_prediction", ("split", "example_index"), "list_contains(intents, 'FD')")
    assert lines


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_a_file_that_was_made_is_offered_for_its_rows_alone() -> None:
    page = draw("tasks", task="dbdc3.breakdown_detection", task_split="eval")
    page.button(key="make_file").click().run()
    first = prepared(page).path
    assert page.get("download_button")
    page.selectbox(key="task_split").select("dev").run()
    assert not page.get("download_button")
    page.button(key="make_file").click().run()
    assert not first.exists()
    assert prepared(page).path.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_a_prediction_template_has_the_keys_of_the_examples(con: duckdb.DuckDBPyConnection) -> None:
    page = draw("tasks", task=BREAKDOWN, task_release=RELEASES, task_split="eval")
    page.session_state["file_content"] = "Prediction template"
    page.session_state["file_format"] = "jsonl"
    page.run()
    page.button(key="make_file").click().run()
    assert not page.error
    lines = [json.loads(line) for line in prepared(page).path.read_text().splitlines()]
    rows = by_sql(con, BREAKDOWN, ("release", "split", "example_index"), f"release = '{RELEASES}' and split = 'eval'")
    assert [line["example_index"] for line in lines] == [row["example_index"] for row in rows]
    assert {line["label"] for line in lines} == {None}


@pytest.mark.slow
@pytest.mark.usefixtures("served")
def test_an_example_leads_to_its_turn(con: duckdb.DuckDBPyConnection) -> None:
    page = draw("tasks", task=BREAKDOWN, example=3)
    row = by_sql(con, BREAKDOWN, ("release", "split", "example_index"))[2]
    (address,) = (button.proto.url for button in page.get("link_button") if button.proto.label == "The dialogue")
    assert address == links.read(row["dialogue_id"], row["turn_index"])


@pytest.mark.usefixtures("served")
def test_a_table_is_sorted_filtered_and_says_what_each_column_holds(con: duckdb.DuckDBPyConnection) -> None:
    def cells(page: AppTest, column: int) -> list[str]:
        assert not page.exception
        lines = re.findall("<tr>(<td.*?)</tr>", html(page), re.DOTALL)
        return [unescape(re.sub("<[^>]*>", "", re.findall("<td.*?</td>", line, re.DOTALL)[column])) for line in lines]

    name, grain = "dbdc3.breakdown_detection", ("release", "split", "example_index")
    page = draw("tasks", task=name, task_show="Table")
    rows = by_sql(con, name, grain)
    heads = re.findall("<th scope=.*?</th>", html(page), re.DOTALL)
    titles = [re.findall(">([^<]*)<", head)[0] for head in heads]
    assert {*titles} == {"Open", *rows[0]}
    at = titles.index("utterance")
    assert cells(page, at) == [row["utterance"] for row in rows[:20]]
    page.selectbox(key="sort_by").select("turn_index").run()
    page.toggle(key="descending").set_value(True).run()
    wanted = by_sql(con, name, ("turn_index desc", *grain))
    assert cells(page, at) == [row["utterance"] for row in wanted[:20]]
    page.selectbox(key="filter_by").select("utterance").run()
    page.text_input(key="contains").set_value("100%_'").run()
    assert [info.value for info in page.info] == ["No example contains this."]
    page.text_input(key="contains").set_value("WHAT").run()
    assert cells(page, at) == [row["utterance"] for row in wanted if "what" in row["utterance"].lower()][:20]
    share = sum(row["split"] == "eval" for row in rows) / len(rows)
    assert f"<span>eval</span> <b>{share:.0%}</b>" in heads[titles.index("split")]
    assert f"0 to {max(len(row['utterance']) for row in rows)} letters" in heads[at]
