"""What Hugging Face's ``datasets`` opens of packages: every value of every view, at once and streamed, and no other."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from talkhouse.export.formats import Tool
from talkhouse.export.selection import Filters
from talkhouse.packages.content import Config
from talkhouse.packages.export import WrittenPackage, export_package
from talkhouse.packages.plan import plan
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.opened import Warehouse
from tests.outside import run
from tests.samples import GROUPS, RELEASES

pytestmark = pytest.mark.packages

TASK = f"{RELEASES}.breakdown_detection"
READ = Path(__file__).with_name("read_with_datasets.py")
Connection = duckdb.DuckDBPyConnection


def opened(cache: Path, *folders: Path) -> dict[str, Any]:
    python = ["uv", "run", "--quiet", "--no-project", "--python", "3.11", "--with", "datasets==5.2.0", "python"]
    found: dict[str, Any] = json.loads(run([*python, str(READ), str(cache), *map(str, folders)], cache.parent))
    return found


def exported(con: Connection, name: str, folder: Path, **options: Any) -> WrittenPackage:
    return export_package(Warehouse(con), name, Tool.HUGGINGFACE, folder, is_accepted=True, **options)


def rows_of(con: Connection, config: Config, split: str | None) -> list[dict[str, Any]]:
    relation = con.sql(config.selection.sql())
    index = relation.columns.index("split") if "split" in relation.columns else None
    rows = [row for row in relation.fetchall() if index is None or row[index] == split]
    found: list[dict[str, Any]] = json.loads(
        json.dumps([dict(zip(relation.columns, row, strict=True)) for row in rows], default=str)
    )
    return found


def test_every_value_of_every_corpus_is_that_of_its_view(con: Connection, tmp_path: Path) -> None:
    names = [*Warehouse(con).corpus_ids, "bi.turns", "main.corpora", f"{TASK}_eval"]
    written = {name: exported(con, name, tmp_path / name) for name in names}
    read = opened(tmp_path / "cache", *(tmp_path / name for name in names))
    for name, package in written.items():
        configs = package.package.configs
        found = read[str(tmp_path / name)]
        assert sorted(found) == sorted(config.name for config in configs)
        for config in configs:
            assert [*found[config.name]] == [split.name for split in config.splits]
            for split in config.splits:
                assert found[config.name][split.name]["rows"] == rows_of(con, config, split.published), config.name
    eval_rows = read[str(tmp_path / f"{TASK}_eval")]["breakdown_detection_eval"]["eval"]
    assert eval_rows["features"]["label"] == "ClassLabel(names=['O', 'T', 'X'])"
    assert eval_rows["features"]["context"] == "List(Value('string'))"
    assert [*read[str(tmp_path / GROUPS)]["outcome"]] == ["train"]


def test_a_package_in_the_same_place_is_not_served_from_the_cache(con: Connection, tmp_path: Path) -> None:
    folder, counts = tmp_path / "same", []
    for where in ("turn_index < 8", "turn_index >= 8"):
        exported(con, TASK, folder, filters=Filters(where=where))
        read = opened(tmp_path / "cache", folder)
        rows = [row for split in read[str(folder)]["breakdown_detection"].values() for row in split["rows"]]
        assert rows
        assert {row["turn_index"] < 8 for row in rows} == {where == "turn_index < 8"}
        counts.append(len(rows))
        shutil.rmtree(folder)
    assert sum(counts) == con.execute(f"select count(*) from {TASK} where is_default").fetchall()[0][0]


ODD = sql_of(__file__, "datasets_odd")


def test_odd_splits_texts_and_lists_survive(writable: Connection, tmp_path: Path) -> None:
    writable.execute(ODD)
    (config,) = exported(writable, "stored", tmp_path / "odd").package.configs
    found = opened(tmp_path / "cache", tmp_path / "odd")[str(tmp_path / "odd")]["stored"]
    assert [*found] == ["test", "10_of_it", "dev_2", "x.y", "é", "train"]
    for split in config.splits:
        assert found[split.name]["rows"] == rows_of(writable, config, split.published), split


@pytest.mark.parametrize("labels", [["None", "0", "Yes", "no", "null", "1e3", "", " ", "~", "a: b", "é", '"', "#x"]])
def test_names_of_labels_are_as_they_are(writable: Connection, tmp_path: Path, labels: list[str]) -> None:
    writable.execute(f"delete from main.labels where scheme = '{RELEASES}.breakdown'")
    for index, label in enumerate(labels):
        row = [f"{RELEASES}.breakdown", label, index]
        writable.execute("insert into main.labels (scheme, label, label_index) values (?, ?, ?)", row)
    names = "[" + ", ".join(f"'{label}'" for label in labels) + "]"
    writable.execute(
        f"create table main.stored as select * replace ({names}[example_index % {len(labels)} + 1] as label, "
        f"null::varchar as label_at_half) from {TASK}"
    )
    writable.execute(f"create or replace view {TASK} as from main.stored")
    exported(writable, TASK, tmp_path / "labels")
    found = opened(tmp_path / "cache", tmp_path / "labels")[str(tmp_path / "labels")]["breakdown_detection"]
    config = plan(Warehouse(writable), TASK).configs[0]
    assert [label.label for label in config.classes[0].labels] == labels
    for split in config.splits:
        rows = rows_of(writable, config, split.published)
        assert [row["label"] for row in found[split.name]["rows"]] == [row["label"] for row in rows]
