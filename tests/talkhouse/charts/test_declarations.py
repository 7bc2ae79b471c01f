"""Declared dashboards, metrics and conversations: what is read, and a message for everything that is wrong."""

from pathlib import Path

import duckdb
import pytest

from talkhouse.charts import questions
from talkhouse.charts.declarations import (
    ConversationDisplay,
    DeclaredDashboard,
    conversations,
    dashboards,
    metrics,
    metrics_files,
)
from talkhouse.charts.declared import ChartKind, Metric, NumberFormat
from talkhouse.charts.query import sql_of_timeline
from talkhouse.queries.files import Files, files_in
from talkhouse.schema.errors import CatalogueError
from tests.data_files import data_of

HEAD = 'title = "Tea"\ndescription = "Who drinks what."\n'
CHART = '[[charts]]\ntitle = "Cups"\nkind = "bar"\nview = "cups"\nx = "day"\nmetrics = ["row_count"]\n'


def chart(**changes: str) -> str:
    """Write a dashboard of one bar chart; keyword arguments are other values of its members, as TOML writes them."""
    members = {"title": '"Cups"', "kind": '"bar"', "view": '"cups"', "x": '"day"', "metrics": '["row_count"]'} | changes
    return HEAD + "[[charts]]\n" + "".join(f"{name} = {value}\n" for name, value in members.items() if value)


def declared(root: Path, files: dict[str, str]) -> list[DeclaredDashboard]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return dashboards(files_in([root]))


def test_files_become_dashboards(tmp_path: Path) -> None:
    files = {
        "tea/bi/dashboards/tea.toml": chart(metrics='["sips", "row_count"]', by='["who"]', grain='"month"'),
        "tea/bi/metrics.toml": '[cups.sips]\ntitle = "Sips"\nsql = "sum(sips)"\nformat = "decimal"\n',
        "bi/dashboards/all.toml": chart(),
        "ale/notes.txt": "No folder for BI tools.",
    }
    everybody, tea = declared(tmp_path, files)
    assert (everybody.folder, everybody.name, tea.folder, tea.name) == ("bi", "all", "tea", "tea")
    assert (tea.dashboard.title, tea.dashboard.description) == ("Tea", "Who drinks what.")
    (cups,) = tea.dashboard.charts
    assert (cups.kind, cups.columns, cups.metrics) == (ChartKind.BAR, ("day", "who"), ("sips", "row_count"))
    (sips,) = metrics(files_in([tmp_path]))["cups"].values()
    assert (sips.title, sips.sql, sips.format) == ("Sips", "sum(sips)", NumberFormat.DECIMAL)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("title = ", "Invalid value"),
        (CHART, "missing required field `title`"),
        ('title = "Tea"\n' + CHART, "missing required field `description`"),
        (HEAD, "missing required field `charts`"),
        (HEAD + "colour = 1\n" + CHART, "unknown field `colour`"),
        (HEAD + CHART + "colour = 1\n", "unknown field `colour`"),
        (HEAD + '[[filters]]\ncolumn = "day"\nview = "cups"\n' + CHART, "missing required field `title`"),
        (chart(title=""), "missing required field `title`"),
        (chart(kind='"pie"'), "Invalid enum value 'pie'"),
        (chart(kind='"table"'), "a table has no x"),
        (chart(kind='"number"'), "a number has no x"),
        (chart(x=""), "a bar has an x"),
        (chart(kind='"line"', x=""), "a line has an x"),
        (chart(kind='"heatmap"', x="", by='["who"]'), "a heatmap has an x"),
        (chart(kind='"heatmap"'), "a heat map has one column in by"),
        (chart(kind='"heatmap"', by='["who", "what"]'), "a heat map has one column in by"),
        (chart(kind='"heatmap"', by='["who"]', metrics='["row_count", "row_count"]'), "a heatmap has one metric"),
        (chart(kind='"number"', x="", metrics='["row_count", "row_count"]'), "a number has one metric"),
        (chart(kind='"number"', x="", by='["who"]'), "a number has no by"),
        (chart(kind='"table"', x="", metrics="[]"), "a chart has a metric"),
        (chart(kind='"number"', x="", counts='["row_count"]'), "a number has no counts"),
        (chart(kind='"table"', x="", counts='["row_count"]'), "a table has no counts"),
        (chart(counts='["sips"]'), r"'Cups' shows sips, which is in no metrics.toml under \[cups\]"),
        (chart(grain='"fortnight"'), "Invalid enum value 'fortnight'"),
        (chart(kind='"table"', x="", grain='"year"'), "a table has no grain"),
        (chart(needs="{ who = [2, 9] }"), "a chart needs values of its own columns, and who is none of them"),
        (chart(along='["a", "b"]', largest_first="true"), "an order along x is of a chart that has x"),
        (chart(kind='"line"', stacked="true"), "only bars are stacked or horizontal"),
        (chart(kind='"table"', x="", horizontal="true"), "only bars are stacked or horizontal"),
        (chart(width="0"), "a width is from 1 to 12"),
        (chart(width="13"), "a width is from 1 to 12"),
        (chart(limit="0"), "a limit is at least 1"),
        (chart(by='["day"]'), "a chart names each column and metric once"),
        (chart(metrics='["row_count", "row_count"]'), "a chart names each column and metric once"),
        (HEAD + CHART + "metrcs = 1\n", "one of: metrics[\\s\\S]*unknown field `metrcs`"),
        (HEAD + "tilte = 1\n" + CHART, "one of: title[\\s\\S]*unknown field `tilte`"),
        (HEAD + CHART + CHART, "two charts have the same title"),
        (HEAD + 2 * '[[filters]]\ntitle = "Day"\ncolumn = "day"\nview = "cups"\n' + CHART, "two filters have the same"),
        (chart(metrics='["sips"]'), r"'Cups' shows sips, which is in no metrics.toml under \[cups\]"),
    ],
)
def test_a_broken_dashboard_is_named_with_its_problem(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "tea" / "bi" / "dashboards" / "tea.toml"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(CatalogueError, match=rf"tea\.toml(:\d+)?: the declaration is broken[\s\S]*{problem}"):
        dashboards(files_in([tmp_path]))


@pytest.mark.parametrize(("text", "problem"), data_of(__file__)["a_broken_metric_is_named_with_its_problem"])
def test_a_broken_metric_is_named_with_its_problem(tmp_path: Path, text: str, problem: str) -> None:
    files = {"tea/bi/metrics.toml": text, "tea/bi/dashboards/tea.toml": chart()}
    with pytest.raises(CatalogueError, match=rf"metrics\.toml: the declaration is broken[\s\S]*{problem}"):
        declared(tmp_path, files)


def test_the_sql_of_each_file_of_metrics_is_checked_where_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "tea" / "bi").mkdir(parents=True)
    attack = '[cups.sips]\ntitle = "Sips"\nsql = "sum(sips) from bi.cups; select 1"\n'
    (tmp_path / "tea" / "bi" / "metrics.toml").write_text(attack)
    with pytest.raises(CatalogueError, match=r"metrics\.toml"):
        list(metrics_files(files_in([tmp_path])))


def test_metrics_of_a_view_stand_in_one_file(tmp_path: Path) -> None:
    sips = '[cups.sips]\ntitle = "Sips"\nsql = "sum(sips)"\n'
    with pytest.raises(CatalogueError, match=r"tea.bi.metrics\.toml[\s\S]*another metrics.toml has .* bi\.cups"):
        declared(tmp_path, {"bi/metrics.toml": sips, "tea/bi/metrics.toml": sips})


def test_dashboards_have_different_names(tmp_path: Path) -> None:
    files = {"bi/dashboards/tea.toml": chart(), "tea/bi/dashboards/tea.toml": chart()}
    with pytest.raises(CatalogueError, match=r"tea\.toml[\s\S]*another dashboard is named tea"):
        declared(tmp_path, files)


def test_metrics_of_ours_are_of_views_that_exist(con: duckdb.DuckDBPyConnection) -> None:
    views = con.execute("select view_name from duckdb_views() where schema_name = 'bi'").fetchall()
    assert metrics().keys() <= {name for (name,) in views}


@pytest.mark.slow
@pytest.mark.parametrize("view", metrics())
def test_metrics_of_ours_have_values_and_those_of_no_rows_are_null_or_zero(
    con: duckdb.DuckDBPyConnection, view: str
) -> None:
    """DuckDB makes NaN of 0 by 0, and sorts it before every number."""
    known = metrics()[view]
    query = f"select {', '.join(metric.sql for metric in known.values())} from bi.{view}"
    ((*of_none,),) = con.execute(f"{query} where false").fetchall()
    assert dict(zip(known, of_none, strict=True)).items() <= {(name, empty) for name in known for empty in (None, 0)}
    ((*of_all,),) = con.execute(query).fetchall()
    # A coefficient of agreement is null where there are several: none of them holds for all.
    each = f"{query} group by {', '.join(con.table(f'bi.{view}').columns)}"
    groups = con.execute(each).fetchall() if None in of_all else []
    for place, (name, metric) in enumerate(known.items()):
        value = of_all[place]
        if value is None:
            assert any(row[place] is not None for row in groups), name
        elif metric.format is NumberFormat.PERCENT:
            assert 0 <= value <= 1, name


def test_dashboards_of_ours_differ_in_title() -> None:
    titles = [declared.dashboard.title for declared in dashboards()]
    assert len(set(titles)) == len(titles)


TIMELINE = '[timeline]\ntitle = "Cups"\nview = "cups"\nperson = "who"\nstate = "cup"\n'
LINE = '[[lines]]\nkind = "toast"\npattern = "to (?P<whom>.*)"\nsentence = "{speaker} drinks to {whom}"\n'


def display_files(root: Path, text: str) -> Files:
    (root / "tea" / "bi").mkdir(parents=True)
    (root / "tea" / "bi" / "reading.toml").write_text(text, encoding="utf-8")
    return files_in([root])


def display_of(root: Path, text: str) -> ConversationDisplay | None:
    return conversations("tea", display_files(root, text))


def test_a_corpus_says_how_its_conversations_are_read(tmp_path: Path) -> None:
    found = display_of(tmp_path, 'explanation = "They drink."\nhidden = ["tea.sips"]\n' + TIMELINE + LINE)
    assert found
    assert found.timeline
    assert (found.explanation, found.hidden, found.timeline.view) == ("They drink.", ("tea.sips",), "cups")
    assert [line.kind for line in found.lines] == ["toast"]
    assert conversations("ale", files_in([tmp_path])) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("explanation = ", "Invalid value"),
        ('hidden = ["ale.sips"]', "ale.sips is no scheme of tea"),
        (TIMELINE + 'colour = "red"', "one of: "),
        (TIMELINE.replace("state", "stats"), "one of: state"),
        (TIMELINE.replace('view = "cups"\n', ""), "missing required field `view`"),
        (LINE.replace("(?P<whom>.*)", "(?P<whom>"), "is none"),
        (LINE.replace("(?P<whom>.*)", "(?P<whom>a)(?P=whom)"), "is none"),  # only Python has these, in any time
        (LINE.replace("(?P<whom>.*)", "(?P<whom>.*)" + "x" * 990), "1,000 characters at most"),
        (LINE.replace("(?P<whom>.*)", "(?P<whom>.*)(x{1000}){1000}"), "is none"),
        (LINE.replace("{whom}", "{who}"), "the sentence names who, which is no group of the pattern"),
        (LINE.replace("{whom}", "{whom"), "expected '}'"),
    ],
)
def test_what_is_wrong_is_said_with_its_file(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        display_of(tmp_path, text)
    assert problem in str(caught.value)
    assert "reading.toml" in str(caught.value)


def test_a_column_that_the_view_has_not_is_said_with_its_line(tmp_path: Path) -> None:
    of_tea = display_files(tmp_path, TIMELINE)
    found = conversations("tea", of_tea)
    assert found
    assert found.timeline
    with duckdb.connect() as con, pytest.raises(CatalogueError) as caught, sql_of_timeline(found.timeline, of_tea):
        con.execute("select who, cup from (select 'Ann' as who, 'blue' as cups)")
    assert "reading.toml:2" in str(caught.value)
    assert "cups" in str(caught.value)


def test_a_pattern_takes_no_longer_for_a_text_that_almost_fits(tmp_path: Path) -> None:
    found = display_of(tmp_path, LINE.replace("to (?P<whom>.*)", "(?P<whom>(a|a)*)b"))
    assert found
    none, groups, other = found.lines[0].matches(["a" * 100, "aab", "x\naab"])
    assert (none, other, groups and groups["whom"]) == (None, None, "aa")


# Questions: what is shown by what, and a number that would mean nothing is refused with the reason.

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
