"""A corpus of an installed package: its warehouse is read without the package, and says so where that can't be."""

import json
import shutil
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import pytest

from talkhouse.ingest.registry import corpora, sample_of
from tests.commands import nothing, run
from tests.plugins import installed, know
from tests.talkhouse.load.test_run import fetch

RADIO = Path(__file__).parents[1] / "radio" / "lab_radio"
DELIDATA = sample_of(corpora()["delidata"])
BROKEN = "train/broken.log"


class Lab:
    """A folder with the package, its data, and a warehouse."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.site, self.warehouse = folder, folder / "site", folder / "w.duckdb"
        shutil.copytree(RADIO, self.site / RADIO.name)
        installed(self.site, "radio_calls", (RADIO / "__init__.py").read_text(), name="lab-radio", version="1.0")
        self.data = folder / "data"
        shutil.copytree(RADIO / "sample", self.data / "radio_calls")
        (self.data / "radio_calls" / BROKEN).write_text("nobody\n")

    def run(self, *words: object, code: int = 0, gone: bool = False) -> str:
        """Run a command on the warehouse, with the package or without; return its output, or its message."""
        before: Callable[[], object] = nothing if gone else partial(know, self.site)
        done = run(*words, cwd=self.folder, env={"TALKHOUSE_DB": str(self.warehouse)}, before=before)
        assert done.returncode == code, done.stderr
        return done.stderr if code else done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    lab = Lab(tmp_path_factory.mktemp("lab"))
    lab.run("build", "--data", lab.data, "--max-quarantine", "100%")
    return lab


@pytest.fixture
def lab(built: Lab, tmp_path: Path) -> Lab:
    copy = Lab(tmp_path / "lab")
    shutil.copy(built.warehouse, copy.warehouse)
    return copy


def test_a_package_is_built_restored_and_verified(built: Lab) -> None:
    assert fetch(built.warehouse, "select corpus_id, origin, title from main.corpora") == [
        ("radio_calls", "package lab-radio 1.0", "Radio calls")
    ]
    assert fetch(built.warehouse, "select shouted, label from radio_calls.act_test") == [
        ("Is the lamp lit?!", "ask"),
        ("It is, and it hums a tune.!", "tell"),
    ]
    built.run("restore", "radio_calls", "--output", "back")
    files = list((built.data / "radio_calls").rglob("*.log"))
    assert len(files) == 3
    for path in files:
        assert (built.folder / "back" / path.relative_to(built.data / "radio_calls")).read_bytes() == path.read_bytes()
    assert "3 equal" in built.run("verify", "--data", built.data)
    night = (built.data / "radio_calls" / "test" / "night.log").read_text()
    assert built.run("show", "radio_calls/test-night", "--raw") == night
    assert "package lab-radio 1.0" in built.run("corpora")
    assert "Nothing changed" in built.run("build", "--data", built.data, "--max-quarantine", "100%")


@pytest.mark.slow
def test_without_the_package_its_warehouse_is_read(built: Lab) -> None:
    read = partial(built.run, gone=True)
    assert "radio_calls" not in read("corpora")
    assert "Radio calls" in read("status")
    assert "HERON" in read("sql", "select name from main.speakers")
    assert "No call is longer than a breath" in read("check")
    assert "RC-01" in read("findings")
    assert "how many calls each has" in read("views")
    assert "radio_calls:train-morning" in read("search", "pier")
    assert "Is the lamp lit?" in read("show", "radio_calls:test-night")
    read("export", "radio_calls.act", "--output", "act.csv", "--force")
    manifest = json.loads((built.folder / "act.csv.manifest.json").read_text())
    assert manifest["order"] == ["release", "split", "example_index"], "the grain that its file declares"
    assert [fingerprint["split"] for fingerprint in manifest["view_fingerprints"]] == ["test", "train"]
    assert manifest["corpora"][0]["licence"] == "CC0-1.0"
    read("export", "--for", "superset", "--output", "bundle.zip", "--force")
    assert "Calls by channel" in zip_text(built.folder / "bundle.zip")
    read("report", "--output", "report.html", "--force")
    page = (built.folder / "report.html").read_text()
    assert "Calls by channel" in page
    assert "how many calls each has" in page
    (built.folder / "predicted.txt").write_text("ask\nask\n")
    words = ("score", "radio_calls.act", "predicted.txt", "--format", "calls", "--split", "test", "--json")
    assert [metric["value"] for metric in json.loads(read(*words))["metrics"]] == [0.5]


@pytest.mark.slow
def test_without_the_package_a_lake_of_it_is_written(built: Lab) -> None:
    built.run("lake", "lake", gone=True)
    assert json.loads((built.folder / "lake" / "manifest.json").read_text())["left_out"] == []
    translation = next((built.folder / "lake").glob("snapshot-*")) / "translation.json"
    assert "act_test" in {view["name"] for view in json.loads(translation.read_text())["views"]}


def zip_text(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist())


@pytest.mark.parametrize(
    "words",
    [
        ("restore", "radio_calls", "--output", "elsewhere"),
        ("verify",),
        ("replay",),
        ("show", "radio_calls/test-night", "--raw"),
    ],
)
def test_what_needs_the_package_names_it(built: Lab, words: tuple[str, ...]) -> None:
    message = built.run(*words, gone=True, code=1)
    assert "no code here reads or writes the corpus 'radio_calls'" in message
    assert "the package lab-radio 1.0, which is not installed" in message
    assert "pip install lab-radio==1.0" in message


def described(path: Path) -> dict[str, list[tuple[object, ...]]]:
    tables = ("corpora", "records", "turns", "annotations", "labels", "examples")
    of_meta = ("source_files", "findings", "quarantine", "exceptions")
    queries = {name: f"from main.{name} where {{}} order by all" for name in tables}
    queries |= {name: f"from meta.{name} where {{}} order by all" for name in of_meta}
    keys = {"turns": "dialogue_id", "labels": "scheme", "annotations": "record_id"}
    found = {
        name: fetch(path, query.format(f"starts_with({keys.get(name, 'corpus_id')}, 'radio_calls')"))
        for name, query in queries.items()
    }
    found["rules"] = fetch(path, "from meta.rules where corpus_id = 'radio_calls' or rule = 'RC-02' order by all")
    found["checks"] = fetch(path, "select check_name, offending from meta.checks where check_name like 'radio%'")
    found["views"] = fetch(
        path,
        "select schema_name, view_name, comment from duckdb_views() "
        "where schema_name = 'radio_calls' or view_name like 'radio%' order by all",
    )
    found["files"] = fetch(path, "from meta.query_files order by all")
    found["labels of tasks"] = fetch(path, "from bi.example_labels where corpus_id = 'radio_calls' order by all")
    return found


@pytest.mark.slow
def test_a_build_without_the_package_keeps_its_corpus_whole(lab: Lab) -> None:
    before = described(lab.warehouse)
    assert all(before.values()), [name for name, found in before.items() if not found]
    lab.run("ingest", "delidata", DELIDATA, gone=True)
    assert described(lab.warehouse) == before
    assert fetch(lab.warehouse, "select count(*) from delidata.change_of_mind") != [(0,)]
    lab.run("verify", "--data", lab.data, "--corpus", "radio_calls")
    assert "No call is longer than a breath" in lab.run("check", gone=True)
    lab.run("build", "--data", lab.data, "--remove", "delidata", "--max-quarantine", "100%")
    after = described(lab.warehouse)
    assert after.pop("source_files") != before.pop("source_files"), "other copies of the files, with other times"
    assert after == before, "and with it, it is as it was"


@pytest.mark.slow
def test_a_build_that_would_lose_the_corpus_for_want_of_the_package_stops(lab: Lab) -> None:
    shutil.copytree(lab.data / "radio_calls", lab.data / "another")
    message = lab.run("build", "--data", lab.data, gone=True, code=1)
    assert "no folder of a known corpus" in message
    shutil.copytree(DELIDATA, lab.data / "delidata")
    message = lab.run("build", "--data", lab.data, gone=True, code=1)
    assert "pip install lab-radio==1.0; or, to remove the corpus, take its folder out of the data" in message
    assert "--remove radio_calls" in message
    assert "no corpus 'radio_calls'" in lab.run("build", "--corpus", "radio_calls", gone=True, code=2)
    shutil.rmtree(lab.data / "radio_calls")
    lab.run("build", "--data", lab.data, "--remove", "radio_calls", gone=True)
    assert fetch(lab.warehouse, "select corpus_id from main.corpora") == [("delidata",)]
    assert fetch(lab.warehouse, "from meta.query_files") == []


@pytest.mark.slow
def test_a_broken_package_stops_only_a_build_that_needs_it(lab: Lab) -> None:
    (lab.site / "lab_radio" / "read.py").write_text("import sonar\n")
    message = lab.run("build", "--data", lab.data, "--rehash", code=1)
    assert "the corpus 'radio_calls' of the package lab-radio 1.0 is broken" in message
    assert "ModuleNotFoundError: No module named 'sonar'" in message
    assert "pip uninstall lab-radio" in message
    before = described(lab.warehouse)
    lab.run("ingest", "delidata", DELIDATA)
    assert described(lab.warehouse) == before
    lab.run("build", "--db", "samples.duckdb", "--corpus", "dbdc3")
    assert "Radio calls" in lab.run("status")
    assert "'sonar'" in lab.run("corpora")
    assert "'sonar'" in lab.run("restore", "radio_calls", "--output", "elsewhere", code=1)
    assert "left out the sample of radio_calls" in lab.run("build", "--db", "all.duckdb")


@pytest.mark.slow
def test_other_sql_of_a_package_comes_with_the_next_build(lab: Lab) -> None:
    queries = lab.site / "lab_radio" / "queries"
    (queries / "bi" / "dashboards" / "radio_calls.toml").write_text('title = "Calls"\ndescription = ""\ncharts = []\n')
    lab.run("build", "--data", lab.data, "--max-quarantine", "100%")
    ((text,),) = fetch(lab.warehouse, "select text from meta.query_files where name = 'bi/dashboards/radio_calls.toml'")
    assert str(text).startswith('title = "Calls"')
    (queries / "loud.sql").write_text("-- Loud.\n-- grain: shouted\nselect distinct shouted from radio_calls.act\n")
    lab.run("build", "--data", lab.data, "--max-quarantine", "100%")
    assert len(fetch(lab.warehouse, "from radio_calls.loud")) == 5
    assert fetch(lab.warehouse, "select outcome ->> 'radio_calls' from meta.loads")[-1] == ("unchanged",)


@pytest.mark.slow
def test_sql_of_a_warehouse_reaches_nothing_when_it_is_built_on(lab: Lab) -> None:
    (lab.folder / "secret.csv").write_text("word\nxyzzy\n")
    view = f"-- All.\n-- grain: word\nselect word from read_csv('{lab.folder / 'secret.csv'}')\n"
    with duckdb.connect(lab.warehouse) as con:
        con.execute("insert into meta.query_files values ('radio_calls', 'stolen.sql', ?)", [view])
    message = lab.run("ingest", "delidata", DELIDATA, gone=True, code=1)
    assert "radio_calls/stolen.sql:3" in message
    assert "the function 'read_csv'" in message
    assert "xyzzy" not in message
    attack = f"-- A.\n-- grain: a\nselect 1 as a; copy (select 1) to '{lab.folder / 'written.csv'}'\n"
    with duckdb.connect(lab.warehouse) as con:
        con.execute("update meta.query_files set text = ? where name = 'stolen.sql'", [attack])
    lab.run("ingest", "delidata", DELIDATA, gone=True, code=1)
    assert not (lab.folder / "written.csv").exists()


@pytest.mark.slow
def test_a_folder_of_corpora_is_named_by_an_option_or_the_environment(tmp_path: Path) -> None:
    root = tmp_path / "corpora"
    shutil.copytree(RADIO, root / "radio_calls")
    shutil.copytree(RADIO / "sample", tmp_path / "data" / "radio_calls")

    def talk(*words: object, code: int = 0, env: str = "") -> str:
        named = {"TALKHOUSE_DB": "w.duckdb"} | ({"TALKHOUSE_CORPORA": env} if env else {})
        done = run(*words, cwd=tmp_path, env=named)
        assert done.returncode == code, done.stderr
        return done.stderr + done.stdout

    assert "no folder of a known corpus" in talk("build", "--data", "data", code=1)
    talk("build", "--data", "data", "--corpora", "corpora")
    assert fetch(tmp_path / "w.duckdb", "select origin from main.corpora") == [(f"folder {root / 'radio_calls'}",)]
    assert "--corpora DIR, or TALKHOUSE_CORPORA" in talk("verify", code=1)
    assert "2 equal" in talk("verify", env=str(root))
    assert "channel 9" in talk("show", "radio_calls/test-night", "--raw", "--corpora", "corpora/radio_calls")
    talk("restore", "radio_calls", "--output", "back", env=f"{root}:{root / 'radio_calls'}")
    assert "nothing" not in talk("replay", "--corpora", "corpora")
    talk("ingest", "radio_calls", "data/radio_calls", "--corpora", "corpora")
    assert "Calls by channel" in zip_text_of_bundle(tmp_path, talk)
    board = root / "radio_calls" / "queries" / "bi" / "dashboards" / "radio_calls.toml"
    board.write_text(board.read_text().replace("Calls by channel", "Calls as edited"))
    talk("report", "--output", "kept.html")
    talk("report", "--output", "edited.html", "--corpora", "corpora")
    assert "Calls by channel" in (tmp_path / "kept.html").read_text()
    assert "Calls as edited" in (tmp_path / "edited.html").read_text()
    talk("score", "radio_calls.act", "--baseline", "oracle", "--split", "test", env=str(root))
    (root / "radio_calls" / "queries" / "act.sql").unlink()
    message = talk("score", "radio_calls.act", "--baseline", "oracle", "--corpora", "corpora", code=1)
    assert "act" in message
    talk("score", "radio_calls.act", "--baseline", "oracle", "--split", "test")
    shutil.copy(RADIO / "queries" / "act.sql", root / "radio_calls" / "queries")
    message = talk("build", "--data", "data", "--corpora", "data", code=2)
    assert "no corpus in this folder" in message
    (tmp_path / "data" / "radio_calls" / "__init__.py").write_text("raise SystemExit('imported')\n")
    message = talk("build", "--data", "data", "--corpora", "data", code=2)
    assert "from which nothing is ever imported" in message
    talk("build", "--data", "data", "--corpora", "corpora")


def zip_text_of_bundle(folder: Path, talk: Callable[..., str]) -> str:
    talk("export", "--for", "superset", "--output", "bundle.zip")
    return zip_text(folder / "bundle.zip")
