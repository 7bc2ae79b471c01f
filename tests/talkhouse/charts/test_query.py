"""Queries of charts, filters and colours: worked examples, every declared chart, and errors that name the line."""

import math
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import duckdb
import msgspec
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import talkhouse
from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.declared import Chart, ChartKind, Dashboard, Filter, Grain, Headline, Metric
from talkhouse.charts.draw import NOTHING, draw
from talkhouse.charts.fields import frame
from talkhouse.charts.query import chart_sql, filter_sql, narrowed, palette, sql_of_chart, sql_of_filter
from talkhouse.charts.view_cache import ViewCache, often_asked
from talkhouse.dialogues.schemes import PLAIN, label_colours
from talkhouse.queries.files import Files, files_in
from talkhouse.schema.errors import CatalogueError
from tests.data_files import data_of

DATA = data_of(__file__)

SIPS = {"sips": Metric(title="Sips", sql="sum(sips)")}
Connection = duckdb.DuckDBPyConnection
DECLARED = [
    pytest.param(chart, id=f"{board.name}-{chart.title}") for board in dashboards() for chart in board.dashboard.charts
]


@pytest.fixture
def cups() -> Connection:
    con = duckdb.connect()
    con.execute("create schema bi")
    con.execute("create table bi.cups (drunk_at timestamp, who varchar, sips integer)")
    con.execute(
        "insert into bi.cups values ('2020-01-03', 'Ann', 5), ('2020-11-02', 'Ben', 7), ('2021-02-01', 'Ann', 1),"
        " (null, 'Ann', 20), ('2020-05-05', null, 3)"
    )
    return con


def of_cups(kind: ChartKind, **members: object) -> Chart:
    return Chart(title="", kind=kind, view="cups", **{"metrics": ("sips",), **members})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("chart", "expected"),
    [
        (of_cups(ChartKind.NUMBER), ["36"]),
        (of_cups(ChartKind.NUMBER, metrics=("row_count",), where="sips > 4"), ["3"]),
        (of_cups(ChartKind.TABLE, by=("who",), metrics=("row_count", "sips")), ["Ann 3 26", "Ben 1 7", "None 1 3"]),
        (of_cups(ChartKind.TABLE, by=("who",), largest_first=True, limit=2), ["Ann 26", "Ben 7"]),
        (
            of_cups(ChartKind.BAR, x="drunk_at", grain=Grain.YEAR, metrics=("row_count",)),
            ["2020-01-01 00:00:00 3", "2021-01-01 00:00:00 1", "None 1"],
        ),
        (of_cups(ChartKind.BAR, x="who", counts=("row_count",)), ["Ann 26 3", "Ben 7 1", "None 3 1"]),
        (
            of_cups(ChartKind.LINE, x="drunk_at", grain=Grain.MONTH, by=("who",), where="who = 'Ben' or sips = 1"),
            ["2020-11-01 00:00:00 Ben 7", "2021-02-01 00:00:00 Ann 1"],
        ),
    ],
)
def test_worked_examples(cups: Connection, chart: Chart, expected: list[str]) -> None:
    rows = cups.execute(chart_sql(chart, SIPS)).fetchall()
    assert [" ".join(map(str, row)) for row in rows] == expected


def test_what_differs_in_the_last_digits_is_in_the_order_of_names(cups: Connection) -> None:
    cups.execute(
        "create table bi.shares as from (values ('Ben', 0.1::double + 0.2), ('Ann', 0.3::double)) as t(who, share)"
    )
    chart = Chart(title="", kind=ChartKind.TABLE, view="shares", by=("who",), metrics=("share",), largest_first=True)
    share = Metric(title="Share", sql="sum(share)")
    assert [who for who, _ in cups.execute(chart_sql(chart, {"share": share})).fetchall()] == ["Ann", "Ben"]


def test_names_are_quoted(cups: Connection) -> None:
    cups.execute('create view bi.odd as select who as "group", sips as "a ""b""" from bi.cups')
    chart = Chart(title="", kind=ChartKind.TABLE, view="odd", by=("group", 'a "b"'), metrics=("row_count",), limit=1)
    assert [name for name, *_ in cups.execute(chart_sql(chart, {})).description] == ["group", 'a "b"', "row_count"]


@pytest.mark.slow
@pytest.mark.parametrize("chart", DECLARED)
def test_a_chart_of_ours_has_rows(con: Connection, chart: Chart) -> None:
    columns = con.table(f"bi.{chart.view}").columns
    found = con.execute(chart_sql(narrowed(chart, {}, columns), metrics().get(chart.view, {})))
    assert [name for name, *_ in found.description] == [*chart.columns, *chart.metrics, *chart.counts]
    rows = found.fetchall()
    for index, name in enumerate((*chart.metrics, *chart.counts), start=len(chart.columns)):
        assert any(row[index] is not None for row in rows), name
    assert len({row[: len(chart.columns)] for row in rows}) == len(rows)
    # Nothing is cut off but by a limit that readers are told.
    assert len(rows) < chart.limit or str(chart.limit) in chart.title + chart.description


@pytest.mark.slow
@pytest.mark.parametrize(
    ("view", "where", "column"),
    [
        ("record_turns", "kind = 'message' and is_first_in_split and language is distinct from 'ja'", "word_count"),
        ("speaker_shares", "is_first_in_split", "turn_count"),
    ],
)
def test_quantiles_are_values_that_so_many_have_at_most(con: Connection, view: str, where: str, column: str) -> None:
    (chart,) = (
        chart
        for declared in dashboards()
        for chart in declared.dashboard.charts
        if chart.view == view and chart.kind is ChartKind.TABLE and chart.by == ("corpus_id", "role")
    )
    found = con.execute(chart_sql(narrowed(chart, {}, con.table(f"bi.{view}").columns), metrics()[view])).fetchall()
    rows = con.execute(f"select corpus_id, role, {column} from bi.{view} where {where} and is_default").fetchall()
    assert {row[:2] for row in found} == {row[:2] for row in rows}
    for corpus, role, *quantiles, most, count in found:
        values = sorted(value for *key, value in rows if key == [corpus, role])
        for value, tenths in zip(quantiles, (5, 1, 2.5, 7.5, 9), strict=True):
            assert value == values[math.ceil(len(values) * tenths / 10) - 1]
        assert (most, count) == (values[-1], len(values))


COLOUR_METRICS = {name: Metric(title=name.upper(), sql=f"sum({name})", label=name) for name in ("o", "t", "x")}
HEAD = 'title = "Tea"\ndescription = "Tea."\n'
CHARTS = '[[charts]]\ntitle = "Cups"\nkind = "number"\nview = "cups"\nmetrics = ["row_count"]\n'


@pytest.fixture
def coloured() -> Connection:
    coloured = duckdb.connect()
    coloured.execute(DATA["coloured"])
    return coloured


def colour_files(root: Path, filters: str = "") -> Files:
    path = root / "bi" / "dashboards" / "tea.toml"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD + filters + CHARTS)
    return files_in([root])


def bars(**members: object) -> Chart:
    return of_cups(ChartKind.BAR, **{"x": "day", "metrics": ("row_count",), **members})


def test_labels_have_the_colours_of_their_scheme_and_values_those_that_are_declared(
    coloured: Connection, tmp_path: Path
) -> None:
    of_scheme = label_colours(["o", "t", "x"], "good_to_bad")
    known = colour_files(tmp_path)
    rows = partial(frame, coloured)
    assert palette(rows, bars(by=("fault",), scheme="tea.fault"), {}, known) == of_scheme
    shares = bars(metrics=("x", "o"), scheme="tea.fault")
    assert palette(rows, shares, COLOUR_METRICS, known) == {"X": of_scheme["x"], "O": of_scheme["o"]}
    declared = bars(by=("outcome",), values=("gain", "same", "loss"), scale="good_to_bad")
    assert palette(rows, declared, {}, known) == label_colours(["gain", "same", "loss"], "good_to_bad")


def test_a_choice_does_not_change_a_colour(coloured: Connection, tmp_path: Path) -> None:
    chart, known = bars(by=("who",)), colour_files(tmp_path)
    everybody = palette(partial(frame, coloured), chart, {}, known)
    assert everybody == dict(zip(["Ann", "Ben", "Cy"], PLAIN, strict=False))
    assert palette(partial(frame, coloured), narrowed(chart, {"who": ["Cy"]}, ["who"]), {}, known) == everybody


def test_a_series_has_one_colour_in_charts_of_different_views(coloured: Connection, tmp_path: Path) -> None:
    known = colour_files(tmp_path, '[[filters]]\ntitle = "Who"\ncolumn = "who"\nview = "people"\n')
    found = palette(partial(frame, coloured), bars(by=("who",)), {}, known)
    assert found == dict(zip(["Abe", "Ann", "Ben", "Cy"], PLAIN, strict=False))


def test_what_has_no_value_is_grey_and_new_values_come_after_those_that_are_known() -> None:
    rows = pl.DataFrame({"day": [1, 2, 3], "who": ["Ann", None, "Zoe"], "row_count": [1, 1, 1]})
    drawn = draw(bars(by=("who",)), {}, rows, {"Abe": "#111111", "Ann": "#222222"}).to_dict()
    scale = drawn["encoding"]["color"]["scale"]
    found = dict(zip(scale["domain"], scale["range"], strict=True))
    assert found == {"Ann": "#222222", "Zoe": PLAIN[2], "no who": NOTHING}


BROKEN_METRIC = '[cups.sips]\ntitle = "Sips"\nsql = "sum(sips)"\n'
BROKEN_DASHBOARD = DATA["broken_dashboard"]


def compute(con: Connection, root: Path) -> None:
    """Run the filter and the chart."""
    files = files_in([root])
    (declared,) = dashboards(files)
    (chart,), (choice,) = declared.dashboard.charts, declared.dashboard.filters
    with sql_of_filter(choice, files):
        con.execute(filter_sql(choice, 10))
    with sql_of_chart(con.execute, chart, files):
        con.execute(chart_sql(chart, metrics(files).get(chart.view, {})))


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "problem", "expected"),
    [
        ("bi/dashboards/tea.toml", 'x = "who"', 'x = "whom"', 10, "the chart 'Cups'", "one of: who"),
        ("bi/dashboards/tea.toml", 'x = "who"', 'x = "who"\nwhere = "sip > 1"', 10, "the chart 'Cups'", "one of: sips"),
        ("bi/dashboards/tea.toml", 'view = "cups"\nx', 'view = "mugs"\nx', 10, "the chart 'Cups'", None),
        ("bi/dashboards/tea.toml", 'column = "who"', 'column = "whom"', 5, "the filter 'Drinker'", "one of: who"),
        ("bi/metrics.toml", "sum(sips)", "sum(sip)", 1, "the metric sips of bi.cups", "one of: sips"),
    ],
)
def test_a_declaration_that_does_not_fit_is_named(
    tmp_path: Path, name: str, old: str, new: str, line: int, problem: str, expected: str | None
) -> None:
    files = {"bi/dashboards/tea.toml": BROKEN_DASHBOARD, "bi/metrics.toml": BROKEN_METRIC}
    if "mugs" in new:
        files["bi/metrics.toml"] += BROKEN_METRIC.replace("cups", "mugs")
    assert old in files[name]
    for path, text in files.items():
        (tmp_path / "tea" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tea" / path).write_text(text.replace(old, new) if path == name else text)
    with duckdb.connect() as con:
        con.execute("create schema bi")
        con.execute("create table bi.cups (who varchar, sips integer)")
        with pytest.raises(CatalogueError) as caught:
            compute(con, tmp_path)
    assert caught.value.what == f"{problem} can't be computed"
    assert caught.value.where == f"{tmp_path / 'tea' / name}:{line}"
    assert expected is None or expected in str(caught.value.expected)


# Views that are asked more than once are held, and give the rows that they have.

WHOLE = {"turns": "select * from bi.turns"}
COLUMNS = "select table_name, list(column_name) from duckdb_columns() where schema_name = 'bi' group by 1"


def rows(con: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[object, ...]]:
    return con.execute(sql).fetchall()


def held_in(con: duckdb.DuckDBPyConnection, selects: dict[str, str], most_rows: int = 100_000) -> ViewCache:
    return ViewCache(lambda: nullcontext(con), "held", selects, most_rows)


def dashboard(*charts: Chart, filters: tuple[Filter, ...] = (), headline: str = "") -> Dashboard:
    headlines = (Headline("{n}", headline),) if headline else ()
    return Dashboard(title="Turns", description="", charts=charts, filters=filters, headlines=headlines)


def chart(title: str, **more: object) -> Chart:
    return msgspec.convert(
        {"title": title, "kind": ChartKind.TABLE, "view": "turns", "metrics": ["row_count"], **more}, Chart
    )


def test_a_view_that_is_held_gives_its_rows(sample: Path) -> None:
    with talkhouse.open(sample) as con:
        held = held_in(con, WHOLE)
        for view in ("bi.turns", 'bi."turns"'):
            sql = f"select sum(bi.word_count(text)), count(*) from {view}"
            assert held.sql(sql) == sql.replace(view, '"held".turns')
            assert held.rows(sql).rows() == rows(con, sql)
        other = "select count(*) from bi.dialogues"
        assert held.sql(other) == other
        held.close()
        assert rows(con, "select count(*) from duckdb_databases() where database_name = 'held'") == [(0,)]


def test_what_is_held_stands_in_no_table_s_way(sample: Path) -> None:
    with talkhouse.open(sample) as con:
        held = held_in(con, {"schemes": "select * from bi.schemes"})
        assert rows(con, held.sql("select count(used_label_count) > 0 from bi.schemes")) == [(True,)]
        assert rows(con, "select count(kind) > 0 from main.schemes") == [(True,)]
        held.close()


@pytest.mark.parametrize(
    ("select", "most_rows"), [("select * from bi.turns", 10), ("select nothing from bi.turns", 999)]
)
def test_a_view_that_cant_be_held_is_asked_itself(sample: Path, select: str, most_rows: int) -> None:
    with talkhouse.open(sample) as con:
        held = held_in(con, {"turns": select}, most_rows)
        sql = "select count(*) from bi.turns"
        assert held.sql(sql) == sql
        held.close()


def test_what_is_held_is_what_charts_filters_and_sentences_name() -> None:
    columns = {"turns": ["corpus_id", "role", "kind", "language", "text", "word_count"]}
    by_role, by_kind = chart("a", by=["role"], where="kind = 'message'"), chart("b", by=["kind"], where="role is null")
    assert often_asked([dashboard(by_role)], {}, columns) == {}
    assert often_asked([dashboard(by_role), dashboard(by_kind)], {}, columns) == {}
    assert often_asked([dashboard(by_role, by_kind), dashboard(by_kind)], {}, columns) == {
        "turns": 'select "role", "kind" from bi."turns" where (kind = \'message\') or (role is null)'
    }
    language = Filter("language", "Language", "turns")
    assert often_asked([dashboard(by_role, filters=(language,))], {}, columns) == {
        "turns": 'select "role", "kind", "language" from bi."turns"'
    }
    for sql, names in [
        ("select count(*) as n, min(word_count) from bi.turns", ["role", "kind", "word_count"]),
        ("select count(*) as n from (select * from bi.turns)", columns["turns"]),
        ("select count(*) as n from (from bi.turns)", columns["turns"]),
    ]:
        named = ", ".join(f'"{name}"' for name in names)
        assert often_asked([dashboard(by_role, headline=sql)], {}, columns) == {
            "turns": f'select {named} from bi."turns"'
        }


@pytest.mark.slow
def test_every_declared_chart_and_filter_gives_the_same_from_what_is_held(sample: Path) -> None:
    with talkhouse.open(sample) as con:
        columns: dict[str, list[str]] = dict(con.execute(COLUMNS).fetchall())
        boards = [declared.dashboard for declared in dashboards()]
        held = held_in(con, often_asked(boards, metrics(), columns))
        compared = 0
        for board in boards:
            offered = {choice.column: rows(con, filter_sql(choice, 1)) for choice in board.filters}
            chosen = {name: [str(value) for (value,) in values] for name, values in offered.items()}
            queries = [
                *(headline.sql for headline in board.headlines),
                *(filter_sql(choice, 100) for choice in board.filters),
                *(
                    chart_sql(narrowed(chart, choices, columns[chart.view]), metrics().get(chart.view, {}))
                    for chart in board.charts
                    for choices in ({}, chosen)
                ),
            ]
            for sql in queries:
                assert_frame_equal(held.rows(sql), frame(con, sql))
                compared += held.sql(sql) != sql
        held.close()
        assert compared > 50
