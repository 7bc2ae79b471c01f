"""DeliData: the worked example to the character, and groups of every shape through the views, there and back."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import talkhouse
from talkhouse.ingest.corpora.delidata import CORPUS
from talkhouse.ingest.corpora.delidata.format import quote, unquote
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from tests.conftest import Build, invented_builds, invented_examples
from tests.corpora.delidata.rules import HEADER, TASKS, as_the_reference_reads, decoded, examples, parse
from tests.corpora.unusual import assert_comes_back, files_in

COLUMNS = {
    **dict.fromkeys(
        ("deliberation_type", "probing_target", "nonprobing_target"),
        "native_id, turn_index, message_id, previous, message, label, message_raw",
    ),
    "probing_generation": "native_id, turn_index, message_id, history, probing",
    "change_of_mind": "native_id, turn_index, message_id, previous, message, change, label, message_raw",
    "outcome": "native_id, start_performance, end_performance, label",
}
"""The published columns of each task, without those that say where an example stands."""


def found(con: duckdb.DuckDBPyConnection, task: str) -> list[tuple[Any, ...]]:
    return con.execute(f"select {COLUMNS[task]} from delidata.{task} order by example_index").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "row", "tasks"), [("DE-03", 1, TASKS[:1] + TASKS[4:5]), ("DE-04", 2, TASKS[:2] + TASKS[3:5])]
)
def test_a_refused_row_makes_no_example_and_is_still_the_one_before(
    rule: str, row: int, tasks: tuple[str, ...], build_data: Build, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    raw = Path(__file__).parent / "broken" / rule / "raw"
    (tmp_path / "data" / "delidata").symlink_to(raw, target_is_directory=True)
    con = build_data(tmp_path / "data", follow_links=True)
    refused = "select record_id, turn_index from meta.findings where severity = 'reject_example'"
    for task in tasks:
        hit = f"select count(*) from delidata.{task} semi join ({refused}) using (record_id, turn_index)"
        assert con.execute(hit).fetchall() == [(0,)]
    counts = f"""
        select (select count(*) from ({refused})), count(*)
        from main.turns
        inner join main.records using (dialogue_id)
        semi join ({refused}) using (record_id, turn_index)
    """
    assert len(set(con.execute(counts).fetchall()[0])) == 1
    assert con.execute("select max(turn_index) from main.turns").fetchall()[0][0] > row


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\t"), max_size=10)
WORDS = (
    TEXT
    | st.text("'\" aé/,", max_size=6)
    | st.sampled_from([" 'a'", "''", "'", "it's", '"yes" I think', ' "a""b" c', '"open', "BEGIN", "None", "0"])
)
CELL = WORDS.map(quote) | WORDS
ALIAS = st.sampled_from(["Fox", "Guinea pig", "Elk", "SYSTEM"])
CARD = st.sampled_from(["A", "K", "4", "7", "/", "N", "N/A", "on", "'", "é", ""])
TRACKER = st.dictionaries(
    st.sampled_from(["Fox", "Elk", "Yak", "O'Hare", "Bär"]),
    st.lists(CARD, max_size=3) | st.permutations(["N", "/", "A"]) | st.just([]),
    max_size=3,
)
SPELLINGS: list[dict[str, Any]] = [{}, {"separators": (",", ":")}, {"ensure_ascii": False}]
NUMBER = st.sampled_from(["0.0", "0.5", "0.50", "1", "0.875", "-0.0", "1e-1", ".25"])
STEP = NUMBER | st.sampled_from(["-0.125", "-1", "+0.5"])
ROW = st.fixed_dictionaries(
    {
        "message_type": st.sampled_from(["MESSAGE", "MESSAGE", "SUBMIT"]),
        "origin": ALIAS,
        "original_text": CELL,
        "clean_text": CELL,
        "annotation_type": st.sampled_from(["Probing", "Non-probing-deliberation", "None", "0", ""]),
        "annotation_target": st.sampled_from(["Reasoning", "Moderation", "None", "0", ""]),
        "annotation_additional": st.sampled_from(["0", "", "partial_solution", "complete_solution,0", ","]),
        "team_performance": NUMBER,
        "performance_change": STEP,
        "sol_tracker_message": st.sampled_from(["", "A", "A,7", "7,A", ",", "'A'"]),
        "sol_tracker_all": st.builds(
            lambda users, style: quote(json.dumps(users, **style)), TRACKER, st.sampled_from(SPELLINGS)
        ),
    }
)
GROUP = st.tuples(st.permutations(["Fox", "SYSTEM", "Elk"]), NUMBER, st.lists(ROW, max_size=6), st.booleans())


def written(number: int, names: list[str], start: str, rows: list[dict[str, str]], *, ends: bool) -> str:
    opening = ["-1", "INITIAL", "SYSTEM", f"{','.join(names)}&&A,K,4,7", *[""] * 4, start, "0.0", "", '{"Fox": []}']
    lines = [HEADER, "\t".join([f"g{number}", *opening])]
    for index, row in enumerate(rows):
        lines.append("\t".join([f"g{number}", f"u{number}-{index}", *(row[name] for name in HEADER.split("\t")[2:])]))
    return "\n".join(lines) + ("\n" if ends else "")


@pytest.mark.slow
@invented_builds(10)
@given(groups=st.lists(GROUP, min_size=1, max_size=4))
def test_invented_groups_give_the_rows_of_the_rules_and_come_back_equal(
    groups: list[tuple[list[str], str, list[dict[str, str]], bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("groups")
    raw = folder / "data" / "delidata" / "delidata_corpus"
    raw.mkdir(parents=True)
    texts = {
        f"g{number}": written(number, names, start, rows, ends=ends)
        for number, (names, start, rows, ends) in enumerate(groups)
    }
    for name, text in texts.items():
        (raw / name).write_bytes(text.encode())
    build(folder / "w.duckdb", Silent(), data=folder / "data")
    expected = examples([parse(name, text) for name, text in texts.items()])
    with talkhouse.open(folder / "w.duckdb") as con:
        assert con.execute("select detail from meta.findings where severity[:6] = 'reject'").fetchall() == []
        for task in TASKS:
            assert found(con, task) == expected[task], task
        assert_comes_back(con, CORPUS, files_in(raw.parent), folder / "out")


@invented_examples(10)
@given(texts=st.lists(WORDS | CELL, min_size=1, max_size=8))
def test_cells_decode_by_the_rule_as_the_reference_does(texts: list[str], con: duckdb.DuckDBPyConnection) -> None:
    for text in texts:
        assert unquote(quote(text)) == text
        assert unquote(text) == decoded(text)
        extra = json.dumps({"cells": {"original_text": text}}) if quote(unquote(text)) != text else None
        query = "select delidata.reference_text(?::varchar, ?::json)"
        ((seen,),) = con.execute(query, [unquote(text), extra]).fetchall()
        assert seen == as_the_reference_reads(text)
