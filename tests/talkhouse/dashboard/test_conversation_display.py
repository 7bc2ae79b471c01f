"""Groups in Read: who holds what when, in which words and after which, and rows of files as short lines."""

import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from talkhouse.charts.declarations import Line
from talkhouse.dashboard.reading.conversation_display import Step, lines_html, notes_html, timeline_html
from tests.samples import GROUPS
from tests.talkhouse.dashboard.conftest import Visit
from tests.talkhouse.dashboard.pages import html, words

STEPS = [
    Step("Ann", 0, "A, 7", 1.0, None),
    Step("Bob <b>", 2, "none", 0.5, None),
    Step("Ann", 4, "A", 0.75, 3, message=4, previous="A, 7"),
    Step("Ann", 6, "A, 7", 1.0, 5, previous="A"),
]
TURNS = [
    {"turn_index": index, "speaker": "Bob <b>", "role": "user", "kind": "message", "text": f"Why <i>{index}</i>?"}
    for index in range(7)
]
SUBMIT = Line(kind="submit", pattern="(?P<cards>.*)", sentence="{speaker} submits {cards}", nothing="no card")


def test_each_person_has_a_row_of_steps_that_ends_where_the_table_does() -> None:
    drawn = timeline_html(STEPS, TURNS, lambda turn: f"read?turn={turn}", here=4)
    rows = re.findall(r'<tr class="person">(.*?)</tr>', drawn)
    assert [words(row) for row in rows] == ["Ann A 7 ✓ A A 7 ✓", "Bob <b> none"]
    assert [sum(map(int, re.findall(r'colspan="(\d+)"', row))) for row in rows] == [4, 4]
    assert [int(turn) for turn in re.findall(r'<th class="index".*?>(\d+)</a>', drawn)] == [0, 2, 4, 6]
    assert re.search(r'aria-current="true"[^>]*><a[^>]*>4<', drawn)
    assert "<b>" not in drawn
    assert "<i>" not in drawn


def test_each_change_is_in_its_own_words_and_leads_to_its_turn_and_to_the_message_before() -> None:
    drawn = timeline_html(STEPS, TURNS, lambda turn: f"read?turn={turn}")
    first, second = re.findall(r'<li class="move">(.*?)</li>', drawn)
    assert words(first) == "4 Ann A 7 → A Why <i>4</i>? after 3 Bob <b> Why <i>3</i>?"
    assert words(second) == "6 Ann A → A 7 ✓ after 5 Bob <b> Why <i>5</i>?"
    assert re.findall(r'href="([^"]+)"', first) == ["read?turn=4", "read?turn=3"]
    assert {turn: words(note) for turn, note in notes_html(STEPS).items()} == {4: "Ann A 7 → A", 6: "Ann A → A 7 ✓"}


@pytest.mark.parametrize(
    ("text", "shown"), [("7,A", "Bob <b> submits 7 A"), ("", "Bob <b> submits no card"), ("on", "Bob <b> submits on")]
)
def test_a_turn_of_a_pattern_is_a_line(text: str, shown: str) -> None:
    (line,) = lines_html([{**TURNS[0], "kind": "submit", "text": text}], [SUBMIT]).values()
    assert words(line) == shown
    assert "<b>" not in line


def test_a_turn_of_another_kind_or_pattern_stays_as_it_is() -> None:
    strict = Line(kind="submit", pattern="(?P<cards>[A-Z])", sentence="{cards}")
    assert lines_html([{**TURNS[0], "text": "A"}, {**TURNS[1], "kind": "submit", "text": "A,7"}], [strict]) == {}
    assert "<i>" not in timeline_html([Step("<i>", 1, "<i>", None, None)], TURNS, str)


def test_a_group_is_read_with_who_stands_for_what(visit: Visit, sample: Path, con: duckdb.DuckDBPyConnection) -> None:
    changes = con.execute(
        f"select dialogue_id, turn_index, speaker_name, solution, message_text from bi.{GROUPS}_solutions "
        "where is_changed order by all"
    ).fetchall()
    dialogue = changes[0][0]
    page = visit(sample, "read", dialogue=dialogue)
    drawn = html(page)
    moves = [words(move) for move in re.findall(r'<li class="move">(.*?)</li>', drawn)]
    of_dialogue = [change for change in changes if change[0] == dialogue]
    assert len(moves) == len(of_dialogue)
    for move, (_, turn, name, solution, stated) in zip(moves, of_dialogue, strict=True):
        assert move.startswith(f"{turn} {name}")
        assert f"→ {solution.replace(',', '')}" in move
        assert stated is None or stated in move.partition(" after ")[0]
    assert "&amp;&amp;" not in drawn
    assert "The cards on the table:" in words(drawn)
    assert "tracker" not in drawn
    assert any("tracker" in element.value for element in page.markdown)


@pytest.mark.slow
def test_a_view_that_is_not_as_declared_leaves_the_talk(visit: Visit, changed: Callable[[str], Path]) -> None:
    path = changed(f"create or replace view bi.{GROUPS}_solutions as select 1 as turn_index")
    page = visit(path, "read", dialogue=f"{GROUPS}:10000001-aaaa-4bbb-8ccc-000000000001")
    assert [error.value for error in page.error] == ["What the corpus declares about these dialogues can't be shown."]
    assert "reading.toml:" in "".join(code.value for code in page.code)
    assert "because a vowel on the other side" in html(page)
