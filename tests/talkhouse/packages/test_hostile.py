"""Packages, files and descriptions of a warehouse in which every text means something to a format or a pattern."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import polars as pl
import pytest
import yaml
from markdown_it import MarkdownIt

import talkhouse
from tests.commands import run
from tests.hostile import CORPUS, TEXTS, make_hostile
from tests.samples import POSTS, RELEASES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def hostile(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "w.duckdb"
    make_hostile(path, sample)
    return path


def done(*command: object, db: Path) -> str:
    found = run(*command, "--db", db)
    assert found.returncode == 0, found.stderr
    return found.stdout


def texts_of(hostile: Path, corpus: str) -> set[str]:
    with talkhouse.open(hostile) as con:
        rows = con.execute(
            "select text from main.turns join main.dialogues using (dialogue_id) where corpus_id = ?", [corpus]
        ).fetchall()
    return {text for (text,) in rows}


def is_plain(page: str) -> bool:
    """Whether a page of Markdown has no markup that comes from a text of the warehouse."""
    html = MarkdownIt("gfm-like", {"linkify": False}).render(page)
    # As the names of splits and addresses have them, too.
    lost = re.findall(r"(?<![\[_])(?<!%5B)z(?:red|link)|(?<![*_])zbold|(?<![`_])zcode", html)
    return not lost and not re.findall(r'<img|<script|<style|id="acted"|href="(?!http)', html)


@pytest.mark.parametrize("corpus", [RELEASES, POSTS])
def test_every_package_has_every_text(hostile: Path, tmp_path: Path, corpus: str) -> None:
    tools = ("huggingface", "croissant", "convokit", "labelstudio", "argilla")
    folders = {tool: tmp_path / tool for tool in tools}
    for tool, folder in folders.items():
        done("export", corpus, "--for", tool, "--accept-terms", "--output", folder, db=hostile)
        assert is_plain((folder / "LICENSE.md").read_text("utf-8"))
        assert yaml.safe_load((folder / "CITATION.cff").read_text("utf-8"))["title"]
        json.loads((folder / "manifest.json").read_text("utf-8"))
    texts = texts_of(hostile, corpus)
    utterances = (folders["convokit"] / "utterances.jsonl").read_bytes().decode().split("\n")
    assert {json.loads(line)["text"] for line in utterances if line} == texts
    tasks = json.loads((folders["labelstudio"] / "tasks.json").read_text("utf-8"))
    assert {turn["text"] for task in tasks for turn in task["data"]["dialogue"]} == texts
    records = json.loads((folders["argilla"] / "records.json").read_text("utf-8"))
    assert {turn["content"] for record in records for turn in record["fields"]["dialogue"]} == texts
    _, head, page = (folders["huggingface"] / "README.md").read_text("utf-8").split("---\n", 2)
    assert is_plain(page)
    for config in yaml.safe_load(head)["dataset_info"]:
        same_as_the_view(hostile, corpus, config, folders["huggingface"])


def same_as_the_view(hostile: Path, corpus: str, config: dict[str, Any], folder: Path) -> None:
    """Check that the labels of a configuration are those of its view, where it has numbers for them."""
    rows = pl.concat(
        pl.read_parquet(file) for file in sorted((folder / "data" / config["config_name"]).glob("*.parquet"))
    )
    view = "breakdown_detection" if corpus == RELEASES else config["config_name"]
    release = rows["release"][0] if config["config_name"] != view else None
    condition = "release = $1" if release else "is_default and $1 is null"
    for feature in config["features"]:
        names = feature["dtype"]["class_label"]["names"] if "class_label" in (feature.get("dtype") or {}) else None
        if names is not None:
            found = rows[feature["name"]].value_counts().rows()
            with talkhouse.open(hostile) as con:
                column = feature["name"]
                query = f"select {column}, count(*) from {corpus}.{view} where {condition} group by all"
                wanted = con.execute(query, [release]).fetchall()
            assert {None if at is None else names[str(at)]: count for at, count in found} == dict(wanted)


def test_labels_of_any_signs_are_the_same_in_the_tasks_and_their_interface(hostile: Path, tmp_path: Path) -> None:
    done("export", RELEASES, "--for", "labelstudio", "--output", tmp_path / "tasks", db=hostile)
    config = ElementTree.fromstring((tmp_path / "tasks" / "label_config.xml").read_text("utf-8"))  # noqa: S314 - ours
    items = [item.attrib for control in config.iter("ParagraphLabels") for item in control]
    known = {item.get("alias", item["value"]) for item in items}
    assert not [item for item in items if re.search(r"\$[\w[\].{}]", item["value"])]  # what the editor replaces
    tasks = json.loads((tmp_path / "tasks" / "tasks.json").read_text("utf-8"))
    results = [result for task in tasks for prediction in task["predictions"] for result in prediction["result"]]
    assert {result["value"]["paragraphlabels"][0] for result in results} <= known


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_every_file_has_every_text(hostile: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"turns.{kind}"
    done("export", "bi.turns", "--columns", "text", "--accept-terms", "--output", path, db=hostile)
    read = {
        "csv": lambda: pl.read_csv(path),
        "tsv": lambda: pl.read_csv(path, separator="\t"),
        "jsonl": lambda: pl.DataFrame([json.loads(line) for line in path.read_bytes().decode().split("\n") if line]),
        "parquet": lambda: pl.read_parquet(path),
        "arrow": lambda: pl.read_ipc(path),
    }[kind]()
    with talkhouse.open(hostile) as con:
        wanted = {text for (text,) in con.execute("select text from main.turns").fetchall()}
    assert {*read["text"]} == wanted


def test_dashboards_and_citations_are_made_of_every_text(hostile: Path, tmp_path: Path) -> None:
    done("export", "--for", "superset", "--output", tmp_path / "b.zip", db=hostile)
    with ZipFile(tmp_path / "b.zip") as bundle:
        pages = [yaml.safe_load(bundle.read(name)) for name in bundle.namelist()]
    assert {f"bar{text}" for text in TEXTS} <= {page.get("slice_name") for page in pages}
    for form in ("bibtex", "csl", "text"):
        assert done("cite", CORPUS, "--format", form, db=hostile)
    page = done("sql", "select distinct text from main.turns", "--format", "markdown", db=hostile)
    assert is_plain(page)
