"""The dataset card: a head as ``datasets`` and the Hub read it, and what is said of rows, terms and people."""

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.export.formats import Tool
from talkhouse.export.selection import Filters
from talkhouse.export.terms import LicencePart
from talkhouse.packages.export import export_package, table
from talkhouse.packages.huggingface import fingerprint, hub_licences, size_category
from talkhouse.warehouse.opened import Warehouse
from tests.samples import GROUPS, PICTURES, POSTS, RELEASES, SUGGESTIONS

TASK = f"{RELEASES}.breakdown_detection"

# As the Hub has them (huggingface.co/tasks, and its documentation of dataset cards).
TASK_CATEGORIES = {"text-classification", "text-generation", "text-ranking", "question-answering"}
SIZES = {"n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B"}
KEYS = {
    *("pretty_name", "language", "license", "license_name", "license_link", "task_categories", "size_categories"),
    *("source_datasets", "tags", "configs", "dataset_info"),
}


def card(con: duckdb.DuckDBPyConnection, name: str, folder: Path, **options: Any) -> tuple[dict[str, Any], str]:
    export_package(Warehouse(con), name, Tool.HUGGINGFACE, folder, is_accepted=True, **options)
    empty, head, body = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    assert empty == ""
    return yaml.safe_load(head), body


@pytest.mark.slow
@pytest.mark.parametrize("name", [SUGGESTIONS, RELEASES, GROUPS, POSTS, PICTURES, "bi.turns"])
def test_the_head_is_as_the_hub_has_it(con: duckdb.DuckDBPyConnection, tmp_path: Path, name: str) -> None:
    head, body = card(con, name, tmp_path / "out")
    assert set(head) <= KEYS
    assert set(head.get("task_categories", ())) <= TASK_CATEGORIES
    assert set(head["size_categories"]) <= SIZES
    assert all(re.fullmatch("[a-z]{2}", language) for language in head["language"])
    assert [config["config_name"] for config in head["configs"] if config.get("default")] == [
        head["configs"][0]["config_name"]
    ]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert head["dataset_info"] == sorted(head["dataset_info"], key=lambda info: str(info["config_name"]))
    for config, info in zip(head["configs"], head["dataset_info"], strict=True):
        files = [file for file in manifest["files"] if file["config"] == config["config_name"]]
        assert [split["name"] for split in info["splits"]] == [file["split"] for file in config["data_files"]]
        assert sum(split["num_examples"] for split in info["splits"]) == sum(file["rows"] for file in files)
        assert info["download_size"] == sum((tmp_path / "out" / file["path"]).stat().st_size for file in files)
        assert info["dataset_size"] == sum(split["num_bytes"] for split in info["splits"])
        for pattern in config["data_files"]:
            assert list((tmp_path / "out").glob(pattern["path"]))
        assert f"### {config['config_name']}\n" in body
        for feature in info["features"]:
            assert f"| {feature['name']} |" in body


def test_the_card_of_a_filtered_view_says_which_rows_it_has(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    head, body = card(con, TASK, tmp_path / "out", filters=Filters(split="eval", where="turn_index > 2"))
    (info, *_) = head["dataset_info"]
    assert [split["name"] for split in info["splits"]] == ["eval"]
    assert 0 < info["dataset_size"] == sum(split["num_bytes"] for split in info["splits"])
    assert "split: `eval`; where: `turn_index > 2`" in body
    assert re.fullmatch(rf"{TASK}, files [0-9a-f]{{16}}", head["configs"][0]["description"])
    (label,) = (feature for feature in head["dataset_info"][0]["features"] if feature["name"] == "label")
    assert label["dtype"] == {"class_label": {"names": {"0": "O", "1": "T", "2": "X"}}}
    assert "invented sample" in body
    assert "not published" in body


@pytest.mark.slow
def test_the_card_of_a_published_corpus_has_its_datasheet(writable: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    ((datasheet,),) = writable.execute("select datasheet from main.corpora where corpus_id = ?", [RELEASES]).fetchall()
    sheet = json.loads(datasheet)
    _, of_sample = card(writable, TASK, tmp_path / "sample")
    assert sheet["collection"] not in of_sample
    writable.execute("update main.corpora set is_sample = false")
    _, body = card(writable, TASK, tmp_path / "published")
    for sentence in (sheet["collection"], sheet["labelling"], sheet["limits"], *sheet["quirks"], *sheet["sources"]):
        assert sentence in body


@pytest.mark.slow
def test_other_rows_have_another_fingerprint(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    heads = [
        card(con, TASK, tmp_path / str(least), filters=Filters(where=f"turn_index > {least}"))[0] for least in (1, 2)
    ]
    assert heads[0]["configs"][0]["description"] != heads[1]["configs"][0]["description"]
    assert fingerprint([]) == fingerprint([])


@given(st.integers(1, 10**10))
def test_sizes_are_named_by_powers_of_ten(rows: int) -> None:
    assert size_category(rows) in SIZES
    bounds = {"K": 10**3, "M": 10**6, "B": 10**9}
    ends = [int(number) * bounds.get(unit, 1) for number, unit in re.findall(r"(\d+)([KMB]?)", size_category(rows))]
    assert rows < ends[-1] or ends[-1] == 10**10
    assert len(ends) == 1 or rows >= ends[0]


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=3))
def test_no_cell_ends_a_table(rows: list[list[str]]) -> None:
    lines = table(("a", "b"), rows)
    assert len(lines) == len(rows) + 3
    for line in lines[:-1]:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3
        assert "\n" not in line
        assert "<" not in line.replace("<br>", "")


def part(spdx: str | None) -> LicencePart:
    return LicencePart("toy", "all", spdx, None, True, False, False, spdx is None, "")


@pytest.mark.parametrize(
    ("licences", "ids"),
    [
        (["MIT", "CC-BY-SA-4.0"], ["mit", "cc-by-sa-4.0"]),
        (["Apache-2.0"], ["apache-2.0"]),
        (["CC-BY-SA-2.5", "CC-BY-SA-3.0", "CC-BY-SA-4.0"], ["cc-by-sa-3.0", "cc-by-sa-4.0", "other"]),
        ([f"CC-BY-4.0 AND LicenseRef-{PICTURES}-non-commercial-research"], ["other"]),
        (["CC-BY-4.0", "CC-BY-4.0", "CC0-1.0 OR (MIT AND CC-BY-4.0)"], ["cc-by-4.0", "cc0-1.0", "mit"]),
        (["GPL-3.0-or-later", "LGPL-2.1-only", "ODbL-1.0"], ["gpl-3.0", "lgpl-2.1", "odbl"]),
        (["GPL-2.0-only WITH Classpath-exception-2.0"], ["other"]),
        ([None], ["other"]),
        ([], []),
    ],
)
def test_the_hub_has_its_own_ids(licences: list[str | None], ids: list[str]) -> None:
    assert hub_licences(map(part, licences)) == ids
