"""The ranked index and the vectors after a build: as those that are made whole, without doing it all again."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse import migrations
from talkhouse.schema import warehouse
from talkhouse.schema.sql_files import sql_of
from talkhouse.search.ranked import rank
from talkhouse.search.search_index import INDEX, make_index
from talkhouse.search.text_groups import TextSearch
from talkhouse.search.text_model import TextModel, open_model
from talkhouse.search.turn_vectors import VECTORS, make_by_model
from tests.conftest import invented_builds
from tests.vectors import save_model

Dialogues = dict[int, tuple[str | None, Sequence[tuple[str, str]]]]
"""By number: the split of a dialogue, and role and text of its turns."""

BEGIN: Dialogues = {
    number: ("train" if number % 3 else None, [("user", f"the train to ulm {'the ' * (number % 4)}"), ("agent", "ulm")])
    for number in range(30)
}

_WORDS = st.lists(st.sampled_from(["the", "train", "to", "ulm", "東京タワー", "Straße", "?"]), max_size=6)
_TURN = st.tuples(st.sampled_from(["user", "agent", "odd\x1fuser"]), _WORDS.map(" ".join))
_DIALOGUE = st.tuples(st.sampled_from([None, "train", "test"]), st.lists(_TURN, max_size=4))
_CHANGES = st.dictionaries(st.integers(0, 39), st.none() | _DIALOGUE, max_size=6)
"""Dialogues that are other ones now, or gone."""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "empty.duckdb"
    migrations.upgrade(path)
    return path


def store(empty: Path, path: Path, dialogues: Dialogues, build: int) -> None:
    """Write dialogues as a warehouse, in place of the one that is there."""
    new = path.with_name("new.duckdb")
    shutil.copyfile(empty, new)
    turns = [(number, index, *turn) for number, (_, turns) in dialogues.items() for index, turn in enumerate(turns)]
    splits = [(number, split) for number, (split, _) in dialogues.items()]
    with warehouse.create(new) as con:
        con.register("new_dialogues", pl.DataFrame(splits, ["number", "split"], orient="row").to_arrow())
        con.register(
            "new_turns", pl.DataFrame(turns, ["number", "turn_index", "role", "text"], orient="row").to_arrow()
        )
        con.execute(sql_of(__file__, "store", build=build))
    new.replace(path)


def index_of(path: Path) -> list[Any]:
    """Return all that an index says, apart from the numbers that it gives."""
    queries = (
        "select * exclude (document, group_no, word_no) from main.documents inner join main.groups using (group_no) "
        "left join main.postings using (document, group_no) left join main.words using (word_no) order by all",
        "select * exclude group_no from main.groups order by all",
        "select * exclude in_order from main.run",
    )
    with INDEX.open(INDEX.path(path)) as con:
        return [con.execute(query).fetchall() for query in queries]


def compare_with_whole(path: Path, whole: Path) -> None:
    """Compare what an index says and finds, and in which order, with one that is made whole."""
    shutil.copyfile(path, whole)
    INDEX.path(whole).unlink(missing_ok=True)
    make_index(whole, lambda _: None)
    assert index_of(path) == index_of(whole)
    found = []
    for of in (path, whole):
        with talkhouse.open(of) as con, INDEX.open(INDEX.path(of)) as index:
            searches = [TextSearch(con, index, {}, limit=limit) for limit in (5, 200)]
            words = ("the", "ulm", "to ulm", "ulm train", "東京 strasse", "タワー")
            found.append([rank(search, query) for query in words for search in searches])
    assert found[0] == found[1]


@pytest.mark.slow
@given(changes=st.lists(_CHANGES, min_size=1, max_size=4))
@invented_builds(60)
def test_an_index_that_is_brought_up_to_date_is_that_which_is_made_whole(
    empty: Path, tmp_path_factory: pytest.TempPathFactory, changes: list[dict[int, Any]]
) -> None:
    path = tmp_path_factory.mktemp("updates") / "w.duckdb"
    dialogues = dict(BEGIN)
    store(empty, path, dialogues, build=1)
    make_index(path, lambda _: None)
    for build, changed in enumerate(changes, 2):
        dialogues = {number: is_now for number, is_now in {**dialogues, **changed}.items() if is_now is not None}
        store(empty, path, dialogues, build)
        make_index(path, lambda _: None)
        compare_with_whole(path, path.with_name("whole.duckdb"))


@pytest.mark.slow
def test_only_what_changed_gets_another_number_and_what_somebody_else_changed_is_made_anew(
    empty: Path, tmp_path: Path
) -> None:
    path = tmp_path / "w.duckdb"

    def documents_of(dialogues: Dialogues, build: int) -> dict[tuple[str, int], int]:
        """Return the number of each turn after a build."""
        store(empty, path, dialogues, build)
        with INDEX.open(make_index(path, lambda _: None)) as con:
            rows = con.execute("select owner, turn_index, document from main.documents where turn_index is not null")
            return {(owner, turn): number for owner, turn, number in rows.fetchall()}

    before = documents_of(BEGIN, build=1)
    split, turns = BEGIN[9]
    changed: Dialogues = {3: BEGIN[4], 7: ("test", BEGIN[7][1]), 10: BEGIN[11], 40: BEGIN[5]}
    changed[9] = (split, [("boss", turns[0][1]), turns[1]])
    after = documents_of({**BEGIN, **changed}, build=2)
    moved = {key for key, number in after.items() if number >= len(before)}
    assert {owner for owner, _ in moved} == {f"c:{number}" for number in changed}
    assert {key: number for key, number in after.items() if key not in moved}.items() <= before.items()
    compare_with_whole(path, tmp_path / "whole.duckdb")
    # The same file, but nobody knows who has written it.
    copy = Path(shutil.copyfile(INDEX.path(path), tmp_path / "copy"))
    with duckdb.connect(copy) as con:
        con.execute("update words set texts = 1")
    copy.replace(INDEX.path(path))
    assert documents_of(BEGIN, build=3) == before
    # Most of it is another one.
    assert documents_of({number: ("test", turns) for number, (_, turns) in BEGIN.items()}, build=4) == before


@pytest.mark.slow
def test_a_model_is_asked_only_for_dialogues_that_are_new_or_changed(empty: Path, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    save_model(tmp_path / "model", ["[UNK]", "train", "the", "to", "ulm"])
    asked: list[str] = []

    class Model(TextModel):
        def encode(self, texts: Sequence[str]) -> np.ndarray:
            asked.extend(texts)
            return super().encode(texts)

    def vectors_of(path: Path) -> dict[tuple[str, int], Any]:
        """Return the vector, split and place on the map of each turn."""
        asked.clear()
        model = open_model(str(tmp_path / "model"))
        model.__class__ = Model
        with VECTORS.open(make_by_model(path, model).path) as con:
            query = "select dialogue_id, turn_index, vector, splits, x, y from main.vectors natural join main.groups"
            return {row[:2]: row[2:] for row in con.execute(query).fetchall()}

    store(empty, path, BEGIN, build=1)
    before = vectors_of(path)
    assert len(asked) == len(before) == 2 * len(BEGIN)
    changed: Dialogues = {**BEGIN, 3: BEGIN[4], 7: ("test", BEGIN[7][1]), 40: (None, [("user", "ulm to the train")])}
    del changed[0]
    store(empty, path, changed, build=2)
    after = vectors_of(path)
    assert sorted(asked) == sorted(text for number in (3, 7, 40) for _, text in changed[number][1])
    assert {key: row for key, row in after.items() if key[0] not in ("c:3", "c:7", "c:40")}.items() <= before.items()
    assert [after["c:3", turn] for turn in (0, 1)] == [after["c:4", turn] for turn in (0, 1)], "on the same map"
    wanted = vectors_of(Path(shutil.copyfile(path, tmp_path / "whole.duckdb")))
    assert {key: row[:2] for key, row in after.items()} == {key: row[:2] for key, row in wanted.items()}
    save_model(tmp_path / "model", ["[UNK]", "the", "ulm"])
    assert len(vectors_of(path)) == len(asked)
