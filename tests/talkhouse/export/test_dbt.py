"""The sources of dbt: all that a warehouse has, as its own metadata describe it, and dbt itself."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from talkhouse.export.dbt import write_sources
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.opened import opened
from tests import outside

PROJECT = "name: t\nversion: 1.0.0\nprofile: t\nmodel-paths: [models]\n"
PROFILE = """
t:
  target: dev
  outputs: {dev: {type: duckdb, path: own.duckdb, attach: [{path: talkhouse.duckdb, read_only: true}]}}
"""


def test_all_views_and_tables_are_sources_with_their_comments(sample: Path, tmp_path: Path) -> None:
    output = tmp_path / "sources.yml"
    with opened(sample) as warehouse:
        count = write_sources(warehouse, output)
        expected = warehouse.con.execute(
            "select schema_name, view_name, comment from duckdb_views() where not internal union all "
            "select schema_name, table_name, comment from duckdb_tables() order by all"
        ).fetchall()
        with pytest.raises(UsageError):
            write_sources(warehouse, output)
    sources = yaml.safe_load(output.read_text("utf-8"))["sources"]
    tables = {(source["name"], table["name"]): table for source in sources for table in source["tables"]}
    assert [(*name, table.get("description")) for name, table in tables.items()] == expected
    assert count == len(expected)
    turns = {column["name"]: column for column in tables["main", "turns"]["columns"]}
    assert turns["dialogue_id"]["data_tests"] == [
        "not_null",
        {"relationships": {"arguments": {"to": "source('main', 'dialogues')", "field": "dialogue_id"}}},
    ]
    assert "data_tests" not in turns["said_at"]
    dialogues = {column["name"]: column for column in tables["main", "dialogues"]["columns"]}
    assert dialogues["dialogue_id"]["data_tests"][:2] == ["unique", "not_null"]


@pytest.mark.packages
def test_dbt_runs_the_tests(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    shutil.copyfile(sample, tmp_path / "talkhouse.duckdb")
    with opened(tmp_path / "talkhouse.duckdb") as warehouse:
        count = write_sources(warehouse, tmp_path / "models" / "sources.yml")
    (tmp_path / "dbt_project.yml").write_text(PROJECT)
    (tmp_path / "profiles.yml").write_text(PROFILE)
    # Of 1.12, a part is downloaded while it is installed, from elsewhere.
    python = outside.python_with(tmp_path / "env", ["dbt-core<1.12", "dbt-duckdb"])
    quiet = ["env", "DBT_SEND_ANONYMOUS_USAGE_STATS=false", str(python.with_name("dbt")), "test", "--profiles-dir", "."]
    shown = outside.run(quiet, tmp_path)
    assert f"{count} sources" in shown
    assert re.search(r"PASS=(\d+) WARN=0 ERROR=0 SKIP=0", shown)
