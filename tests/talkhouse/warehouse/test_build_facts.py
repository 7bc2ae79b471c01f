"""``status`` counts what ``bi.corpora`` counts, and needs neither a build nor a corpus."""

from pathlib import Path

import duckdb
import pytest

from talkhouse import migrations
from talkhouse.queries.catalogue import catalogue
from talkhouse.queries.views import create_views
from talkhouse.warehouse.build_facts import files, findings, status


def test_its_counts_are_those_of_the_view(con: duckdb.DuckDBPyConnection, sample: Path) -> None:
    counted = con.execute("select corpus_id, turn_count, file_count, finding_count from bi.corpora").fetchall()
    found = status(con, sample, {})["corpora"]
    assert [(row["corpus_id"], row["turns"], row["files"], row["findings"]) for row in found] == sorted(counted)


@pytest.mark.slow
def test_an_empty_warehouse_has_nothing(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    migrations.upgrade(path)
    with duckdb.connect(path) as con:
        create_views(con, catalogue())
        found = status(con, path, {})
        assert (found["build"], found["corpora"], found["findings_without_corpus"]) == (None, [], 0)
        assert (findings(con), files(con)) == ([], [])
