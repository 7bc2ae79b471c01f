"""The ranked index and the vectors after a build: the same as those that are made whole, without doing it all again."""

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
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
from talkhouse.search.ranked import rank
from talkhouse.search.search_index import INDEX, make_index
from talkhouse.search.text_groups import TextSearch
from talkhouse.search.text_model import TextModel, open_model
from talkhouse.search.turn_vectors import VECTORS, make_by_model
from tests.conftest import invented_builds
from tests.vectors import save_model

Turns = Sequence[tuple[str, str]]
"""Role and text of each."""

Dialogues = dict[int, tuple[str | None, Turns]]
"""By number: the split of a dialogue, and its turns."""

_TURNS = st.lists(
    st.tuples(
        st.sampled_from(["user", "agent", "odd\x1fuser"]),
        st.lists(st.sampled_from(["the", "train", "to", "ulm", "東京タワー", "Straße", "?!"]), max_size=6).map(
            " ".join
        ),
    ),
    max_size=4,
)
_CHANGES = st.dictionaries(
    st.integers(0, 39), st.none() | st.tuples(st.sampled_from([None, "train", "test"]), _TURNS), max_size=6
)
"""Dialogues that are other ones now, or gone."""


_LOAD = {
    **dict.fromkeys(("started_at", "finished_at"), datetime(2026, 11, 30, tzinfo=UTC).replace(tzinfo=None)),
    **dict.fromkeys(("talkhouse_version", "schema_revision", "source", "reader_versions", "outcome"), "{}"),
}


def store(path: Path, dialogues: Dialogues, build: int) -> None:
    """Write dialogues, and some of their texts as candidates, as a warehouse in place of the one that is there."""
    new = path.with_name("new.duckdb")
    shutil.copyfile(path.with_name("empty.duckdb"), new)
    rows: dict[str, list[dict[str, Any]]] = {
        "meta.loads": [{**_LOAD, "load_id": build, "catalogue_hash": str(build)}],
        "main.dialogues": [{"dialogue_id": f"c:{number}", "corpus_id": "c"} for number in dialogues],
    }
    for number, (split, turns) in dialogues.items():
        record = {"record_id": f"c:r{number}", "corpus_id": "c", "dialogue_id": f"c:{number}", "split": split}
        rows.setdefault("main.records", []).append(
            record | {"record_index": number, "source_file_id": "c:f", "source_pointer": ""}
        )
        for index, (role, text) in enumerate(turns):
            turn = {"dialogue_id": f"c:{number}", "turn_index": index, "role": role, "kind": "message", "text": text}
            rows.setdefault("main.turns", []).append(turn)
    texts = {text for _, turns in dialogues.values() for _, text in turns if text > "t"}
    for number, text in enumerate(sorted(texts)):
        rows.setdefault("main.texts", []).append({"text_id": f"c:{text}", "corpus_id": "c", "text": text})
        candidate = {"text_id": f"c:{text}", "candidate_set": "all", "position": number, "item_index": 0}
        rows.setdefault("main.candidates", []).append(candidate | {"record_id": f"c:r{min(dialogues)}"})
    with warehouse.create(new) as con:
        for table, values in rows.items():
            con.register("frame", pl.DataFrame(values, infer_schema_length=None).to_arrow())
            con.execute(f"insert into {table} by name select * from frame")
    new.replace(path)


_POSTINGS = """
select kind, corpus_id, role, splits, standard_splits, owner, turn_index, word, times, postings.words
from main.documents
inner join main.groups using (group_no)
left join main.postings using (document, group_no)
left join main.words using (word_no)
order by all
"""


def index_of(path: Path) -> dict[str, list[Any]]:
    """Return all that an index says, apart from the numbers that it gives."""
    with INDEX.open(INDEX.path(path)) as con:
        queries = {
            "postings": _POSTINGS,
            "words": "select word, texts from main.words order by all",
            "groups": "select * exclude group_no from main.groups order by all",
            "owners": "from main.owners order by all",
            "run": "select * exclude in_order from main.run",
        }
        return {name: con.execute(query).fetchall() for name, query in queries.items()}


def documents_of(path: Path) -> dict[tuple[str, int], int]:
    """Return the number of each turn in an index."""
    with INDEX.open(INDEX.path(path)) as con:
        rows = con.execute("select owner, turn_index, document from main.documents where turn_index is not null")
        return {(owner, turn): number for owner, turn, number in rows.fetchall()}


def found_in(path: Path) -> list[Any]:
    """Return what some searches find, with the order of equal scores."""
    with talkhouse.open(path) as con, INDEX.open(INDEX.path(path)) as index:
        return [
            rank(TextSearch(con, index, {}, limit=limit), query)
            for query in ("the", "ulm", "to ulm", "ulm train", "東京 strasse", "タワー")
            for limit in (5, 200)
        ]


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "empty.duckdb"
    migrations.upgrade(path)
    return path


BEGIN: Dialogues = {
    number: ("train" if number % 3 else None, [("user", f"the train to ulm {'the ' * (number % 4)}"), ("agent", "ulm")])
    for number in range(30)
}


@pytest.mark.slow
@given(st.lists(_CHANGES, min_size=1, max_size=4))
@invented_builds(60)
def test_an_index_that_is_brought_up_to_date_is_that_which_is_made_whole(
    empty: Path, tmp_path_factory: pytest.TempPathFactory, changes: list[dict[int, tuple[str | None, Turns] | None]]
) -> None:
    folder = tmp_path_factory.mktemp("updates")
    path, whole = folder / "w.duckdb", folder / "whole" / "w.duckdb"
    whole.parent.mkdir()
    shutil.copyfile(empty, folder / "empty.duckdb")
    dialogues = dict(BEGIN)
    store(path, dialogues, build=1)
    make_index(path, lambda _: None)
    for build, changed in enumerate(changes, 2):
        dialogues = {number: is_now for number, is_now in {**dialogues, **changed}.items() if is_now is not None}
        store(path, dialogues, build)
        make_index(path, lambda _: None)
        compare_with_whole(path, whole)


def compare_with_whole(path: Path, whole: Path) -> None:
    shutil.copyfile(path, whole)
    INDEX.path(whole).unlink(missing_ok=True)
    make_index(whole, lambda _: None)
    assert index_of(path) == index_of(whole)
    assert found_in(path) == found_in(whole)


def test_only_what_changed_gets_another_number_and_what_somebody_else_changed_is_made_anew(
    empty: Path, tmp_path: Path
) -> None:
    path = tmp_path / "w.duckdb"
    shutil.copyfile(empty, tmp_path / "empty.duckdb")
    store(path, BEGIN, build=1)
    make_index(path, lambda _: None)
    before = documents_of(path)
    turns = BEGIN[9][1]
    changed: Dialogues = {
        **BEGIN,
        3: BEGIN[4],
        7: ("test", BEGIN[7][1]),
        10: BEGIN[11],
        9: (BEGIN[9][0], [("boss", turns[0][1]), turns[1]]),
        40: BEGIN[5],
    }
    store(path, changed, build=2)
    make_index(path, lambda _: None)
    after = documents_of(path)
    moved = {owner for (owner, _), number in after.items() if number >= len(before)}
    assert moved == {"c:3", "c:7", "c:9", "c:10", "c:40"}
    assert {key: number for key, number in after.items() if key[0] not in moved}.items() <= before.items()
    compare_with_whole(path, tmp_path / "whole.duckdb")
    # The same file, but nobody knows who has written it.
    copy = INDEX.path(path).with_name("copy")
    shutil.copyfile(INDEX.path(path), copy)
    with duckdb.connect(copy) as con:
        con.execute("update words set texts = 1")
    copy.replace(INDEX.path(path))
    store(path, BEGIN, build=3)
    make_index(path, lambda _: None)
    assert documents_of(path) == before
    # Most of it is another one.
    store(path, {number: ("test", turns) for number, (_, turns) in BEGIN.items()}, build=4)
    make_index(path, lambda _: None)
    assert documents_of(path) == before


@pytest.mark.slow
def test_a_model_is_asked_only_for_dialogues_that_are_new_or_changed(empty: Path, tmp_path: Path) -> None:
    path, whole = tmp_path / "w.duckdb", tmp_path / "whole.duckdb"
    for folder, words in (("one", ["[UNK]", "train", "the", "to", "ulm"]), ("other", ["[UNK]", "the", "ulm"])):
        save_model(tmp_path / folder, words)
    asked: list[str] = []

    class Model(TextModel):
        def encode(self, texts: Sequence[str]) -> "np.ndarray":
            asked.extend(texts)
            return super().encode(texts)

    def vectors_of(path: Path, folder: str) -> tuple[int, dict[tuple[str, int], Any], Any]:
        """Return how many vectors stayed, each turn's vector and place on the map, and the groups."""
        asked.clear()
        model = open_model(str(tmp_path / folder))
        model.__class__ = Model
        stayed = make_by_model(path, model).stayed
        with VECTORS.open(VECTORS.path(path)) as con:
            rows = con.execute("select dialogue_id, turn_index, vector, x, y from main.vectors").fetchall()
            groups = "select dialogue_id, turn_index, groups.* exclude group_no from main.vectors "
            groups += "inner join main.groups using (group_no) order by all"
            return stayed, {row[:2]: row[2:] for row in rows}, con.execute(groups).fetchall()

    shutil.copyfile(empty, tmp_path / "empty.duckdb")
    store(path, BEGIN, build=1)
    stayed, before, _ = vectors_of(path, "one")
    assert (stayed, len(asked)) == (0, len(before))
    changed: Dialogues = {**BEGIN, 3: BEGIN[4], 7: ("test", BEGIN[7][1]), 40: (None, [("user", "ulm to the train")])}
    del changed[0]
    store(path, changed, build=2)
    stayed, after, groups = vectors_of(path, "one")
    assert sorted(asked) == sorted(text for number in (3, 7, 40) for _, text in changed[number][1])
    assert stayed == len(before) - 6
    same = {key: row for key, row in after.items() if key[0] not in ("c:3", "c:40")}
    assert same.items() <= before.items()
    assert [after["c:3", turn] for turn in (0, 1)] == [after["c:4", turn] for turn in (0, 1)], "on the same map"
    shutil.copyfile(path, whole)
    _, wanted, groups_of_whole = vectors_of(whole, "one")
    assert groups == groups_of_whole
    assert {key: row[0] for key, row in after.items()} == {key: row[0] for key, row in wanted.items()}
    assert vectors_of(path, "other")[0] == 0
