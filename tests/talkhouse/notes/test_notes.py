"""Notes: written, listed, taken back, and never lost or mixed up, whatever becomes of the texts and of the files."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from filelock import FileLock

from talkhouse.notes.notes_file import (
    FILE,
    LIMITS,
    NewNote,
    add,
    check_new,
    dialogue_hash,
    path_for,
    read,
    remove,
    text_hash,
)
from talkhouse.schema.errors import SchemaMismatch, TalkhouseError, UsageError
from talkhouse.system.atomic_output import private_folder_path
from tests.commands import COMMAND
from tests.commands import run as start
from tests.samples import RELEASES
from tests.talkhouse.scores.test_saved_runs import database

DIALOGUE = f"{RELEASES}:CIC9001"
HOSTILE = "<b>*bold*</b> [a](http://x) \x1b[31m\u202e\t$x `'\""


def texts(warehouse: Path, dialogue_id: str = DIALOGUE) -> dict[int, str]:
    query = "select turn_index, text from main.turns where dialogue_id = ? order by all"
    with duckdb.connect(warehouse, read_only=True) as con:
        return dict(con.execute(query, [dialogue_id]).fetchall())


def note(
    warehouse: Path, turn: int | None, label: str | None = "odd", words: str | None = None, author: str = "me"
) -> NewNote:
    turns = texts(warehouse)
    sha256 = dialogue_hash(turns.values()) if turn is None else text_hash(turns[turn])
    return NewNote(DIALOGUE, turn, sha256, label, words, author, "command")


def listed(warehouse: Path, *options: str) -> list[dict[str, Any]]:
    done = start("notes", "--json", *options, cwd=warehouse.parent)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_a_note_is_written_and_listed_exactly(warehouse: Path) -> None:
    turns = texts(warehouse)
    done = start("notes", "--add", f"{DIALOGUE}#4", "--label", "odd", "--note", HOSTILE, cwd=warehouse.parent)
    assert done.stdout == "Wrote note 1\n", done.stderr
    (stored,) = read(path_for(warehouse))
    assert (stored.turn_index, stored.label, stored.note) == (4, "odd", HOSTILE)
    assert stored.text_sha256 == hashlib.sha256(turns[4].encode()).hexdigest()
    lines = start("notes", "--label", "odd", "--corpus", RELEASES, "--state", "fits", cwd=warehouse.parent)
    assert lines.stdout.split("\t")[:4] == ["1", "fits", f"{DIALOGUE}#4", "odd"]
    assert "\x1b" not in lines.stdout
    assert lines.stderr == "1 note: 1 fits\n"
    whole = NewNote(DIALOGUE, None, text_hash(""), "x" * 200, "y" * 10_000, "z" * 200, "command")
    check_new(whole)
    wrong: list[dict[str, object]] = [{name: "x" * (most + 1)} for name, most in LIMITS.items()]
    for fields in (*wrong, {"label": None, "note": None}, {"author": " "}, {"label": "\ud800"}):
        with pytest.raises(UsageError):
            check_new(NewNote(**{**vars(whole), **fields}))


@pytest.mark.slow
def test_the_same_note_is_written_once_and_no_number_comes_again(warehouse: Path) -> None:
    hashes = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}\n" for text in texts(warehouse).values())
    new = note(warehouse, None), note(warehouse, None), note(warehouse, 2, None, "words")
    assert add(warehouse, new) == [1, None, 2]
    assert add(warehouse, new) == [None, None, None]
    assert remove(warehouse, 2).note == "words"
    assert add(warehouse, new) == [None, None, 3]
    assert [row.note_id for row in read(path_for(warehouse))] == [1, 3]
    assert read(path_for(warehouse))[0].text_sha256 == hashlib.sha256(hashes.encode()).hexdigest()
    with pytest.raises(UsageError, match="there is no note 2"):
        remove(warehouse, 2)


@pytest.mark.slow
def test_notes_may_be_read_by_whom_the_warehouse_may_be_read_by(warehouse: Path) -> None:
    warehouse.chmod(0o440)
    add(warehouse, [note(warehouse, None)])
    assert path_for(warehouse).stat().st_mode & 0o007 == 0
    path_for(warehouse).chmod(0o600)
    add(warehouse, [note(warehouse, 2)])
    assert path_for(warehouse).stat().st_mode & 0o777 == 0o600


def change(warehouse: Path, sql: str) -> None:
    """Put a changed copy in the place of a warehouse, as a build does."""
    copy = Path(shutil.copyfile(warehouse, warehouse.with_name("changed.duckdb")))
    with duckdb.connect() as con:
        con.execute(f"attach '{copy}' as changed; use changed; {sql}")
    copy.replace(warehouse)


MOVED = f"dialogue_id = '{DIALOGUE}' and turn_index = 40"
CHANGES = f"""
update main.turns set text = 'something else' where dialogue_id = '{DIALOGUE}' and turn_index = 2;
update main.turns set turn_index = 40 where dialogue_id = '{DIALOGUE}' and turn_index = 4;
delete from main.turns where dialogue_id = '{DIALOGUE}' and turn_index = 6;
"""


@pytest.mark.slow
def test_each_note_says_what_became_of_its_text(warehouse: Path) -> None:
    new = [note(warehouse, turn, words=HOSTILE) for turn in (None, 0, 2, 4, 6)]
    add(warehouse, [*new, NewNote("nowhere:1", 3, text_hash("x"), "=odd", None, "me", "command")])
    file = path_for(warehouse).read_bytes()
    change(warehouse, CHANGES)
    found = {
        (row["dialogue_id"], row["turn_index"]): (row["state"], row["turn_index_now"]) for row in listed(warehouse)
    }
    assert found == {
        (DIALOGUE, None): ("changed", None),
        (DIALOGUE, 0): ("fits", 0),
        (DIALOGUE, 2): ("changed", 2),
        (DIALOGUE, 4): ("moved", 40),
        (DIALOGUE, 6): ("gone", 6),
        ("nowhere:1", 3): ("gone", 3),
    }
    query = f"""select note_id, case when turns.text is null then 'no such turn'
        when sha256(turns.text) = text_sha256 then 'fits' else 'another text' end as state
        from notes.notes left join main.turns using (dialogue_id, turn_index)
        where dialogue_id = '{DIALOGUE}' and turn_index is not null order by turn_index"""
    rows = json.loads(start("sql", query, "--format", "json", cwd=warehouse.parent).stdout)
    assert [row["state"] for row in rows] == ["fits", "another text", "no such turn", "no such turn"]
    assert [row["note_id"] for row in listed(warehouse, "--state", "gone")] == [5, 6]
    for name in ("notes.csv", "notes.parquet", "notes.jsonl"):
        done = start("notes", "--output", name, cwd=warehouse.parent)
        assert done.returncode == 0, done.stderr
        with duckdb.connect() as con:
            rows = con.execute(
                "select note, count(*) from "
                f"'{warehouse.with_name(name)}' where dialogue_id = '{DIALOGUE}' group by all"
            ).fetchall()
        assert rows == [(HOSTILE, 5)]
        if "csv" in name:  # as a colleague would, who has the texts
            done = start("notes", "--take", name, "--unmatched", "skip", cwd=warehouse.parent)
            assert done.stdout == "Took 0 notes; 1 was there already\n", done.stderr
    assert start("notes", "--output", "notes.csv", cwd=warehouse.parent).returncode == 2
    assert start("notes", "--output", "escaped.tsv", "--escape-formulas", cwd=warehouse.parent).returncode == 0
    assert '\t"\'=odd"\t' in warehouse.with_name("escaped.tsv").read_text()
    assert path_for(warehouse).read_bytes() == file
    change(warehouse, f"insert into main.turns select * replace (41 as turn_index) from main.turns where {MOVED}")
    assert [row["state"] for row in listed(warehouse) if row["turn_index"] == 4] == ["gone"]  # two turns have its text


def annotated(task: dict[str, Any]) -> dict[str, Any]:
    """Return a task as Label Studio exports it after an annotator has accepted what notes propose, and said more."""
    (proposed,) = (prediction["result"] for prediction in task["predictions"] if prediction["model_version"] == "notes")
    more = {"id": "w", "from_name": "comment", "to_name": "dialogue", "type": "textarea", "value": {"text": ["all"]}}
    last = {"start": "2", "end": "3", "startOffset": 0, "endOffset": 1, "text": "", "paragraphlabels": ["both"]}
    span = {"id": "s", "from_name": "note_label", "to_name": "dialogue", "type": "paragraphlabels", "value": last}
    other = {"id": "o", "from_name": "mood", "to_name": "dialogue", "type": "choices", "value": {"choices": ["X"]}}
    annotation = {"id": 5, "completed_by": {"id": 1, "email": "ann@example.org"}, "was_cancelled": False}
    skipped = {"id": 6, "completed_by": 2, "was_cancelled": True, "result": [span]}
    return {
        **task,
        "id": 1,
        "annotations": [{**annotation, "result": [*proposed, more, span, other]}, skipped],
        "predictions": [],
    }


@pytest.mark.slow
def test_notes_go_to_label_studio_and_argilla_and_come_back_once(warehouse: Path) -> None:
    folder = warehouse.parent
    add(
        warehouse,
        [
            note(warehouse, 4, "wrong gold", HOSTILE),
            note(warehouse, 2, None, "only words"),
            note(warehouse, 2, None, "only words", "another"),
            note(warehouse, None, "good", "whole"),
            note(warehouse, None, "long"),
        ],
    )
    for tool, name in (("labelstudio", "tasks.json"), ("argilla", "records.json")):
        done = start("export", RELEASES, "--for", tool, "--notes", "--output", tool, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert start("export", RELEASES, "--for", tool, "--output", f"{tool}-plain", cwd=folder).returncode == 0
        assert "another" not in (folder / tool / name).read_text()
        assert "wrong gold" not in (folder / f"{tool}-plain" / name).read_text()
    assert "left out: 2 notes on turns" in done.stdout  # the words of two are alike
    (task,) = (
        row
        for row in json.loads((folder / "labelstudio" / "tasks.json").read_text())
        if row["data"]["dialogue_id"] == DIALOGUE
    )
    assert {row["turn_index"]: row["text"] for row in task["data"]["dialogue"]} == texts(warehouse)
    (folder / "studio.json").write_text(json.dumps([annotated(task)]), encoding="utf-8-sig")
    (record,) = (row for row in json.loads((folder / "argilla" / "records.json").read_text()) if row["id"] == DIALOGUE)
    assert record["suggestions"]["note_label"]["value"] == ["good", "long"]
    values = {name: [{"value": item["value"], "user_id": "u"}] for name, item in record["suggestions"].items()}
    values["note_label"].append({"value": "discarded", "user_id": "u", "status": "discarded"})
    (folder / "argilla.json").write_text(json.dumps([{**record, "responses": values, "_server_id": "1"}]))
    (folder / "table.csv").write_text(f'dialogue_id,turn_index,label\n"{DIALOGUE}",3,by hand\n"{DIALOGUE}",,"  "\n')
    files = ("studio.json", "argilla.json", "table.csv")
    first, again = (start("notes", "--take", *files, "--author", "me", cwd=folder) for _ in range(2))
    assert (first.returncode, first.stdout) == (0, "Took 14 notes\n"), first.stderr
    assert again.stdout == "Took 0 notes; 14 were there already\n"
    back = {(row["turn_index"], row["label"], row["note"], row["author"], row["source"]) for row in listed(warehouse)}
    studio, argilla = ("ann@example.org", "label studio"), ("user u", "argilla")
    assert {row for row in back if row[4] != "command"} == {
        (4, "wrong gold", HOSTILE, *studio),
        (2, None, "only words", *studio),
        (2, "both", None, *studio),
        (3, "both", None, *studio),
        (None, "good", None, *studio),
        (None, "long", None, *studio),
        (None, None, "whole", *studio),
        (None, None, "all", *studio),
        (None, "mood=X", None, *studio),
        (None, "good", None, *argilla),
        (None, "long", None, *argilla),
        (None, None, "whole", *argilla),
        (3, "by hand", None, "me", "table"),
        (None, "  ", None, "me", "table"),
    }
    assert {row["state"] for row in listed(warehouse)} == {"fits"}


@pytest.mark.slow
def test_what_does_not_fit_is_named_and_nothing_is_taken(warehouse: Path) -> None:
    folder, turns = warehouse.parent, texts(warehouse)
    paragraphs = [{"author": "a", "text": text} for text in turns.values()]
    region = {"start": "1", "end": "1", "startOffset": 0, "endOffset": 1, "paragraphlabels": ["odd"]}

    def result(kind: str, **value: object) -> dict[str, object]:
        return {"id": f"{value}", "type": kind, "value": value}

    wrong = [
        result("rating", rating=3),
        result("paragraphlabels", **{**region, "end": "99"}),
        result("choices", choices=[3]),
        result("textarea", text=["x" * (LIMITS["note"] + 1)]),
    ]
    tasks = [
        {
            "data": {"dialogue_id": DIALOGUE, "dialogue": paragraphs},
            "annotations": [{"result": [result("paragraphlabels", **region), *wrong]}],
        },
        {
            "data": {"dialogue_id": DIALOGUE, "dialogue": [{"text": "Another text"}, *paragraphs[1:]]},
            "annotations": [{"result": [result("paragraphlabels", **{**region, "start": 0, "end": 0})]}],
        },
        {
            "data": {"dialogue_id": "nowhere:1", "dialogue": paragraphs},
            "annotations": [{"result": [result("choices", choices=["odd"])]}],
        },
    ]
    (folder / "studio.json").write_text(json.dumps(tasks))
    done = start("notes", "--take", "studio.json", cwd=folder)
    assert done.returncode == 2
    assert "6 of 7 do not fit the warehouse, and nothing was taken" in done.stderr
    for part in (
        "studio.json, /0/annotations/0/result/1: not a note",
        "/0/annotations/0/result/2: not a note",
        "/0/annotations/0/result/3: not a note",
        "/0/annotations/0/result/4: the note is too long; expected at most 10,000 characters",
        f"/1/annotations/0/result/0: the text is another than in the warehouse; expected '{turns[0][:80]}'; "
        "found 'Another text'",
        "/2/annotations/0/result/0: the dialogue is not in the warehouse; found 'nowhere:1'",
    ):
        assert part in done.stderr, (part, done.stderr)
    assert not path_for(warehouse).exists()
    done = start("notes", "--take", "studio.json", "--unmatched", "skip", "--json", cwd=folder)
    assert (json.loads(done.stdout)["added"], len(json.loads(done.stdout)["unmatched"])) == ([1], 6)
    # Without the numbers of turns, as in older exports, paragraphs are counted.
    assert [(row["turn_index"], row["label"]) for row in listed(warehouse)] == [(1, "odd")]


@pytest.mark.slow
def test_a_region_over_several_turns_names_each_and_its_work_is_bounded(warehouse: Path) -> None:
    folder, known = warehouse.parent, texts(warehouse)
    paragraphs = [{"text": known[0]}, {"text": "Another"}, {"text": known[2]}, *({"text": "more"} for _ in range(900))]
    region = {"id": "r", "type": "paragraphlabels", "value": {"start": 0, "end": 902, "paragraphlabels": ["odd"]}}
    task = {"data": {"dialogue_id": DIALOGUE, "dialogue": paragraphs}, "annotations": [{"result": [region]}]}
    (folder / "regions.json").write_text(json.dumps([task]))
    done = start("notes", "--take", "regions.json", "--unmatched", "skip", "--json", cwd=folder)
    taken = json.loads(done.stdout)
    assert (len(taken["added"]), len(taken["unmatched"])) == (2, 901), done.stderr
    assert (taken["unmatched"][0]["expected"], taken["unmatched"][0]["found"]) == (f"'{known[1][:80]}'", "'Another'")
    assert {row["turn_index"] for row in listed(warehouse)} == {0, 2}
    task["annotations"] = [{"result": [region | {"id": f"r{number}"} for number in range(400)]}]
    (folder / "regions.json").write_text(json.dumps([task]))
    assert (folder / "regions.json").stat().st_size < 100_000
    done = start("notes", "--take", "regions.json", cwd=folder)
    assert (done.returncode, len(listed(warehouse))) == (2, 2)
    assert "the file brings too many notes\n  expected: at most 100,000" in done.stderr


BROKEN = {
    "deep.json": b"[" * 100_000,
    "surrogate.json": b'[{"data": {"dialogue_id": "\\ud800", "dialogue": []}}]',
    "latin.json": b'[{"data": {"dialogue_id": "\xe9", "dialogue": []}}]',
    "type.json": b'[{"data": {"dialogue_id": 3, "dialogue": []}}]',
    "other.json": b'[{"image": "x"}]',
    "text.json": b"hello",
    "none.csv": b"",
    "columns.csv": b"dialogue_id,turn_index\nx,1\n",
    "twice.csv": b"dialogue_id,label,label\nx,1,2\n",
    "text.parquet": b"PAR1 hello PAR1",
    "notes.txt": b"hello",
}


@pytest.mark.slow
def test_files_that_are_none_of_these_are_refused(warehouse: Path) -> None:
    folder = warehouse.parent
    for name, content in BROKEN.items():
        (folder / name).write_bytes(content)
    os.mkfifo(folder / "pipe.json")
    (folder / "folder.json").mkdir()
    for name in (*BROKEN, "pipe.json", "folder.json", "missing.json"):
        done = start("notes", "--take", name, cwd=folder)
        assert (done.returncode, "Traceback" in done.stderr, name in done.stderr) == (2, False, True), done.stderr
    done = start("notes", "--take", "deep.json", "--input-limit", "file=1000", cwd=folder)
    assert "too much to read" in done.stderr
    assert not path_for(warehouse).exists()


def changed(*statements: str) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        assert start("notes", "--add", f"{DIALOGUE}#1", "--label", "odd", cwd=path.parent).returncode == 0
        database(*statements)(path)

    return make


HIDDEN = "content of another file"
OTHERS: dict[str, tuple[Callable[[Path], object], type[TalkhouseError], str]] = {
    "empty": (lambda path: path.touch(), UsageError, "an empty file"),
    "text": (lambda path: path.write_text("hello\n" * 5000), UsageError, "not a valid DuckDB"),
    "link": (lambda path: path.symlink_to(path.with_name("talkhouse.duckdb")), UsageError, "a link"),
    "own database": (database("create table finance as select 1 as a"), UsageError, "a table format"),
    "a macro": (changed("create macro sha256(a) as 'x'"), UsageError, "the macro sha256"),
    "a column more": (changed("alter table notes add column x integer"), UsageError, "other tables"),
    "newer": (changed("update format set version = 2"), SchemaMismatch, "format 2"),
    "a view": (
        changed(
            "create table theirs as from notes",
            "drop table notes",
            "create view notes as select * replace (content as note) from theirs, read_text('SECRET')",
        ),
        UsageError,
        "other tables",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_the_file_of_somebody_else_is_left_and_shows_nothing(name: str, warehouse: Path) -> None:
    make, kind, found = OTHERS[name]
    path, secret = path_for(warehouse), warehouse.with_name("SECRET")
    secret.write_text(HIDDEN)
    make(path)
    before, added = path.read_bytes(), note(warehouse, 2)
    for ask in (lambda: read(path), lambda: add(warehouse, [added]), lambda: remove(warehouse, 1)):
        with pytest.raises(kind) as caught:
            ask()
        assert found in (caught.value.found or "")
        assert caught.value.where == path
    for command in (("notes",), ("notes", "--json"), ("sql", "from notes.notes")):
        done = start(*command, cwd=path.parent)
        assert (done.returncode != 0, "Traceback" in done.stderr) == (True, False)
        assert HIDDEN not in done.stdout + done.stderr
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_warehouse_with_a_schema_or_a_macro_of_the_name_answers_for_nothing(warehouse: Path) -> None:
    add(warehouse, [note(warehouse, 1), note(warehouse, 2)])
    change(
        warehouse,
        f"create macro sha256(a) as '{text_hash(texts(warehouse)[1])}'; create macro string_agg(a, b) as 'x'; "
        f"create schema notes; update main.turns set text = 'new' where turn_index = 1 and dialogue_id = '{DIALOGUE}'",
    )
    assert [row["state"] for row in listed(warehouse)] == ["changed", "fits"]
    done = start("sql", "select 1 as a", cwd=warehouse.parent)
    assert "notes.duckdb is not there as notes: the warehouse has a schema of that name" in done.stderr


@pytest.mark.slow
def test_two_who_write_at_once_lose_nothing_and_a_file_that_may_not_be_written_stays(warehouse: Path) -> None:
    path = path_for(warehouse)
    arguments = ["notes", "--add", f"{DIALOGUE}#1", "--label"]
    with FileLock(f"{private_folder_path(path)}.lock"):
        processes = [
            subprocess.Popen([*COMMAND, *arguments, label], cwd=warehouse.parent, stderr=subprocess.PIPE)
            for label in ("first", "second")
        ]
    for process in processes:
        _, wrong = process.communicate()
        assert process.returncode == 0, wrong
    assert sorted((row["note_id"], row["label"]) for row in listed(warehouse)) in (
        [(1, "first"), (2, "second")],
        [(1, "second"), (2, "first")],
    )
    path.chmod(0o444)
    with pytest.raises(UsageError, match="the file is read-only"):
        add(warehouse, [note(warehouse, 2)])
    path.chmod(0o644)
    path.with_name(f"{FILE}.wal").touch()
    with pytest.raises(UsageError, match="its changes are not in it yet"):
        remove(warehouse, 1)


@pytest.mark.slow
def test_a_folder_that_may_not_be_written_is_named(warehouse: Path, unprivileged: None) -> None:  # noqa: ARG001
    added = note(warehouse, 1)
    warehouse.parent.chmod(0o555)
    try:
        with pytest.raises(UsageError, match="the file can't be written") as caught:
            add(warehouse, [added])
    finally:
        warehouse.parent.chmod(0o755)
    assert caught.value.where == path_for(warehouse)
    assert not path_for(warehouse).exists()
    for wrong in (("--take", "x.csv", "--label", "a"), ("--remove", "1", "--take"), ("x.csv",), ("--note", "a")):
        assert start("notes", *wrong, cwd=warehouse.parent).returncode == 2
