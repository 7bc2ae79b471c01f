"""Attaching a lake to a session of Spark, and checking it there: what is right, what is noticed, and every refusal."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from talkhouse.ingest.progress import Silent
from talkhouse.lake import attach
from talkhouse.lake.write_lake import write_lake
from talkhouse.lake_format.lake_manifest import read
from talkhouse.schema.errors import LakeDamaged, NotALake, SchemaMismatch, SparkFailed, UsageError
from talkhouse.spark.check import check
from talkhouse.spark.sessions import session
from tests import sail_server
from tests.commands import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCS = Path(__file__).parents[3] / "docs/lake.md"


@pytest.mark.slow
def test_the_example_of_the_documentation_runs(lake: Path, sail_url: str) -> None:
    (example,) = re.findall(r"<!-- example -->\n```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
    assert '.master("local[2]")' in example
    code = example.replace('.master("local[2]")', f'.remote("{sail_url}")').replace("/data/lake", str(lake))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "probing" in done.stdout


@pytest.mark.slow
def test_everything_is_attached(lake: Path, sail: "SparkSession") -> None:
    names = attach(sail, str(lake), location=f"{lake}/")
    assert {"main.turns", "meta.loads", "bi.corpora", "delidata.deliberation_type_all"} <= {*names}
    assert sail.table("bi.corpora").count() == 2


@pytest.mark.slow
def test_a_new_snapshot_is_attached_in_place_of_the_old_one(small: Path, lake: Path, sail: "SparkSession") -> None:
    assert attach(sail, lake)
    write_lake(lake, [small], Silent(), only=["mpchat"])
    attach(sail, lake)
    assert [row.corpus_id for row in sail.table("bi.corpora").collect()] == ["mpchat"]


@pytest.mark.slow
def test_it_can_be_imported_without_pyspark() -> None:
    code = "import sys; sys.modules['pyspark'] = None; from talkhouse.lake import attach; import talkhouse.spark.check"
    subprocess.run([sys.executable, "-c", code], check=True)


def with_one_view(lake: Path, replaced: str = "", by: str = "") -> Path:
    """Leave only bi.corpora of a lake's views, with one column written otherwise, and the view that it reads."""
    path = lake / read(lake).snapshot / "translation.json"
    found = json.loads(path.read_bytes())
    views = {f"{view['schema']}.{view['name']}": view for view in found["views"]}
    found["views"] = [views.pop("bi.default_releases"), view := views.pop("bi.corpora")]
    found["unportable"] += [
        {"schema": view["schema"], "name": view["name"], "reason": "a test"} for view in views.values()
    ]
    columns = ", ".join(by if column["name"] == replaced else column["name"] for column in view["columns"])
    view["sql"] = f"SELECT {columns} FROM (\n{view['sql']}\n)"
    path.write_text(json.dumps(found))
    return lake


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "instead", "message"),
    [
        ("title", "concat(title, if(corpus_id = 'delidata', ' ', ''))", "(corpus_id='delidata', title): another value"),
        ("title", "1", "other columns"),
        ("corpus_id", "upper(corpus_id)", "a row"),
        ("title", "nothing", "Spark refuses to create it"),
        ("title", "concat(title, raise_error('no'))", "Spark fails"),
    ],
    ids=["cell", "type", "key", "sql", "row"],
)
def test_a_check_tells_how_a_view_differs(lake: Path, sail_url: str, column: str, instead: str, message: str) -> None:
    done = check(with_one_view(lake, column, instead), sail_url, Silent())
    assert [relation.name for relation in done.different] == ["bi.corpora"]
    assert message in str(done.different[0].difference)


@pytest.mark.slow
def test_the_command_ends_with_1_only_where_something_differs(lake: Path, sail_url: str) -> None:
    command = ("--check", "--remote", sail_url)
    done = run("lake", with_one_view(lake), *command)
    assert (done.returncode, done.stdout[:5]) == (0, "Equal")
    done = run("lake", with_one_view(lake, "title", "''"), *command, "--json")
    assert (done.returncode, json.loads(done.stdout)["different"]) == (1, ["bi.corpora"])


def test_files_that_are_not_as_written_are_told_before_spark_is_asked(lake: Path) -> None:
    paths = [lake / file.path for file in read(lake).table("main.turns").files]  # type: ignore[union-attr]
    paths[0].unlink()
    paths[1].write_bytes(paths[1].read_bytes()[:-1] + b"x")
    with pytest.raises(LakeDamaged, match="2 of"):
        check(lake, "sc://127.0.0.1:1", Silent())


@pytest.mark.slow
def test_folders_that_are_no_lake_or_another_are_refused(lake: Path, tmp_path: Path, sail: "SparkSession") -> None:
    with pytest.raises(NotALake):
        attach(sail, tmp_path)
    path = lake / "manifest.json"
    text = path.read_text()
    path.write_text(text.replace('"format": 1', '"format": 2'))
    with pytest.raises(SchemaMismatch):
        attach(sail, lake)
    path.write_text(text.replace(f'"revision": "{read_revision(text)}"', '"revision": "9999"'))
    with pytest.raises(SchemaMismatch):
        attach(sail, lake)
    path.write_text(text.replace(f'"catalogue": "{json.loads(text)["catalogue"]}"', '"catalogue": "other"'))
    with pytest.raises(SchemaMismatch, match="other views"):
        check(lake, "sc://127.0.0.1:1", Silent())


def read_revision(text: str) -> str:
    return str(json.loads(text)["revision"])


@pytest.mark.slow
def test_a_place_where_the_engine_finds_no_files_is_told(lake: Path, tmp_path: Path, sail: "SparkSession") -> None:
    with pytest.raises(SparkFailed, match="does not find"):
        attach(sail, lake, location=str(tmp_path / "elsewhere"))


@pytest.mark.slow
@pytest.mark.usefixtures("sail_url")
def test_a_version_that_nobody_has_compared_is_refused(lake: Path) -> None:
    with (
        sail_server.running("3.4.1") as url,
        sail_server.session(url) as spark,
        pytest.raises(UsageError, match=r"Spark 3\.4\.1"),
    ):
        attach(spark, lake)


def open_session(url: str, folder: Path) -> None:
    with session(url, rows=1, folder=folder):
        pytest.fail("there is a session")


@pytest.mark.usefixtures("pyspark")
def test_nobody_at_the_other_end_is_told_at_once(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for url in (f"sc://127.0.0.1:{port}", f"spark://127.0.0.1:{port}"):
        with pytest.raises(SparkFailed, match="refused"):
            open_session(url, tmp_path)
    for url in ("sc://", "spark://[", "sc:/x", "spark://a:b"):
        with pytest.raises(UsageError, match="not an address"):
            open_session(url, tmp_path)


@pytest.mark.usefixtures("pyspark")
def test_without_java_or_pyspark_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="openjdk"):
        open_session("local[2]", tmp_path)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(UsageError, match=r"talkhouse\[spark\]"):
        open_session("local[2]", tmp_path)
