"""Agreement of those who write notes is what the package krippendorff computes; shares are counted by hand."""

import math
import shutil
from datetime import UTC, datetime
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse as th
from talkhouse.notes.agreement import OF_THE_CORPUS, agreement, labels_of, shares, with_corpus
from talkhouse.notes.notes_file import NewNote, Note, NoteNow, NoteState, add
from tests.talkhouse.dashboard.pages import draw
from tests.talkhouse.notes.test_notes import DIALOGUE

AUTHORS = ("ann", "bo", "cy", "di")


@given(
    st.dictionaries(
        st.integers(0, 20), st.dictionaries(st.sampled_from(AUTHORS), st.sampled_from("OTX"), min_size=1), max_size=20
    )
)
def test_alpha_is_that_of_another_program(labels: dict[int, dict[str, str]]) -> None:
    found = agreement(labels)
    paired = [by_author for by_author in labels.values() if len(by_author) > 1]
    assert found.places == len(paired)
    if len({label for by_author in paired for label in by_author.values()}) < 2:
        assert found.alpha is None
        return
    values = [["OTX".index(row[name]) if name in row else np.nan for row in paired] for name in AUTHORS]
    assert found.alpha is not None
    assert math.isclose(found.alpha, krippendorff.alpha(values, level_of_measurement="nominal"), abs_tol=1e-9)


def note(number: int, author: str, turn: int, label: str | None, state: NoteState = NoteState.FITS) -> NoteNow:
    written = datetime(2026, 3, 1, tzinfo=UTC)
    return NoteNow(Note(DIALOGUE, turn, "0", label, None, author, "page", number, written), state, turn)


def test_shares_say_what_is_left_and_the_last_label_counts() -> None:
    notes = [
        note(1, "ann", 0, "O"),
        note(2, "ann", 0, "T"),
        note(3, "ann", 1, "X"),
        note(4, "bo", 1, "X"),
        note(5, "bo", 2, None),
        note(6, "bo", 9, "O", NoteState.GONE),
    ]
    assert labels_of(notes) == {(DIALOGUE, 0): {"ann": "T"}, (DIALOGUE, 1): {"ann": "X", "bo": "X"}}
    assert [(row.author, row.notes, row.labelled, row.left) for row in shares(notes)] == [
        ("ann", 3, 2, 0),
        ("bo", 3, 1, 1),
    ]


@pytest.mark.slow
def test_the_page_compares_authors_with_each_other_and_with_the_corpus(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = Path(shutil.copyfile(sample, tmp_path / "talkhouse.duckdb"))
    monkeypatch.setenv("TALKHOUSE_DB", str(warehouse))
    labels = "select turn_index, mode(label) from main.annotations where dialogue_id = ?"
    query = f"{labels} and turn_index is not null group by all"
    with th.open(warehouse) as con:
        own = dict(con.execute(query, [DIALOGUE]).fetchall())
        places = {(DIALOGUE, turn): {"ann": label} for turn, label in own.items()}
        known = with_corpus(con, places)
    assert {place: by_author[OF_THE_CORPUS] for place, by_author in known.items()} == {
        (DIALOGUE, turn): label for turn, label in own.items()
    }
    turns = sorted(own)[:2]
    add(warehouse, [NewNote(DIALOGUE, turn, "0" * 64, own[turn], None, "ann", "page") for turn in turns])
    add(warehouse, [NewNote(DIALOGUE, turns[0], "0" * 64, "odd", None, "bo", "page")])
    page = draw("notes")
    assert not page.exception
    shown = " ".join(str(item.value) for item in page.markdown)
    assert "alpha of authors: **0.000** (turns and dialogues that two or more have labelled: 1)" in shown
