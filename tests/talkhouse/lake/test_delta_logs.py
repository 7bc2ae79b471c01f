"""Logs of Delta: other programs open every table with its rows; a log comes, stays and goes with its snapshot."""

import json
import shutil
from pathlib import Path

import polars
import pytest
from msgspec import structs

from talkhouse.lake.write_lake import LakeOutcome
from talkhouse.lake_format import lake_manifest
from talkhouse.lake_format.documents import delta_logs
from talkhouse.lake_format.lake_manifest import LakeTable, strangers
from tests import sail_server
from tests.corpora.unusual import files_in
from tests.talkhouse.lake.test_hostile import tree
from tests.talkhouse.lake.test_write_lake import change, changeable, odd, written

__all__ = ["changeable", "odd"]


def logs(lake: Path) -> list[str]:
    return sorted(path.relative_to(lake).parts[0] for path in lake.rglob("_delta_log/*"))


def test_a_log_adds_the_files_of_the_manifest_and_asks_for_no_more_than_the_columns_need(lake: Path) -> None:
    current = lake_manifest.read(lake)
    assert delta_logs(current) == {}
    found = delta_logs(structs.replace(current, delta=True))
    for table in current.tables:
        lines = found[f"{table.schema}/{table.name}/_delta_log/00000000000000000000.json"].decode().splitlines()
        protocol, _, *actions = (json.loads(line) for line in lines)
        added = [action["add"] for action in actions]
        assert [
            (file["path"], file["partitionValues"]["corpus"], json.loads(file["stats"])["numRecords"]) for file in added
        ] == [(file.path.removeprefix(f"{table.folder}/"), file.corpus, file.rows) for file in table.files]
        assert all((lake / table.folder / file["path"]).stat().st_size == file["size"] for file in added)
        has_times = "TIMESTAMP" in {column.type for column in table.columns}
        assert (protocol["protocol"]["minReaderVersion"] == 3) == has_times


def rows_of_files(lake: Path, table: LakeTable) -> polars.DataFrame:
    of_corpora = [
        polars.read_parquet(lake / file.path, hive_partitioning=False).with_columns(corpus=polars.lit(file.corpus))
        for file in table.files
    ]
    return polars.concat(of_corpora)


@pytest.mark.slow
def test_delta_rs_polars_and_sail_open_every_table(odd: Path, tmp_path: Path, sail_url: str) -> None:
    deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed: uv sync --group spark")
    lake = tmp_path / "lake"
    written(lake, odd, delta=True)
    current = lake_manifest.read(lake)
    licences = {str(corpus["corpus_id"]): corpus["licence"] for corpus in current.corpora}
    with sail_server.session(sail_url) as spark:
        for table in current.tables:
            expected, delta = rows_of_files(lake, table), deltalake.DeltaTable(lake / table.folder)
            assert (delta.version(), delta.count()) == (0, table.rows), table.name
            found = polars.read_delta(delta)
            assert found.schema == expected.schema, table.name
            assert sorted(map(repr, found.rows())) == sorted(map(repr, expected.rows())), table.name
            assert spark.read.format("delta").load(str(lake / table.folder)).count() == table.rows, table.name
            assert delta.metadata().description == table.comment
            comments = [field.metadata.get("comment", "") for field in delta.schema().fields[:-1]]
            assert comments == [column.comment for column in table.columns]
            assert [field.nullable for field in delta.schema().fields[:-1]] == [item.nullable for item in table.columns]
            configuration = delta.metadata().configuration
            assert configuration["talkhouse.grain"] == ", ".join(table.grain)
            for corpus, fingerprint in table.fingerprints.items():
                assert configuration[f"talkhouse.{corpus}.fingerprint"] == fingerprint
                assert configuration.get(f"talkhouse.{corpus}.licence") == licences.get(corpus)
        spark.sql(f"create table by_name using delta location '{lake}/snapshot-1/main/turns'")
        counts = spark.sql("select corpus, count(*) from by_name group by corpus order by corpus").collect()
        turns = rows_of_files(lake, next(table for table in current.tables if table.full_name == "main.turns"))
        assert [tuple(row) for row in counts] == turns.group_by("corpus").len().sort("corpus").rows()
    assert strangers(current, lake) == []


@pytest.mark.slow
def test_logs_come_to_an_unchanged_lake_stay_and_go_with_their_snapshot_through_no_link(
    changeable: Path, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    assert written(lake, changeable).delta is False
    assert (written(lake, changeable, delta=True, dry_run=True).outcome, logs(lake)) == (LakeOutcome.DRY_RUN, [])
    done = written(lake, changeable, delta=True)
    assert (done.outcome, done.delta, [part for part in done.parts if part.is_new]) == (LakeOutcome.WRITTEN, True, [])
    tables = len(lake_manifest.read(lake).tables)
    assert logs(lake) == ["snapshot-2"] * tables
    before = files_in(lake)
    assert written(lake, changeable).outcome == written(lake, changeable, delta=True).outcome == LakeOutcome.UNCHANGED
    assert files_in(lake) == before
    log = "main/turns/_delta_log/00000000000000000000.json"
    (lake / "snapshot-2" / log).write_text("{}")
    assert written(lake, changeable).outcome == LakeOutcome.WRITTEN
    assert (lake / "snapshot-3" / log).read_bytes() == before[f"snapshot-2/{log}"]
    # Another program commits, and somebody puts a link in place of a log: nothing else of the snapshot stays.
    commit = lake / "snapshot-3" / log.replace("0.json", "1.json")
    commit.write_text("{}")
    outside = Path(shutil.move(lake / "snapshot-3/main/parts/_delta_log", tmp_path / "outside"))
    link = lake / "snapshot-3/main/parts/_delta_log"
    link.symlink_to(outside)
    kept_outside = tree(outside)
    for number in (4, 5):
        change(changeable, f"update main.corpora set terms = '{number}' where corpus_id = 'delidata'")
        done = written(lake, changeable)
    assert (done.delta, done.left) == (True, ("snapshot-3",))
    left = [path for path in (lake / "snapshot-3").rglob("*") if not path.is_dir() or path.is_symlink()]
    assert sorted(left) == sorted([commit, link])
    assert tree(outside) == kept_outside
    assert logs(lake) == [*["snapshot-3"] * 2, *["snapshot-4"] * tables, *["snapshot-5"] * tables]
    assert not (lake / "snapshot-2").exists()
