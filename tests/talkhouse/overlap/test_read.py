"""The sentences that pages and the report say: counted from the expected rows."""

import json
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from talkhouse.overlap.read import read, sentences
from tests.talkhouse.overlap.test_kit import OWN

pytestmark = pytest.mark.slow


def test_an_example_repeats_a_turn_if_its_turn_or_dialogue_stands_there(with_overlap: Path) -> None:
    file = with_overlap.with_name("w.overlap.duckdb")
    with duckdb.connect(file) as con:
        for index, verdict in enumerate(("dialogue", "both", "both", "turn", "context", "phrase", "clean", "unjudged")):
            con.execute("update examples set verdict = $1 where example_index % 8 = $2", [verdict, index])
        ((number,),) = con.execute("select count(*) from examples").fetchall()
    assert number == 16
    there = "garden_club/train or seed_logs/all"
    (sentence,) = sentences(read(file))
    assert sentence == (
        f"50.0% of the examples of garden_club.answer, test (8 of 16) repeat a turn or a whole dialogue of {there}."
    )
    with duckdb.connect(file) as con:
        con.execute("update examples set verdict = 'phrase'")
    assert sentences(read(file)) == []


def test_without_verdicts_they_are_about_turns_and_the_greatest_share_comes_first(with_overlap: Path) -> None:
    file = with_overlap.with_name("w.overlap.duckdb")
    with duckdb.connect(file) as con:
        con.execute("delete from examples")
        con.execute("update run set against = []")
    wanted = json.loads((OWN.folder / "expected.json").read_text())
    units = {row["place"]: row["units"] for row in wanted["units"] if row["unit"] == "turn"}
    counts = Counter(
        (row["place"], row["other_place"])
        for row in wanted["matches"]
        if row["unit"] == "turn" and not row["is_phrase"] and row["place"] != row["other_place"]
    )
    shares = {pair: count / units[pair[0]] for pair, count in counts.items()}
    found = sentences(read(file))
    assert set(found) == {
        f"{shares[place, other]:.1%} of the turns of {place} ({count} of {units[place]}) stand in {other}."
        for (place, other), count in counts.items()
    }
    assert [float(sentence.partition("%")[0]) for sentence in found] == sorted(
        (round(100 * s, 1) for s in shares.values()), reverse=True
    )
