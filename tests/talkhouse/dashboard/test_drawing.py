"""Charts and tables of a page: where marks lead, and rows as HTML."""

import datetime
import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl
import pytest

from talkhouse.charts.declarations import Line, dashboards
from talkhouse.charts.declared import Chart, ChartKind, metric
from talkhouse.charts.fields import ChartField
from talkhouse.dashboard import links
from talkhouse.dashboard.drawing import long_last, ranking_first
from talkhouse.dashboard.leads import leads
from talkhouse.dashboard.reading.conversation_display import Step, lines_html, notes_html, timeline_html
from talkhouse.dashboard.reading.selection import ConversationSelection
from talkhouse.dashboard.tables import table_html
from talkhouse.dashboard.warehouse import ServedWarehouse
from tests.samples import GROUPS, RELEASES
from tests.talkhouse.dashboard.conftest import Visit
from tests.talkhouse.dashboard.pages import html, words

Row = dict[str, object]
PLACES = pl.DataFrame({"dialogue_id": ["a b/1", "c"], "turn_index": [3, None], "row_count": [2, 1]})


def chart(**members: object) -> Chart:
    return Chart(**{"title": "", "kind": ChartKind.BAR, "view": "cups", "metrics": ("row_count",), **members})  # type: ignore[arg-type]


def test_a_row_with_a_turn_leads_to_it(of_samples: ServedWarehouse) -> None:
    table = chart(kind=ChartKind.TABLE, by=("dialogue_id", "turn_index"))
    assert leads(of_samples, table, PLACES, {}) == ["read?dialogue=a+b%2F1&turn=3", "read?dialogue=c"]


@pytest.mark.parametrize(
    ("members", "row", "choices", "expected"),
    [
        ({"x": "bot"}, {"bot": "Tea&Co"}, {}, "read?speaker=Tea%26Co"),
        ({"x": "corpus_id", "by": ("split",)}, {"corpus_id": "a", "split": None}, {}, "read?corpus=a"),
        ({"x": "split"}, {"split": "dev"}, {"split": ["dev", "test"], "release": ["r", "s"]}, "split=dev&release=r&"),
        ({"x": "cups", "by": ("fault",), "scheme": "a.b"}, {"cups": 1, "fault": "X"}, {}, "read?label=a.b%3DX"),
        ({"x": "cups", "leads_to": "read?corpus=a"}, {"cups": 1}, {}, "read?corpus=a"),
        ({"x": "cups", "leads_to": "quality?rule=a"}, {"cups": 1}, {}, "quality?rule=a"),
        ({"x": "label", "leads_to": "tasks?task=a.b"}, {"label": "X"}, {}, "tasks?task=a.b&task_label=X"),
        ({"x": "cups"}, {"cups": 1}, {"split": ["dev"]}, None),
        ({"kind": ChartKind.TABLE, "by": ("split",)}, {"split": "dev"}, {}, None),
    ],
)
def test_a_mark_leads_to_what_it_stands_for(
    of_samples: ServedWarehouse, members: Row, row: Row, choices: dict[str, list[str]], expected: str | None
) -> None:
    found = leads(of_samples, chart(**members), pl.DataFrame([row | {"row_count": 1}]), choices)
    assert (found is None) == (expected is None)
    assert (expected or "") in (found or [""])[0]


def test_a_mark_of_a_corpus_and_of_a_task_leads_to_its_own(of_samples: ServedWarehouse) -> None:
    (of_corpus,) = (board for board in dashboards() if board.folder == RELEASES)
    by_bot = next(chart for chart in of_corpus.dashboard.charts if chart.x == "bot")
    rows = pl.DataFrame([dict.fromkeys(by_bot.columns, "A")])
    assert f"corpus={RELEASES}" in (leads(of_samples, by_bot, rows, {}) or [""])[0]
    by_task = chart(x="task", by=("split",))
    (full,) = of_samples.rows("select corpus_id || '.' || task from bi.splits order by 1 limit 1").to_series()
    rows = pl.DataFrame({"task": [full.partition(".")[2]], "split": ["dev"]})
    assert leads(of_samples, by_task, rows, {}) == [f"tasks?task={full}&task_split=dev"]


def test_a_mark_of_an_outcome_leads_to_conversations_that_have_it(of_samples: ServedWarehouse) -> None:
    charts = (chart for declared in dashboards() if declared.folder == GROUPS for chart in declared.dashboard.charts)
    by_outcome = next(chart for chart in charts if chart.by == ("outcome",))
    rows = pl.DataFrame([dict.fromkeys(by_outcome.columns, 5) | {"outcome": "gain"}])
    assert leads(of_samples, by_outcome, rows, {}) == [links.read(corpus=GROUPS, outcome=f"{GROUPS}.outcome=gain")]
    chosen = ConversationSelection({"outcome": (f"{GROUPS}.outcome=gain",)})
    assert of_samples.rows(f"select count(*) from ({chosen.page(50)})", {**chosen.values, "offset": 0}).item() > 0


def test_a_table_has_every_text_as_it_is() -> None:
    times = [datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC), None]
    rows = pl.DataFrame({"who": ["<b>Ann", None], "cups": [1234, None], "at": times})
    columns = [ChartField("who", "Who & what"), ChartField("cups", "Cups"), ChartField("at", "At")]
    page = table_html("Tea", rows, columns, ['read?a="1"', "read"])
    assert '<th scope="col" class="short wide">Who &amp; what</th><th scope="col" class="number">Cups</th>' in page
    assert '<td class="short"><a href="read?a=&quot;1&quot;">Read</a></td><td class="short">&lt;b&gt;Ann</td>' in page
    assert '<td class="short">2026-01-02 03:04</td>' in page
    assert page.count("\N{EN DASH}") == 3


def test_long_texts_stand_behind_what_a_phone_shows() -> None:
    rows = pl.DataFrame({"rule": ["A"], "condition": ["so " * 30], "cups": [3]})
    columns = long_last([ChartField(name, name) for name in rows.columns], rows)
    assert [column.name for column in columns] == ["rule", "cups", "condition"]


def test_what_a_table_is_ranked_by_stands_behind_what_names_the_rows() -> None:
    names = ["dialogue_id", "turn_index", "release", "row_count", "cups"]
    table = chart(kind=ChartKind.TABLE, by=tuple(names[:3]), metrics=("row_count", "cups"), largest_first=True)
    ranked = ranking_first(table, [ChartField(name, name) for name in names])
    assert [column.name for column in ranked] == ["dialogue_id", "turn_index", "row_count", "release", "cups"]


def test_a_name_is_broken_only_at_its_joints_and_numbers_take_their_own_width() -> None:
    name = "a_long_name_of_something.with_parts"
    rows = pl.DataFrame({"name": [name, "b"], "word": ["a" * 40, "-"], "text": ["Some words in a row", ""]})
    page = table_html("", rows, [ChartField(column, column.title()) for column in rows.columns])
    assert '<td class="text">a_<wbr>long_<wbr>name_<wbr>of_<wbr>something.<wbr>with_<wbr>parts</td>' in page
    assert f'<td class="text unbroken">{"a" * 40}</td><td class="short">Some words in a row</td>' in page
    short = table_html("", pl.DataFrame({"task": ["change_of_mind"]}), [ChartField("task", "Task")])
    assert '<td class="short">change_<wbr>of_<wbr>mind</td>' in short, "broken where a phone has no room"


def test_a_row_that_is_too_wide_for_a_phone_knows_the_titles_of_its_cells_and_its_answer() -> None:
    rows = pl.DataFrame({"text": ["so " * 30], "cups": [1234], "note": ["as " * 30], "more": ["no " * 30]})
    cups = metric("row_count", {})
    columns = [ChartField(name, f"<{name}>", cups if name == "cups" else None) for name in rows.columns]
    page = table_html("Tea", rows, columns, ["read"])
    assert '<div class="rows texts wide"' in page
    assert '<td class="number answer" data-title="&lt;cups&gt;"><span>1,234</span></td>' in page
    assert 'wide" tabindex' not in table_html("Tea", rows[["cups"]], columns[1:2], ["read"])


# Groups in Read: who holds what when, in which words and after which, and rows of files as short lines.

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
