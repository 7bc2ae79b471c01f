"""Whole dialogues for Label Studio and Argilla: the documented formats, what is chosen, and the programs themselves."""

import json
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import pytest

from talkhouse.packages.export import export_package
from talkhouse.query.formats import Tool
from talkhouse.query.selection import NO_FILTERS, Filters
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.opened import Warehouse
from tests.samples import RELEASES


def exported(con: duckdb.DuckDBPyConnection, tool: Tool, folder: Path, name: str, filters: Filters = NO_FILTERS) -> Any:
    export_package(Warehouse(con), name, tool, folder, filters=filters, is_accepted=True)
    return json.loads(next(path for path in folder.glob("*s.json")).read_text("utf-8"))


def test_label_studio_gets_each_dialogue_as_paragraphs_with_its_majority_labels(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    tasks = exported(con, Tool.LABELSTUDIO, tmp_path / "package", RELEASES)
    said = con.execute(
        "select dialogue_id, list(text order by turn_index) from main.turns "
        "where starts_with(dialogue_id, $corpus || ':') group by all order by all",
        {"corpus": RELEASES},
    ).fetchall()
    assert [
        (task["data"]["dialogue_id"], [turn["text"] for turn in task["data"]["dialogue"]]) for task in tasks
    ] == said
    majorities = con.execute(
        "select count(*) from bi.turn_agreement where is_default and starts_with(dialogue_id, $corpus || ':')",
        {"corpus": RELEASES},
    ).fetchall()
    results = [(task, result) for task in tasks for one in task["predictions"] for result in one["result"]]
    assert [(len(results),)] == majorities
    config = ElementTree.fromstring((tmp_path / "package" / "label_config.xml").read_text())  # noqa: S314 - ours
    known = {scheme.get("name"): [label.get("value") for label in scheme] for scheme in config.iter("ParagraphLabels")}
    for task, result in results:
        value = result["value"]
        text = task["data"]["dialogue"][int(value["start"])]["text"]
        assert text.encode("utf-16-le")[: 2 * value["endOffset"]].decode("utf-16-le") == text
        assert value["paragraphlabels"][0] in known[result["from_name"]]


def test_argilla_gets_what_is_chosen_as_chats(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    (dialogue_id, size), *_ = con.execute(
        "select dialogue_id, count(*) from main.turns group by all order by 2"
    ).fetchall()
    records = exported(
        con, Tool.ARGILLA, tmp_path / "package", "main.dialogues", Filters(where=f"dialogue_id = '{dialogue_id}'")
    )
    assert [(record["id"], record["metadata"]["turns"]) for record in records] == [(dialogue_id, size)]
    assert {key for turn in records[0]["fields"]["dialogue"] for key in turn} == {"role", "content"}


def test_what_has_no_whole_dialogues_is_refused(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    for name, filters in (("main.turns", NO_FILTERS), ("main.dialogues", Filters(where="false"))):
        with pytest.raises(UsageError):
            exported(con, Tool.ARGILLA, tmp_path / "package", name, filters)
    assert not (tmp_path / "package").exists()


LABEL_STUDIO = """
import json, sys
from label_studio_sdk.label_interface import LabelInterface
interface = LabelInterface(open("label_config.xml").read())
interface.validate()
tasks = json.load(open("tasks.json"))
for task in tasks:
    predictions = task.pop("predictions")
    assert interface.validate_task(task), task
    assert all(map(interface.validate_prediction, predictions)), predictions
print(len(tasks))
"""

ARGILLA = """
import json
from argilla.records._io._json import JsonIO
records = JsonIO._records_from_json("records.json")
written = json.load(open("records.json"))
assert [record.fields.to_dict() for record in records] == [record["fields"] for record in written]
print(len(records))
"""


@pytest.mark.packages
@pytest.mark.parametrize(
    ("tool", "library", "script"),
    [(Tool.LABELSTUDIO, "label-studio-sdk", LABEL_STUDIO), (Tool.ARGILLA, "argilla", ARGILLA)],
)
def test_the_programs_read_it(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, tool: Tool, library: str, script: str
) -> None:
    documents = exported(con, tool, tmp_path / "package", RELEASES)
    command = ["uv", "run", "--no-project", "--with", library, "python", "-c", script]
    done = subprocess.run(command, cwd=tmp_path / "package", capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(len(documents))
