"""Whole dialogues for Label Studio and Argilla: the documented formats, what is chosen, and the programs themselves."""

import json
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import pytest

from talkhouse.export.formats import Tool
from talkhouse.export.selection import NO_FILTERS, Filters
from talkhouse.notes.notes_file import NewNote, NoteNow, add, hashes, path_for, read, with_states
from talkhouse.packages.argilla import LAYOUT as ARGILLA_LAYOUT
from talkhouse.packages.export import export_package
from talkhouse.packages.labelstudio import LAYOUT as STUDIO_LAYOUT
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.opened import Warehouse
from tests.samples import RELEASES

LAYOUTS = (STUDIO_LAYOUT, ARGILLA_LAYOUT)


def exported(
    con: duckdb.DuckDBPyConnection,
    tool: Tool,
    folder: Path,
    name: str,
    filters: Filters = NO_FILTERS,
    notes: list[NoteNow] | None = None,
) -> Any:
    export_package(Warehouse(con), name, tool, folder, filters=filters, is_accepted=True, notes=notes)
    return json.loads(next(path for path in folder.glob("*s.json")).read_text("utf-8"))


def test_label_studio_gets_each_dialogue_as_paragraphs_with_its_majority_labels(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    tasks = exported(con, Tool.LABELSTUDIO, tmp_path / "package", RELEASES)
    expected = con.execute(
        "select dialogue_id, list(text order by turn_index) from main.turns "
        "where starts_with(dialogue_id, $corpus || ':') group by all order by all",
        {"corpus": RELEASES},
    ).fetchall()
    assert [
        (task["data"]["dialogue_id"], [turn["text"] for turn in task["data"]["dialogue"]]) for task in tasks
    ] == expected
    majorities = con.execute(
        "select count(*) from bi.turn_agreement where is_default and starts_with(dialogue_id, $corpus || ':')",
        {"corpus": RELEASES},
    ).fetchall()
    results = [
        (task, result) for task in tasks for prediction in task["predictions"] for result in prediction["result"]
    ]
    assert [(len(results),)] == majorities
    config = ElementTree.fromstring((tmp_path / "package" / "label_config.xml").read_text())  # noqa: S314 - ours
    known = {scheme.get("name"): [label.get("value") for label in scheme] for scheme in config.iter("ParagraphLabels")}
    for task, result in results:
        value = result["value"]
        text = task["data"]["dialogue"][int(value["start"])]["text"]
        assert text.encode("utf-16-le")[: 2 * value["endOffset"]].decode("utf-16-le") == text
        assert value["paragraphlabels"][0] in known[result["from_name"]]


RATED = f"""
insert into main.schemes (scheme, description, target)
select '{RELEASES}.' || unnest(['rating', 'topics', 'length']), '', 'dialogue';
insert into main.labels (scheme, label, label_index)
values ('{RELEASES}.rating', 'good', 0), ('{RELEASES}.rating', 'bad', 1), ('{RELEASES}.topics', 'rain', 0);
create temp table rated as
select record_id, dialogue_id from main.records semi join bi.record_dialogues using (record_id, dialogue_id)
where corpus_id = '{RELEASES}' and dialogue_id is not null;
insert into main.annotations (record_id, dialogue_id, scheme, annotator_index, item_index, label, value)
select record_id, dialogue_id, '{RELEASES}.' || scheme, annotator, item, label, value
from rated, (values
    ('rating', 0, 0, 'bad', null), ('rating', 1, 0, 'bad', null), ('rating', 2, 0, 'good', null),
    ('topics', 0, 0, 'rain', null), ('topics', 0, 1, 'rain', null), ('length', 0, 0, null, 2.0)
) as given (scheme, annotator, item, label, value);
"""
"""Labels of whole dialogues: a rating by three, several topics, and a number."""


def test_labels_of_a_dialogue_are_choices_and_suggestions(writable: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    writable.execute(RATED)
    tasks = exported(writable, Tool.LABELSTUDIO, tmp_path / "tasks", RELEASES)
    assert tasks
    for task in tasks:
        (choice,) = (part for part in task["predictions"][0]["result"] if part["type"] == "choices")
        assert choice["value"] == {"choices": ["bad"]}
    config = ElementTree.fromstring((tmp_path / "tasks" / "label_config.xml").read_text())  # noqa: S314 - ours
    (control,) = config.iter("Choices")
    assert (control.get("name"), [item.get("value") for item in control]) == (choice["from_name"], ["good", "bad"])
    records = exported(writable, Tool.ARGILLA, tmp_path / "records", RELEASES)
    suggested = {RELEASES + "_rating": {"value": "bad", "agent": "published labels"}}
    assert all(record["suggestions"] == suggested for record in records)
    settings = json.loads((tmp_path / "records" / "dataset.json").read_text("utf-8"))
    assert [question["name"] for question in settings["questions"]] == [*suggested, "comment"]


def test_labels_that_a_program_does_not_have_are_named(writable: duckdb.DuckDBPyConnection) -> None:
    writable.execute(RATED)
    topics, turns = f"by {RELEASES}.length, {RELEASES}.topics", f"labels of turns by {RELEASES}."
    studio, argilla = (layout.plan(Warehouse(writable), RELEASES, NO_FILTERS, None).notes for layout in LAYOUTS)
    assert [topics in note for note in studio] == [True]
    assert [topics in note or turns in note for note in argilla] == [True, True]


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
from unittest.mock import MagicMock
import argilla
from argilla.records._io._json import JsonIO
argilla.Argilla._get_default = classmethod(lambda _: MagicMock())  # no server is asked
settings = argilla.Settings.from_json("dataset.json")
settings.validate()
records = JsonIO._records_from_json("records.json")
written = json.load(open("records.json"))
assert [record.fields.to_dict() for record in records] == [record["fields"] for record in written]
for record in records:
    for suggestion in record.suggestions:
        values = suggestion.value if isinstance(suggestion.value, list) else [suggestion.value]
        known = getattr(settings.questions[suggestion.question_name], "labels", values)
        assert set(values) <= set(known)
assert [sorted(one.question_name for one in record.suggestions) for record in records if len(record.suggestions) > 1]
print(len(records))
"""


@pytest.mark.packages
@pytest.mark.parametrize(
    ("tool", "library", "script"),
    [(Tool.LABELSTUDIO, "label-studio-sdk", LABEL_STUDIO), (Tool.ARGILLA, "argilla", ARGILLA)],
)
def test_the_programs_read_it(
    writable: duckdb.DuckDBPyConnection, tmp_path: Path, tool: Tool, library: str, script: str
) -> None:
    writable.execute(RATED)
    ((dialogue_id,),) = writable.execute(
        f"select dialogue_id from main.turns where starts_with(dialogue_id, '{RELEASES}:') "
        "and turn_index = 1 and text <> '' order by all limit 1"
    ).fetchall()
    known = hashes(writable, [dialogue_id])
    notes = [
        NewNote(dialogue_id, turn, known[dialogue_id, turn], label, words, "me", "page")
        for turn, label, words in (
            (1, "wrong $gold", "see <b>"),
            (1, None, "only"),
            (None, "a", "b"),
            (None, "c", None),
        )
    ]
    add(tmp_path / "w.duckdb", notes)
    now = with_states(writable, read(path_for(tmp_path / "w.duckdb")))
    documents = exported(writable, tool, tmp_path / "package", RELEASES, notes=now)
    command = ["uv", "run", "--no-project", "--with", library, "python", "-c", script]
    done = subprocess.run(command, cwd=tmp_path / "package", capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(len(documents))
