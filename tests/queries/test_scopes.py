"""Views of the scope ``dialogue``: without some dialogues, the rows of all others are the same."""

import shutil
from pathlib import Path

import duckdb
import pytest

from talkhouse.queries.catalogue import catalogue
from talkhouse.schema.tables import metadata, qualified
from tests.lanes import first_quick

BY_DIALOGUE = sorted(view.full_name for view in catalogue().views if view.scope == "dialogue")


@pytest.fixture(scope="module", params=first_quick(["as declared", "as published"]))
def whole(request: pytest.FixtureRequest, sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copyfile(sample, tmp_path_factory.mktemp("scopes") / "whole.duckdb"))
    if request.param == "as declared":  # no scheme has a kind, and some dialogues have several labels at once
        with duckdb.connect(path) as con:
            con.execute("update schemes set kind = null")
            of_some = "record_id in (select record_id from records where hash(dialogue_id) % 2 = 0)"
            con.execute(f"update annotations set item_index = item_index + 1 where {of_some}")
    return path


@pytest.mark.parametrize("those", first_quick(["hash(dialogue_id) % 2 = 0", "hash(dialogue_id) % 2 = 1"]))
def test_no_row_depends_on_other_dialogues(those: str, whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copyfile(whole, tmp_path / "some.duckdb"))
    with duckdb.connect(path) as con:
        con.execute(f"create temp table gone as select dialogue_id from dialogues where not {those}")
        con.execute("create temp table gone_records as select record_id from records where dialogue_id in (from gone)")
        for table in reversed(metadata.sorted_tables):
            for key, among in (("dialogue_id", "gone"), ("record_id", "gone_records")):
                if key in table.columns:
                    con.execute(f"delete from {qualified(table)} where {key} in (from {among})")
    with duckdb.connect(path) as some, duckdb.connect(whole, read_only=True) as everything:
        for view in BY_DIALOGUE:
            query = f"select rows::varchar from {view} as rows where {those} order by all"
            assert some.execute(query).fetchall() == everything.execute(query).fetchall(), view
            assert everything.execute(f"from {view} where dialogue_id is null limit 1").fetchall() == [], view
        assert "bi.turns" in BY_DIALOGUE
        rows = "select count(*) from bi.turns"
        assert some.execute(rows).fetchall() < everything.execute(rows).fetchall()
