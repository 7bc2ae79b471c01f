"""``talkhouse diff``: what it prints and writes, how it ends, and that no text of a stranger acts."""

import json
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from playwright.sync_api import Browser

from talkhouse import migrations
from talkhouse.diff.difference import Wanted, difference
from talkhouse.diff.states import State, opened_states
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.commands import run
from tests.migrations.test_migrations import downgrade
from tests.samples import RELEASES
from tests.talkhouse.cli.test_terminal_safety import EVIL, UNSAFE
from tests.talkhouse.diff.test_difference import counts, diffed

KEYS = ["format", "equal", "before", "after", "schema", "corpora", "renumbered", "tables", "tasks", "changes"]

RELABELLED = """
update main.annotations set label = 'X' where (record_id, turn_index, scheme) in (
    select (record_id, turn_index, scheme) from main.annotations
    where label in ('O', 'T') order by record_id, turn_index limit 1
)
"""
LONGER = """
update main.turns set text = text || ' planted' where rowid = (
    select min(turns.rowid) from main.turns inner join main.annotations using (dialogue_id, turn_index)
)
"""


@pytest.fixture(scope="module")
def edited(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, in which one turn is longer and a turn's labels are all X."""
    path = Path(shutil.copyfile(sample, tmp_path_factory.mktemp("edited") / "edited.duckdb"))
    with duckdb.connect(path) as con:
        con.execute(LONGER)
        con.execute(RELABELLED)
    return path


def test_it_says_what_differs_and_ends_with_1(sample: Path, edited: Path, tmp_path: Path) -> None:
    same = run("diff", sample, sample)
    assert (same.returncode, same.stderr) == (0, "")
    assert "saved scores hold" in same.stdout
    result = run("diff", sample, edited, "--output", tmp_path / "cells.parquet")
    assert (result.returncode, result.stderr) == (1, "")
    assert "[+ planted+]" in result.stdout
    assert "examples changed" in result.stdout
    cells = duckdb.sql(f"from '{tmp_path / 'cells.parquet'}'")
    assert cells.columns == ["relation", "corpus", "change", "key", "key_before", "column", "before", "after"]
    ((changed,),) = duckdb.sql("select count(*) from cells where relation = 'main.turns'").fetchall()
    assert changed == 1
    asked = run("diff", sample, edited, "--json", "--exit-zero", "--corpus", RELEASES)
    found = json.loads(asked.stdout)
    assert (asked.returncode, list(found)) == (0, KEYS)
    assert counts(found, "main.annotations").keys() <= {"changed"}


@pytest.mark.slow
def test_examples_are_made_of_corpora_that_changed_alone(sample: Path, edited: Path) -> None:
    steps: list[str] = []
    with opened_states(State(sample, "before"), State(edited, "after")) as sides:
        found = difference(sides, on_step=steps.append)
    changed = {corpus.corpus for corpus in found.corpora if corpus.status == "changed"}
    computed = {step.removeprefix("making the examples of ") for step in steps if step.startswith("making")}
    assert changed
    assert computed == {task.name for task in found.tasks if task.corpus in changed}
    assert {task.corpus for task in found.tasks} - changed
    assert all(task.is_still for task in found.tasks if task.corpus not in changed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["SAMPLE"], "one state is not enough"),
        (["SAMPLE", "gone.duckdb"], "there is no 'gone.duckdb'"),
        (["SAMPLE", "no.duckdb"], "this is not a warehouse"),
        (["SAMPLE", "SAMPLE", "--corpus", "nobody"], "neither state has a corpus 'nobody'"),
        (["SAMPLE", "SAMPLE", "--table", "main.turn"], "neither state has a table 'main.turn'"),
        (["SAMPLE", "SAMPLE", "--task", "toy.no"], "neither state has a task 'toy.no'"),
        (["SAMPLE", "SAMPLE", "--output", "x.csv"], "does not show what to write"),
        (["SAMPLE", "SAMPLE", "--output", "no.parquet"], "the file exists already"),
        (["SAMPLE", "--between", "a", "b"], "of one corpus in one warehouse"),
        (["SAMPLE", "--between", "a", "b", "--corpus", RELEASES], "the publisher's release 'a'"),
        (["SAMPLE", "newer.duckdb"], "a newer schema than this Talkhouse"),
    ],
)
def test_what_can_not_be_compared_ends_with_2(sample: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "no.duckdb").write_text("no database")
    (tmp_path / "no.parquet").write_text("somebody's")
    if "newer.duckdb" in arguments:
        shutil.copyfile(sample, tmp_path / "newer.duckdb")
        with duckdb.connect(tmp_path / "newer.duckdb") as con:
            con.execute("update meta.alembic_version set version_num = '9999'")
    done = run("diff", *(sample if argument == "SAMPLE" else argument for argument in arguments), cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.slow
def test_an_older_state_is_migrated_in_private(sample: Path, tmp_path: Path) -> None:
    older = Path(shutil.copyfile(sample, tmp_path / "older.duckdb"))
    downgrade(older, "0006")
    newer = Path(shutil.copyfile(older, tmp_path / "newer.duckdb"))
    migrations.upgrade(newer)
    content = older.read_bytes()
    found = diffed(older, newer)
    assert (found["schema"]["migrated"], found["before"]["schema_revision"]) == ("before", "0006")
    assert found["schema"]["tables_added"] == ["main.releases"]
    assert found["after"]["schema_revision"] == migrations.head()
    assert found["equal"]
    with duckdb.connect(newer) as con:
        con.execute(LONGER)
    assert [table["table"] for table in diffed(older, newer)["tables"] if table["changed"]] == ["main.turns"]
    assert older.read_bytes() == content


@pytest.mark.slow
def test_each_state_has_its_own_views_unless_both_get_ours(sample: Path, edited: Path, tmp_path: Path) -> None:
    other = Path(shutil.copyfile(sample, tmp_path / "other.duckdb"))
    with duckdb.connect(other) as con:
        (schema, name, sql), *_ = con.execute(
            "select schema_name, view_name, sql from duckdb_views() where schema_name = ? and view_name in "
            "(select task from main.examples) order by all",
            [RELEASES],
        ).fetchall()
        con.execute(f"alter view {schema}.{name} rename to before_it")
        con.execute(
            f"create view {schema}.{name} as select * replace (utterance || '!' as utterance) from {schema}.before_it"
        )
        ((examples,),) = con.execute("select count(*) from main.examples where corpus_id = ?", [RELEASES]).fetchall()
    assert sql
    wanted = Wanted((RELEASES,))
    found = diffed(sample, other, wanted)
    assert f"{schema}.{name}" in found["schema"]["views_changed"]
    assert sum(task["columns"].get("utterance", 0) for task in found["tasks"]) == examples
    assert not any(table["changed"] for table in found["tables"])
    assert diffed(sample, other, wanted, same_views=True)["equal"]
    assert not diffed(other, edited, wanted, same_views=True)["equal"]


@pytest.mark.slow
def test_two_of_the_publishers_releases_are_compared(sample: Path, tmp_path: Path) -> None:
    with duckdb.connect(sample, read_only=True) as con:
        query = "select release from main.releases where corpus_id = ? order by release_index"
        (old,), (new,), *_ = con.execute(query, [RELEASES]).fetchall()
        by_release = dict(
            con.execute(
                "select release, count(*) from main.examples where corpus_id = ? group by all", [RELEASES]
            ).fetchall()
        )
    done = run("diff", sample, "--corpus", RELEASES, "--between", old, new, "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode in (0, 1), done.stderr
    assert {task["release"] for task in found["tasks"]} == {new}
    assert sum(task["before"] for task in found["tasks"]) == by_release[old]
    assert sum(task["after"] for task in found["tasks"]) == by_release[new]
    again = run("diff", sample, "--corpus", RELEASES, "--between", new, new)
    assert (again.returncode, again.stderr) == (0, "")


@pytest.fixture(scope="module")
def hostile(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample whose texts, labels and ids hold what acts on a terminal or a page."""
    path = Path(shutil.copyfile(sample, tmp_path_factory.mktemp("hostile") / "hostile.duckdb"))
    evil = EVIL + "</dd></style><script>document.title = 'acted'</script>{{ 7 * 7 }}"
    with duckdb.connect(path) as con:
        con.execute("update main.turns set text = ? || text", [evil])
        con.execute("update main.annotations set label = ? where label is not null", [evil])
        con.execute("update main.corpora set licence = ?", [evil])
        con.execute("update main.records set split = ?, native_id = ?", [evil, evil])
        con.execute("update main.examples set split = ?", [evil])
    return path


@pytest.mark.slow
def test_no_text_acts_in_json(sample: Path, hostile: Path, tmp_path: Path) -> None:
    done = run("diff", sample, hostile, "--corpus", RELEASES, "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert not UNSAFE.search(done.stdout)


@pytest.mark.slow
def test_no_text_acts_on_a_terminal_or_the_page_and_nothing_is_loaded(
    sample: Path, hostile: Path, tmp_path: Path, browser: Browser
) -> None:
    page_file = tmp_path / "page.html"
    done = run("diff", sample, hostile, "--corpus", RELEASES, "--output", page_file, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert not UNSAFE.search(done.stdout)
    asked: list[str] = []
    with browser.new_context() as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_file.as_uri())
        assert page.title().startswith("Talkhouse diff")
        assert page.locator("script").count() == 0
        assert "49" not in page.locator("dd ins").first.inner_text()
    assert asked == [page_file.as_uri()]


@pytest.mark.slow
def test_a_planted_view_reaches_no_file(sample: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nsecret\n")
    path = Path(shutil.copyfile(sample, tmp_path / "planted.duckdb"))
    with duckdb.connect(path) as con:
        ((name,),) = con.execute("select min(task) from main.examples where corpus_id = ?", [RELEASES]).fetchall()
        con.execute(f"create or replace view {RELEASES}.{name} as select * from read_csv('{secret}')")
    done = run("diff", sample, path)
    assert done.returncode == 2
    assert "can't be read" in done.stderr
    assert "secret\n" not in done.stdout


@pytest.mark.slow
def test_a_macro_does_not_answer_for_a_function(sample: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(sample, tmp_path / "planted.duckdb"))
    with duckdb.connect(path) as con:
        con.execute("create macro main.hash(a) as 0")
    done = run("diff", sample, path)
    assert done.returncode == 2
    assert "was changed after Talkhouse made it" in done.stderr


@pytest.mark.slow
def test_the_real_releases_differ_as_they_are_known_to(real_warehouse: Path) -> None:
    with duckdb.connect(real_warehouse, read_only=True) as con:
        query = "select release from main.releases where corpus_id = ? order by release_index"
        (old,), (new,), *_ = con.execute(query, [RELEASES]).fetchall()
    dev, evaluation = diffed(real_warehouse, real_warehouse, Wanted((RELEASES,)), between=(old, new))["tasks"]
    assert (dev["split"], dev["before"], dev["after"], dev["changed"], dev["columns"]["label"]) == (
        *("dev", 2150, 2150, 2142, 1234),
    )
    assert {(label["before"], label["after"]): label["rows"] for label in dev["labels"]} == {
        ("X", "T"): 608,
        ("O", "T"): 383,
        ("T", "O"): 97,
        ("X", "O"): 90,
        ("T", "X"): 38,
        ("O", "X"): 18,
    }
    assert dev["columns"]["lenient_label"] == 244
    assert (evaluation["removed"], evaluation["renumbered"], evaluation["changed"]) == (500, 550, 0)


@pytest.mark.slow
def test_a_release_is_a_state_by_its_name_and_by_its_folder(sample: Path, edited: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    created = run("release", "create", "2026-11", "--db", sample, "--store", store, "--json")
    content_id = json.loads(created.stdout)["content_id"]
    results = [
        run("diff", name, edited, "--store", store, "--table", "main.turns", "--json", cwd=tmp_path)
        for name in ("2026-11", "release:2026-11", store / "releases" / "2026-11")
    ]
    assert [result.returncode for result in results] == [1, 1, 1], results[0].stderr
    assert {result.stdout for result in results} == {results[0].stdout}
    found = json.loads(results[0].stdout)
    assert (found["before"]["release"], found["before"]["content_id"]) == ("2026-11", content_id)
    assert [table["changed"] for table in found["tables"] if table["table"] == "main.turns" and table["changed"]] == [1]
    shutil.copyfile(edited, tmp_path / "2026-11")
    beside = run("diff", "2026-11", edited, "--store", store, "--table", "main.turns", cwd=tmp_path)
    assert (beside.returncode, "the release is release:2026-11" in beside.stderr) == (0, True)


@pytest.mark.slow
def test_real_files_that_were_removed_and_altered_are_named(
    real_data: Path, real_warehouse: Path, tmp_path: Path
) -> None:
    """Three files of a folder are gone; in another, a turn has one more word, and all its labels are X."""
    folder = tmp_path / "data" / RELEASES
    shutil.copytree(real_data / RELEASES, folder)
    with zipfile.ZipFile(real_data / RELEASES / "DBDC3.zip") as old, zipfile.ZipFile(folder / "DBDC3.zip", "w") as new:
        for member in old.infolist():
            name = member.filename.rpartition("/")[2]
            if name not in {f"YIT00{number}.log.json" for number in (31, 32, 33)}:
                new.writestr(member, altered(old.read(member)) if name == "YIT0030.log.json" else old.read(member))
    build(tmp_path / "w.duckdb", Silent(), data=tmp_path / "data")
    found = diffed(real_warehouse, tmp_path / "w.duckdb", Wanted((RELEASES,)))
    assert counts(found, "main.annotations") == {"removed": 900, "changed": 26}
    assert counts(found, "main.turns") == {"removed": 63, "changed": 1}
    assert counts(found, "main.dialogues") == {"removed": 3}
    assert counts(found, "main.records") == {"removed": 3, "renumbered": 17}
    (task,) = (item for item in found["tasks"] if item["verdict"] != "same")
    assert (task["before"], task["after"], task["removed"], task["changed"], task["renumbered"]) == (
        *(1050, 1020, 30, 7, 720),
    )
    (turn,) = (row for row in found["changes"] if (row["relation"], row["change"]) == ("main.turns", "changed"))
    assert turn["columns"][0]["words"] == [("=", "No."), ("+", " altered")]


def altered(content: bytes) -> bytes:
    """Return a file of a dialogue with a word more in a turn whose labels are all X."""
    dialogue = json.loads(content)
    turn = next(turn for turn in dialogue["turns"] if turn["turn-index"] == 8)
    turn["utterance"] += " altered"
    for label in turn["annotations"]:
        label["breakdown"] = "X"
    return json.dumps(dialogue).encode()


# Two data folders of invented dialogues in publishers' formats, and what differs, counted beforehand.

STATES = Path(__file__).with_name("states.tar.gz")
DIFFERING = ("removed", "added", "changed", "moved", "moved_in", "moved_out", "renumbered")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data before and after, a warehouse of each, and what is expected."""
    folder = tmp_path_factory.mktemp("states")
    with tarfile.open(STATES) as archive:
        archive.extractall(folder, filter="data")
    for name in ("before", "after"):
        assert run("build", "--data", folder / name, "--db", folder / f"{name}.duckdb").returncode == 0
    return folder


def moving(rows: list[dict[str, Any]], *key: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return by key what is not still, but for what a build says of itself."""
    return {
        tuple(row[name] for name in key): {name: value for name, value in row.items() if name != "verdict"}
        for row in rows
        if any(row.get(name) for name in DIFFERING) and not str(row.get("table")).startswith("meta.")
    }


@pytest.mark.slow
def test_what_differs_is_as_it_was_counted(states: Path) -> None:
    expected = json.loads((states / "expected.json").read_text())
    found = diffed(states / "before.duckdb", states / "after.duckdb")
    assert found["renumbered"] == expected["renumbered"]
    table, task = ("table", "corpus"), ("task", "release", "split")
    assert moving(found["tables"], *table) == {tuple(row[name] for name in table): row for row in expected["tables"]}
    assert moving(found["tasks"], *task) == {tuple(row[name] for name in task): row for row in expected["tasks"]}
    turns = [row for row in found["changes"] if (row["relation"], row["change"]) == ("main.turns", "changed")]
    shown = json.loads(json.dumps(turns))
    assert [{name: row[name] for name in row if name != "key_before"} for row in shown] == expected["changed_turns"]


@pytest.mark.slow
def test_data_folders_give_the_same_bytes_as_their_warehouses(states: Path) -> None:
    """No time, path or host is in it."""
    of_folders = run("diff", "before", "after", "--json", cwd=states)
    of_files = run("diff", "before.duckdb", "after.duckdb", "--json", cwd=states)
    assert (of_folders.returncode, of_files.returncode) == (1, 1)
    assert of_folders.stdout == of_files.stdout
    assert json.loads(of_files.stdout)["equal"] is False


@pytest.mark.slow
def test_back_again_the_same_rows_differ(states: Path) -> None:
    before, after = states / "before.duckdb", states / "after.duckdb"
    there, back = diffed(before, after)["tables"], diffed(after, before)["tables"]
    same = ("table", "corpus", "changed", "moved", "renumbered", "columns")
    assert [[row[name] for name in (*same, "removed", "added")] for row in there] == [
        [row[name] for name in (*same, "added", "removed")] for row in back
    ]
