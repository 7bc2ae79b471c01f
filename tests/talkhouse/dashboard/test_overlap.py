"""Overlap on pages: plain counts, both texts with what they share, and never a file that does not fit."""

import json
import re
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from talkhouse.overlap.read import shared_spans
from tests.data_files import data_of
from tests.hostile import TEXTS
from tests.talkhouse.dashboard.conftest import Visit
from tests.talkhouse.dashboard.pages import html, messages
from tests.talkhouse.overlap import brute_force
from tests.talkhouse.overlap.test_kit import OWN

TESTED = "garden_club"


def expected(table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((OWN.folder / "expected.json").read_text())[table]
    return rows


def text(fragment: str) -> str:
    return unescape(re.sub("<[^>]*>", "", fragment))


def matrix(page: AppTest) -> dict[tuple[str, str], str]:
    """Read the tiles: the place that has the units and the other one -> what the tile says."""
    (table,) = re.findall(r'<div class="matrix".*?</table>', html(page))
    others = [text(head) for head in re.findall(r'<th scope="col">(.*?)</th>', table)]
    found = {}
    for line in re.findall(r'<tr><th scope="row">(.*?)</tr>', table):
        place, _, cells = line.partition("</th>")
        for other, cell in zip(others, re.findall(r"<td[^>]*>(.*?)</td>", cells), strict=True):
            found[text(place), other] = text(re.sub("</(b|span)>", " ", cell)).strip()
    return found


@pytest.mark.slow
def test_the_matrix_has_the_counts_of_all_expected_matches_and_texts_stand_side_by_side(
    visit: Visit, with_overlap: Path
) -> None:
    page = visit(with_overlap, TESTED, show="Overlap")
    assert not page.error
    units = {row["place"]: row["units"] for row in expected("units") if row["unit"] == "turn"}
    rows = [row for row in expected("matches") if (row["unit"], row["other_unit"]) == ("turn", "turn")]
    evidence = Counter((row["place"], row["other_place"]) for row in rows if not row["is_phrase"])
    phrases = Counter((row["place"], row["other_place"]) for row in rows if row["is_phrase"])
    tiles = matrix(page)
    pairs = {pair for pair in (evidence | phrases) if pair[0].startswith(f"{TESTED}/")}
    assert {pair for pair, cell in tiles.items() if cell != "\N{EN DASH}"} == pairs
    for pair in pairs:
        share = f"{evidence[pair] / units[pair[0]]:.1%} {evidence[pair]} of {units[pair[0]]}"
        number = phrases[pair]
        assert tiles[pair] == share + (f" {number} phrase{'s' * (number != 1)}" if number else "")
    # Below it, each match that is evidence of the pair that is chosen, with both texts and the ways to them.
    place, other_place = page.selectbox(key="overlap_places").value.split(" in ")
    with duckdb.connect(with_overlap, read_only=True) as con:
        turns = {
            row[:2]: row[2] for row in con.execute("select dialogue_id, turn_index, text from main.turns").fetchall()
        }
    side = re.compile(r'<div class="at">.*?href="(.*?)".*?<div class="said"[^>]*>(.*?)</div>', re.DOTALL)
    shown = {}
    for address, share in side.findall(html(page)):
        to = parse_qs(unescape(address).partition("?")[2])
        shown[to["dialogue"][0], int(to["turn"][0])] = share
    wanted = [
        row for row in rows if (row["place"], row["other_place"]) == (place, other_place) and not row["is_phrase"]
    ]
    assert wanted
    for row in wanted:
        for key in ((row["owner"], row["turn_index"]), (row["other_owner"], row["other_turn_index"])):
            assert text(shown[key]) == turns[key]
            assert "<mark" in shown[key]


def test_a_task_has_the_verdict_on_the_example_that_is_shown(visit: Visit, with_overlap: Path) -> None:
    wanted = {row["example_index"]: row["verdict"] for row in expected("examples") if row["task"] == "answer"}
    leaking = next(index for index, verdict in wanted.items() if verdict == "turn")
    page = visit(with_overlap, "tasks", task=f"{TESTED}.answer", task_split="test", example=str(leaking + 1))
    (verdict,) = [element.value for element in page.markdown if element.value.startswith("Verdict on this example")]
    assert "**turn**" in verdict
    assert "](<read?dialogue=" in verdict
    share = sum(verdict in ("dialogue", "both", "turn") for verdict in wanted.values())
    sentence = f"{share / len(wanted):.1%} of the examples of {TESTED}.answer, test ({share} of {len(wanted)}) repeat"
    assert any(sentence in element.value.replace("\\", "") for element in page.markdown)


@pytest.mark.slow
def test_a_page_says_what_to_run_where_no_file_fits_and_never_computes_one(visit: Visit, with_overlap: Path) -> None:
    file = with_overlap.with_name("w.overlap.duckdb")
    with duckdb.connect(with_overlap) as con:
        con.execute(f"insert into main.texts by name select 'a' as text_id, '{TESTED}' as corpus_id, 'a' as text")
    old = file.read_bytes()
    page = visit(with_overlap, TESTED, show="Overlap")
    assert ["another state" in item.value and "`talkhouse overlap`" in item.value for item in page.warning] == [True]
    assert 'class="matrix"' not in html(page)
    assert file.read_bytes() == old
    file.unlink()
    for page in (visit(with_overlap, TESTED, show="Overlap"), visit(with_overlap, "tasks", task=f"{TESTED}.answer")):
        assert any("`talkhouse overlap`" in element.value for element in page.info)
    assert [*file.parent.iterdir()] == [with_overlap]
    file.write_bytes(b"not a database")
    page = visit(with_overlap, TESTED, show="Overlap")
    assert "this is not a file that talkhouse overlap made" in messages(page)[0]


@pytest.mark.slow
def test_nothing_that_a_strangers_file_says_acts(visit: Visit, with_overlap: Path) -> None:
    with duckdb.connect(with_overlap.with_name("w.overlap.duckdb")) as con:
        for text_of_stranger in TEXTS:
            con.execute("insert into places values ($1, $2, null, 'test', null)", [text_of_stranger, TESTED])
            con.execute("insert into units values ('turn', $1, 2, 1, 2, 2, 0)", [text_of_stranger])
            con.execute(
                "insert into matches values "
                "('turn', $1, $1, null, 'turn', $1, 1, 9, $1, null, 'near', 1, 1, 1, 1, false)",
                [text_of_stranger],
            )
            con.execute(
                "insert into examples (corpus_id, task, split, example_index, verdict) values ($2, $1, $1, 0, 'both')",
                [text_of_stranger, TESTED],
            )
        con.execute("update run set against = $1", [TEXTS])
    page = visit(with_overlap, TESTED, show="Overlap")
    assert not page.error
    assert "<script" not in html(page)
    assert not re.search(r"<img|javascript:(?!window\.acted=1\))|<b id", html(page))
    for place in page.selectbox(key="overlap_places").options:
        page.selectbox(key="overlap_places").select(place).run()
        assert not page.exception


@pytest.mark.slow
@pytest.mark.parametrize("length", [2, 3, 8])
def test_what_is_marked_are_the_runs_that_both_texts_have(length: int) -> None:
    texts = data_of(__file__)["texts"]
    with duckdb.connect() as con:
        for pair in texts:
            tokens = [
                [] if found == [text] and not text.isalnum() else found
                for text in pair
                for found in [brute_force.tokens(text)]
            ]
            size = max(min(length, *map(len, tokens)), 1)
            runs = [{tuple(some[at : at + size]) for at in range(len(some) - size + 1)} for some in tokens]
            for text, some, spans in zip(pair, tokens, shared_spans(con, *pair, length), strict=True):
                at = {
                    place
                    for place in range(len(some) - size + 1)
                    if tuple(some[place : place + size]) in runs[0] & runs[1]
                }
                wanted = [
                    token for place, token in enumerate(some) if any(first <= place < first + size for first in at)
                ]
                assert [token for first, last in spans for token in brute_force.tokens(text[first:last])] == wanted
                assert all(first < last for first, last in spans)
