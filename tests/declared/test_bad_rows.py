"""What is wrong in a row sets aside a cell, or else its dialogue; only a row of no dialogue refuses the file."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.ingest.declared.rows import json_frames, spool
from talkhouse.ingest.rows import Dialogue, Record, Turn
from tests.declared.rows_loaded import Read, json_lines, json_text, read_back

TURNS = 'title = "Gate"\nformat = "turns"\n[dialogue]\nid = "d"\n[turn]\ntext = "text"\nspeaker = "who"\norder = "n"\n'


def loaded(rows: list[Any], toml: str = TURNS) -> Read:
    """Read rows as a list of JSON and as JSON Lines, to the same; all of them have to come back."""
    result, other = read_back(toml, {"a.json": json_text(rows)}), read_back(toml, {"a.jsonl": json_lines(*rows)})
    assert [row.text for row in result.of(Turn)] == [row.text for row in other.of(Turn)]
    return result


def test_a_turn_without_a_text_is_empty_and_one_finding_counts_them() -> None:
    result = loaded([{"d": "a", "text": "Look:", "n": 1}, {"d": "a", "n": 2}, {"d": "b", "text": None, "n": 1}])
    assert [(row.dialogue_id, row.text) for row in result.of(Turn)] == [
        ("quay:a", "Look:"),
        ("quay:a", ""),
        ("quay:b", ""),
    ]
    assert [(finding.rule, finding.detail) for finding in result.findings] == [
        ("GF-22", "2 of 3 turns have no text at text; here the first")
    ]
    assert result.places == [("GF-22", "a.json#/1")]


@pytest.mark.slow
def test_an_empty_cell_is_a_text() -> None:
    assert read_back(TURNS.replace('speaker = "who"\n', ""), {"a.csv": b"d,text,n\na,,1\n"}).places == []


def test_a_text_of_another_type_sets_its_dialogue_aside() -> None:
    rows = [
        {"d": "a", "text": "Is it open?", "n": 1},
        {"d": "b", "text": "Hm.", "n": 1},
        {"d": "a", "text": ["No."], "n": 2},
        {"d": "c", "text": 7, "n": 1},
        {"d": "b", "text": "So?", "n": 2},
    ]
    result = loaded(rows)
    assert [(row.dialogue_id, row.text) for row in result.of(Turn)] == [("quay:b", "Hm."), ("quay:b", "So?")]
    assert result.places == [("GF-01", "a.json#/0"), ("GF-01", "a.json#/3")]
    assert [item.detail for item in result.rejected] == [
        "'text' is a list, not a text - at /2/text",
        "'text' is 7, not a text - at /3/text",
    ]
    assert result.rejected[0].location.native_id == "a"
    assert [json.loads(line) for line in result.rejected[0].raw.splitlines()] == [rows[0], rows[2]]


@pytest.mark.slow
def test_another_cell_of_another_type_is_none_and_stays() -> None:
    result = loaded([{"d": "a", "text": str(n), "who": {"id": n} if n % 2 else "ida", "n": n} for n in range(6)])
    assert [row.speaker_id for row in result.of(Turn)] == ["quay:ida", None] * 3
    assert [json.loads(row.extra or "{}").get("who") for row in result.of(Turn)][1] == {"id": 1}
    details = [finding.detail for finding in result.findings]
    assert details == ["'who' is an object, not a text; so in 3 of 6 rows of this file, here the first"]
    assert result.places == [("GF-01", "a.json#/1/who")]


@pytest.mark.slow
def test_without_all_places_a_dialogue_keeps_the_order_of_its_lines() -> None:
    for cell in ("", "first", "nan", "inf"):
        result = read_back(TURNS, {"a.csv": f"d,text,n,who\na,2,2,\na,1,1,\nb,x,9,\nb,y,{cell},\nb,z,1,\n".encode()})
        assert [row.text for row in result.of(Turn)] == ["1", "2", "x", "y", "z"]
        assert result.places == [("GF-24", "a.csv#/4/n")]


@pytest.mark.slow
@pytest.mark.parametrize("row", [{"text": "x", "n": 1}, {"d": None, "text": "x", "n": 1}, {"d": [], "n": 1}, "x", None])
def test_a_row_of_no_dialogue_refuses_the_file(row: Any) -> None:
    result = loaded([{"d": "a", "text": 7, "n": 1}, row])
    assert [item.rule for item in result.rejected] == ["GF-01"]
    assert result.of(Dialogue) == []


IDS = {"d": st.sampled_from(["a", "b", "c"])}
CELLS = {
    "text": st.sampled_from(["x", "y", None, 7, [1]]),
    "n": st.sampled_from([1, 2, None, "z", {}]),
    "who": st.sampled_from(["ida", None, {}, 3]),
    "more": st.sampled_from([[1.50], {"shape": 1}, ""]),
}


@pytest.mark.slow
@given(st.lists(st.fixed_dictionaries(IDS, optional=CELLS), max_size=9), st.integers(1, 3))
def test_whatever_is_wrong_each_dialogue_is_loaded_or_set_aside(rows: list[dict[str, Any]], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "_IN_MEMORY", 300 * size)
        patch.setattr(spool, "_SLICE", size)
        patch.setattr(json_frames, "_ROWS", size)
        result = loaded(rows)
    bad = {row["d"] for row in rows if not isinstance(row.get("text"), str | None)}
    assert {item.location.native_id for item in result.rejected} == bad
    assert {row.native_id for row in result.of(Record)} == {row["d"] for row in rows} - bad
