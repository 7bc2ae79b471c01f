"""What croissant.json says of a package, read as plain JSON; what mlcroissant makes of it: test_mlcroissant.py."""

import json
import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.export.export import settings
from talkhouse.export.formats import Tool
from talkhouse.export.selection import NO_FILTERS, Filters
from talkhouse.export.terms import LicencePart
from talkhouse.packages.croissant import licences
from talkhouse.packages.croissant_record_sets import DataType, Ids, data_type
from talkhouse.packages.export import export_package
from talkhouse.warehouse.opened import opened
from tests.samples import GROUPS, PICTURES, POSTS, RELEASES


def _exported(sample: Path, name: str, output: Path, tool: Tool = Tool.CROISSANT, filters: Filters = NO_FILTERS) -> Any:
    with opened(sample, settings=settings(output)) as warehouse:
        export_package(warehouse, name, tool, output, filters=filters, is_accepted=True)
    return json.loads((output / "croissant.json").read_bytes())


def _nodes(document: Any, key: str) -> dict[str, Any]:
    return {node["@id"]: node for node in document[key]}


def _fields(record_set: Any) -> dict[str, Any]:
    return {field["name"]: field for field in record_set["field"]}


def test_a_corpus_is_described_file_by_file_and_column_by_column(sample: Path, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    document = _exported(sample, RELEASES, folder)
    assert (folder / "croissant.json").read_bytes().isascii()

    distribution = _nodes(document, "distribution")
    on_disk = {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")}
    files = {node["contentUrl"]: node for node in distribution.values() if node["@type"] == "cr:FileObject"}
    assert files.keys() == on_disk
    for path, node in files.items():
        content = (folder / path).read_bytes()
        assert (node["sha256"], node["contentSize"]) == (sha256(content).hexdigest(), f"{len(content)} B")
    file_set = distribution["breakdown_detection_files"]
    assert file_set["includes"] == "data/breakdown_detection/*.parquet"
    assert "containedIn" not in file_set

    record_sets = _nodes(document, "recordSet")
    rows = record_sets["breakdown_detection"]
    assert [each["@id"].partition("/")[2] for each in rows["key"]] == ["release", "split", "example_index"]
    fields = _fields(rows)
    assert (fields["example_index"]["dataType"], fields["prob_o"]["dataType"]) == ("cr:Int32", "cr:Float64")
    assert (fields["context"]["isArray"], fields["context"]["arrayShape"]) == (True, "-1")
    assert fields["label"]["dataType"] == "sc:Text"
    assert "breakdown_detection_labels" in fields["label"]["description"]
    assert [name for name, field in fields.items() if "references" in field] == ["file_split"]
    assert fields["file_split"]["source"]["transform"] == {"regex": r"^(dev|eval)(?:-.*\.parquet)?$"}

    splits, labels = record_sets["breakdown_detection_splits"], record_sets["breakdown_detection_labels"]
    assert (splits["dataType"], labels["dataType"]) == ("cr:Split", "sc:Enumeration")
    assert [[*row.values()] for row in splits["data"]] == [["dev", "cr:ValidationSplit"], ["eval", "cr:TestSplit"]]
    assert [
        (row["breakdown_detection_labels/number"], row["breakdown_detection_labels/name"]) for row in labels["data"]
    ] == [(0, "O"), (1, "T"), (2, "X")]
    assert all(row["breakdown_detection_labels/meaning"] for row in labels["data"])

    assert document["creator"][0]["name"] == "Ryuichiro Higashinaka"
    assert (document["datePublished"], document["inLanguage"]) == ("2017", ["en", "ja"])
    assert document["rai:annotationsPerItem"].startswith(f"{RELEASES}.breakdown: 30")
    assert document["rai:annotatorDemographics"] == ["not published"]
    assert any("Krippendorff" in line for line in document["rai:dataAnnotationAnalysis"])
    assert document["prov:wasDerivedFrom"]
    assert all(len(file["sha256"]) == 64 for file in document["prov:wasDerivedFrom"])


@pytest.mark.slow
def test_the_same_warehouse_makes_the_same_bytes(sample: Path, tmp_path: Path) -> None:
    for tool in (Tool.CROISSANT, Tool.HUGGINGFACE):
        for name in ("once", "again"):
            (tmp_path / tool).mkdir(exist_ok=True)
            _exported(sample, POSTS, tmp_path / tool / name, tool)
        once, again = (
            {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
            for folder in (tmp_path / tool / "once", tmp_path / tool / "again")
        )
        assert once == again != {}


@pytest.mark.slow
def test_a_split_that_covers_all_has_its_name_but_in_hugging_face_packages(sample: Path, tmp_path: Path) -> None:
    for tool, name in ((Tool.CROISSANT, "all"), (Tool.HUGGINGFACE, "train")):
        document = _exported(sample, f"{GROUPS}.outcome", tmp_path / tool, tool)
        (split,) = _nodes(document, "recordSet")["outcome_splits"]["data"]
        assert split == {"outcome_splits/name": name, "outcome_splits/url": None}
        (path,) = (tmp_path / tool / "data" / "outcome").iterdir()
        assert path.name == f"{name}-00000-of-00001.parquet"


@pytest.mark.slow
def test_it_says_which_rows_were_wanted(sample: Path, tmp_path: Path) -> None:
    filters = Filters(split="dev", release=RELEASES)
    document = _exported(sample, f"{RELEASES}.breakdown_detection", tmp_path / "package", filters=filters)
    assert document["description"].endswith(
        f"Not all rows are here, but only those of: split dev; publisher's release {RELEASES}."
    )
    assert len(_nodes(document, "recordSet")["breakdown_detection_splits"]["data"]) == 1


@pytest.mark.slow
def test_rows_of_several_corpora_name_them_all(sample: Path, tmp_path: Path) -> None:
    document = _exported(sample, "bi.turns", tmp_path / "package")
    assert {RELEASES, POSTS, PICTURES} <= set(document["keywords"])
    assert "url" not in document
    assert document["citeAs"].count("@") >= 5


PART = LicencePart("toy", "all", "MIT", "https://toy.org/licence", True, False, False, False, "")
CORPUS = {"corpus_id": "toy", "is_sample": False, "licence": "Ask us", "terms": "", "licence_url": None}


def test_a_licence_is_an_address_of_spdx_or_a_work_of_its_own() -> None:
    parts = [PART, replace(PART, part="other"), replace(PART, part="third", spdx="(MIT OR Apache-2.0) AND CC0-1.0")]
    spdx = "https://spdx.org/licenses/"
    assert licences(parts, [CORPUS]) == [f"{spdx}MIT", f"{spdx}Apache-2.0", f"{spdx}CC0-1.0"]
    part = replace(PART, spdx="CC-BY-4.0 AND LicenseRef-toy-research", is_unknown=True, note="Only for research.")
    own = {"name": "LicenseRef-toy-research", "description": "Only for research.", "url": "https://toy.org/licence"}
    assert licences([part], [CORPUS]) == [f"{spdx}CC-BY-4.0", {"@type": "sc:CreativeWork", **own}]
    (work,) = licences([replace(PART, spdx=None, is_unknown=True, note="Nobody has said it.")], [CORPUS])
    assert (work["name"], work["description"]) == ("toy: not all terms are known", "Nobody has said it.")


def test_a_corpus_without_terms_has_the_licence_that_its_publisher_names() -> None:
    assert licences([], [CORPUS]) == [{"@type": "sc:CreativeWork", "name": "Ask us"}]
    (of_a_sample,) = licences([], [{**CORPUS, "is_sample": True}])
    assert "Invented" in of_a_sample["name"]


# Ids of nodes, which are unique; and Arrow's types as Croissant names them.


@given(st.lists(st.text(min_size=1), min_size=1))
def test_ids_are_only_once_and_no_step_in_a_path(names: list[str]) -> None:
    ids = Ids()
    new_ids = [ids.new("rows", name) for name in names]
    assert len(set(new_ids)) == len(names)
    assert all(re.fullmatch(r"rows/[\w.-]+", each) and each.partition("/")[2].strip(".") for each in new_ids)


def test_ordinary_names_stay_as_they_are() -> None:
    ids = Ids()
    assert ids.new("view", "column_1") == "view/column_1"
    assert ids.new("data", "view", "dev-00000-of-00001.parquet") == "data/view/dev-00000-of-00001.parquet"
    assert ids.new("view", "column_1") == "view/column_1_"


pa: Any = pyarrow


@pytest.mark.parametrize(
    ("arrow", "expected"),
    [
        (pa.string(), DataType("sc:Text")),
        (pa.int32(), DataType("cr:Int32")),
        (pa.uint8(), DataType("cr:UInt8")),
        (pa.float64(), DataType("cr:Float64")),
        (pa.decimal128(9, 2), DataType("cr:Float64")),
        (pa.bool_(), DataType("sc:Boolean")),
        (pa.date32(), DataType("sc:Date")),
        (pa.timestamp("us"), DataType("sc:DateTime")),
        (pa.timestamp("us", "UTC"), DataType("sc:DateTime")),
        (pa.time64("us"), DataType("sc:Time")),
        (pa.binary(), DataType("sc:Text")),
        (pa.dictionary(pa.int8(), pa.string()), DataType("sc:Text")),
        (pa.list_(pa.int64()), DataType("cr:Int64", (-1,))),
        (pa.list_(pa.list_(pa.string())), DataType("sc:Text", (-1, -1))),
        (pa.list_(pa.float32(), 3), DataType("cr:Float32", (3,))),
        (pa.struct({"a": pa.string()}), DataType(None, (), (("a", DataType("sc:Text")),))),
        (pa.list_(pa.struct({"a": pa.int8()})), DataType(None, (-1,), (("a", DataType("cr:Int8")),))),
    ],
    ids=str,
)
def test_data_type(arrow: Any, expected: DataType) -> None:
    assert data_type(arrow) == expected
