"""Questions: what is shown by what, and a number that would mean nothing is refused with the reason."""

import pytest

from talkhouse.charts import questions
from talkhouse.charts.declared import ChartKind, Metric

KNOWN = {"share": Metric(title="Share", sql="avg(share)", within=("scheme", "release"))}


@pytest.mark.parametrize(
    ("by", "over", "kind", "expected"),
    [
        ("", "", ChartKind.LINE, (ChartKind.NUMBER, "", (), "Share")),
        ("bot", "", ChartKind.LINE, (ChartKind.LINE, "bot", (), "Share by bot")),
        ("bot", "position", ChartKind.BAR, (ChartKind.BAR, "position", ("bot",), "Share by bot over position")),
        ("bot", "position", ChartKind.TABLE, (ChartKind.TABLE, "", ("position", "bot"), "Share by bot over position")),
    ],
)
def test_a_question_is_a_chart(by: str, over: str, kind: ChartKind, expected: tuple[object, ...]) -> None:
    chart = questions.chart_of("votes", "share", KNOWN, by=by, over=over, kind=kind)
    assert (chart.kind, chart.x, chart.by, chart.title) == expected


def test_a_metric_over_several_of_what_it_needs_one_of_is_refused_by_name() -> None:
    chart = questions.chart_of("votes", "share", KNOWN, by="release", over="", kind=ChartKind.BAR)
    reason = questions.refusal(KNOWN["share"], chart, {}, ["scheme", "release"])
    assert "one scheme" in reason
    assert "release" not in reason
    assert not questions.refusal(KNOWN["share"], chart, {"scheme": ["a"]}, ["scheme"])
    assert questions.refusal(KNOWN["share"], chart, {"scheme": ["a", "b"]}, ["scheme"])
    assert not questions.refusal(KNOWN["share"], chart, {}, [])


def test_dimensions_are_columns_with_a_few_values_that_measure_nothing() -> None:
    texts = ("bot", "dialogue_id", "speaker_name", "known_speaker_name", "text", "persona_text")
    kinds = {**dict.fromkeys(texts, "VARCHAR"), "vote_count": "BIGINT", "is_default": "BOOLEAN"}
    known = questions.candidates([{"name": name, "type": kind, "meaning": ""} for name, kind in kinds.items()])
    assert [column["name"] for column in known] == ["bot", "dialogue_id", "known_speaker_name"]
    assert [dimension.name for dimension in questions.dimensions(known, [4, 100_000, 1])] == ["bot"]
