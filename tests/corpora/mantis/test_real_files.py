"""MANtIS: what the rules give on the publisher's own files, all or some of them (set TALKHOUSE_DATA)."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.corpora.mantis import rules
from tests.data_files import data_of

pytestmark = pytest.mark.slow

DIALOGUES = {"train": 56_221, "dev": 12_041, "test": 12_064}
"""Dialogues of each split, from the metadata of a benchmark."""

ALL = 80_324
"""Dialogues of the release, from its paper by way of that benchmark's card; the splits above come to two more."""

SITES = {"apple": 5_645, "askubuntu": 17_755, "dba": 5_197, "diy": 1_528, "electronics": 10_690, "english": 3_231}
SITES |= {"gaming": 2_982, "gis": 9_095, "physics": 7_826, "scifi": 2_214, "security": 3_752, "stats": 7_676}
SITES |= {"travel": 1_433, "worldbuilding": 1_300}
"""Dialogues of each site, from the README of the repository that the corpus grew out of."""

LABELLED = (1_356, 6_701)
"""Dialogues with intents, and their labelled utterances, from the README."""

Row = dict[str, Any]


def published(folder: Path, split: str) -> rules.Talks:
    path = next(folder.rglob(f"merged_{split}.json"), None)
    if path is None:
        pytest.skip(f"there is no merged_{split}.json outside of archives")
    talks: rules.Talks = json.loads(path.read_bytes())
    return talks


def counted(con: duckdb.DuckDBPyConnection, key: str) -> dict[str, int]:
    query = f"""
        select {key}, count(*)
        from mantis.conversations
        inner join main.dialogues using (dialogue_id)
        group by all
    """
    return dict(con.execute(query).fetchall())


def whole(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Return the dialogues of each split, or skip where not all of the release is given."""
    splits = counted(con, "split")
    if sum(splits.values()) < ALL:
        pytest.skip(f"{sum(splits.values()):,} of {ALL:,} dialogues are given")
    return splits


@pytest.mark.parametrize("split", DIALOGUES)
def test_the_contexts_are_those_of_the_rules(split: str, real: duckdb.DuckDBPyConnection, folder: Path) -> None:
    talks = published(folder, split)
    query = """
        select example_index, dialogue_id, native_id, turn_index, context, response
        from mantis.response_ranking
        where split = ?
        order by example_index
    """
    expected = [(f"mantis:{split}:{key}", key, *row) for key, talk in talks.items() for row in rules.contexts(talk)]
    assert real.execute(query, [split]).fetchall() == [(index, *row) for index, row in enumerate(expected)]
    assert expected


def test_the_authors_code_gives_these_rows(real: duckdb.DuckDBPyConnection, real_data: Path) -> None:
    """Its rows may be in a folder 'expected' next to TALKHOUSE_DATA, for files with just these dialogues."""
    path = real_data.parent / "expected" / "mantis.response_ranking.jsonl"
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    rows: list[Row] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows
    columns = ", ".join(rows[0])
    query = f"select {columns} from mantis.response_ranking order by standard_split, example_index"
    found = [dict(zip(rows[0], row, strict=True)) for row in real.execute(query).fetchall()]
    if len(found) > len(rows):
        pytest.skip(f"rows of the authors' code are given for {len(rows)} of {len(found):,} examples")
    assert sorted(found, key=_place) == sorted(rows, key=_place)


def _place(row: Row) -> tuple[str, int]:
    return row["split"], row["example_index"]


def test_every_block_is_what_the_dialogues_give(real: duckdb.DuckDBPyConnection) -> None:
    query = data_of(__file__)["query"]
    rows = real.execute(query).fetchall()
    if not rows:
        pytest.skip("no response-ranking file is given")
    contexts = dict(real.execute("select split, count(*) from mantis.response_ranking group by all").fetchall())
    for candidate_set, split, blocks, proven in rows:
        assert blocks == proven == contexts[split], (candidate_set, split)


def test_the_release_has_as_many_dialogues_as_published(real: duckdb.DuckDBPyConnection) -> None:
    splits = whole(real)
    assert sum(splits.values()) in (ALL, sum(DIALOGUES.values()))
    assert splits == pytest.approx(DIALOGUES, abs=2)


def test_the_release_has_as_many_dialogues_of_each_site_as_published(real: duckdb.DuckDBPyConnection) -> None:
    whole(real)
    assert sum(SITES.values()) == ALL
    assert counted(real, "domain") == pytest.approx(SITES, abs=2)


def test_the_release_has_as_many_labels_as_published(real: duckdb.DuckDBPyConnection) -> None:
    query = "select count(distinct dialogue_id), count(*) from mantis.utterance_intents where has_intent_labels"
    found = real.execute(query).fetchall()[0]
    if found[0] < LABELLED[0]:
        pytest.skip(f"{found[0]:,} of {LABELLED[0]:,} labelled dialogues are given")
    assert found == LABELLED
