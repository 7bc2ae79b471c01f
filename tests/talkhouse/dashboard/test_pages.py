"""Home, Quality and the pages of charts: on samples, on less than that, and while a build replaces the file."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from talkhouse import migrations
from talkhouse.charts.declarations import dashboards
from talkhouse.charts.declared import ChartKind
from talkhouse.charts.words import FilledHeadline
from talkhouse.dashboard.drawing import line
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import BuildResult, build
from talkhouse.schema import warehouse
from talkhouse.schema.errors import QueryFailed
from tests.talkhouse.dashboard.conftest import Visit
from tests.talkhouse.dashboard.pages import html, messages

CITED = Path(__file__).parents[1] / "citation" / "golden" / "citation.bib"

PAGES = ["", "read", "tasks", "quality", "sql", *(board.name for board in dashboards() if board.name != "quality")]
SAMPLES = Path("ingest/corpora")


@pytest.fixture(scope="module")
def without_mpchat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("without_mpchat")
    for corpus in ("dbdc3", "delidata"):
        shutil.copytree(SAMPLES / corpus / "sample", folder / "data" / corpus)
    build(folder / "w.duckdb", Silent(), data=folder / "data")
    return folder / "w.duckdb"


def texts(page: AppTest) -> list[str]:
    """Everything that a page says in words."""
    kinds = (page.title, page.markdown, page.caption, page.info, page.code, page.subheader)
    return [element.value for elements in kinds for element in elements]


def numbers(page: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in page.metric}


def assert_is_drawn(page: AppTest) -> None:
    assert not page.exception
    assert not page.error
    assert page.title


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_drawn(visit: Visit, sample: Path, name: str) -> None:
    assert_is_drawn(visit(sample, name))


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_every_page_of_an_empty_warehouse_is_drawn(visit: Visit, empty: Path, name: str) -> None:
    assert_is_drawn(visit(empty, name))


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_drawn_without_mpchat(visit: Visit, without_mpchat: Path, name: str) -> None:
    page = visit(without_mpchat, name)
    assert_is_drawn(page)
    assert ("This corpus is not in the warehouse." in texts(page)) == (
        name in ("mpchat", "mantis", "blended_skill_talk")
    )


@pytest.mark.slow
def test_every_declared_dashboard_is_a_page_with_its_charts(visit: Visit, sample: Path) -> None:
    (dbdc3,) = (board.dashboard for board in dashboards() if board.name == "dbdc3")
    page = visit(sample, "dbdc3")
    kinds = [chart.kind for chart in dbdc3.charts]
    assert page.title[0].value == "DBDC3"
    assert len(page.metric) == kinds.count(ChartKind.NUMBER)
    assert len(page.dataframe) + html(page).count("<table>") == kinds.count(ChartKind.TABLE)
    assert len(page.get("vega_lite_chart")) == sum(
        kind in (ChartKind.BAR, ChartKind.LINE, ChartKind.HEATMAP) for kind in kinds
    )


@pytest.mark.slow
def test_a_chart_that_can_not_be_computed_says_so_in_its_place(
    visit: Visit, changed: Callable[[str], Path], con: duckdb.DuckDBPyConnection
) -> None:
    path = changed("create or replace view bi.mantis_intents_by_domain as select 'apple' as site, 'FD' as intents")
    page = visit(path, "mantis")
    broken = ["Intents by site", "Intents by role", "Intents by position in the dialogue"]
    headline, *charts = (error.value for error in page.error)
    assert headline.startswith("The headline 'After the question")
    assert charts == [f"The chart '{title}' can't be shown." for title in broken]
    wrong = [message for message in messages(page) if "Referenced column" in message]
    assert len(wrong) == 1 + len(broken)
    assert all(".toml:" in message for message in wrong)
    assert numbers(page)["Dialogues"] == str(con.execute("select count(*) from mantis.conversations").fetchall()[0][0])


def test_home_counts_what_is_there(visit: Visit, sample: Path, con: duckdb.DuckDBPyConnection) -> None:
    page = visit(sample)
    for title, table in {"Dialogues": "main.dialogues", "Turns": "main.turns", "Findings": "meta.findings"}.items():
        ((count,),) = con.execute(f"select count(*) from {table}").fetchall()
        assert numbers(page)[title] == f"{count:,}"
    for (title,) in con.execute("select title from main.corpora").fetchall():
        assert any(title.split(":")[0] in text for text in texts(page)), title
    assert {code.value.rstrip() for code in page.code} >= {*CITED.read_text(encoding="utf-8").rstrip().split("\n\n")}


def test_the_url_chooses_and_a_choice_acts_on_the_charts(
    visit: Visit, sample: Path, con: duckdb.DuckDBPyConnection
) -> None:
    query = "select count(*) from bi.dbdc3_breakdown_by_position where split = 'eval'"
    page = visit(sample, "dbdc3", split="eval")
    ((count,),) = con.execute(
        "select sum(turn_count) from bi.dbdc3_breakdown_by_position where split = 'eval' and is_default"
    ).fetchall()
    assert con.execute(query).fetchall() != [(0,)]
    assert page.multiselect(key="split").value == ["eval"]
    assert numbers(page)["Labelled turns"] == f"{count:,}"
    page.multiselect(key="split").set_value([]).run()
    assert numbers(page)["Labelled turns"] != f"{count:,}"


@pytest.mark.slow
def test_a_choice_that_does_not_exist_is_none(visit: Visit, sample: Path) -> None:
    page = visit(sample, "dbdc3", split="'; drop table main.turns; --")
    assert_is_drawn(page)
    assert numbers(page) == numbers(visit(sample, "dbdc3"))


@pytest.mark.slow
def test_findings_have_their_places(visit: Visit, sample: Path, con: duckdb.DuckDBPyConnection) -> None:
    ((rule, count),) = con.execute(
        "select rule, count(*) from meta.findings group by rule order by count(*) desc, rule limit 1"
    ).fetchall()
    page = visit(sample, "quality", rule=rule)
    assert page.selectbox(key="rule").value == rule
    (places,) = (table for table in re.findall("<table>.*?</table>", html(page), re.DOTALL) if "Place in it" in table)
    assert places.count("<tr>") == 1 + min(count, 10)
    assert (f"The other {count - 10:,} places" in [section.label for section in page.expander]) == (count > 10)


@pytest.mark.slow
def test_checks_that_found_something_are_shown_and_the_others_folded(
    visit: Visit, sample: Path, con: duckdb.DuckDBPyConnection
) -> None:
    ((passing, offending),) = con.execute(
        "select count(*) filter (offending = 0), coalesce(sum(offending), 0) from meta.checks"
    ).fetchall()
    page = visit(sample, "quality")
    assert f"{passing:,} checks that pass" in [section.label for section in page.expander]
    assert ("Offending rows" in html(page)) == (offending > 0)


@pytest.mark.slow
def test_a_build_appears_without_a_restart(visit: Visit, rebuild: Callable[..., BuildResult], tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(SAMPLES / "delidata" / "sample", data / "delidata")
    rebuild(data)
    page = visit(tmp_path / "w.duckdb")
    before = numbers(page)
    shutil.copytree(SAMPLES / "dbdc3" / "sample", data / "dbdc3")
    rebuild(data)
    page.run()
    assert_is_drawn(page)
    assert int(numbers(page)["Dialogues"]) > int(before["Dialogues"])


@pytest.mark.slow
def test_a_file_that_goes_and_comes_back(visit: Visit, sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    page = visit(path)
    assert "there is no warehouse here" in page.code[0].value
    shutil.copyfile(sample, path)
    assert_is_drawn(page.run())
    path.unlink()
    assert "there is no warehouse here" in page.run().code[0].value
    path.write_bytes(b"not a database")
    assert "this is not a warehouse" in page.run().code[0].value
    with warehouse.create(tmp_path / "new.duckdb"):
        pass
    (tmp_path / "new.duckdb").replace(path)
    assert "was not made by Talkhouse" in page.run().code[0].value
    migrations.upgrade(tmp_path / "new.duckdb", "0003")
    (tmp_path / "new.duckdb").replace(path)
    assert "older schema" in page.run().code[0].value
    path.unlink()
    shutil.copyfile(sample, path)
    assert_is_drawn(page.run())


def test_a_query_that_takes_too_long_is_stopped(of_samples: ServedWarehouse) -> None:
    with pytest.raises(QueryFailed, match="took too long"), of_samples.connection(0.1) as con:
        con.execute("select count(*) from range(1000000000) a, range(1000000) b").fetchall()
    assert of_samples.rows("select 1 as one").item() == 1


@pytest.mark.parametrize(
    "query", ["select * from read_text('pyproject.toml')", "create table main.mine (a integer)", "set threads = 1"]
)
def test_what_a_page_reads_with_can_do_no_harm(of_samples: ServedWarehouse, query: str) -> None:
    with pytest.raises(duckdb.Error), of_samples.connection() as con:
        con.execute(query).fetchall()


def test_a_headline_has_its_numbers_in_bold_and_a_link_to_the_turn() -> None:
    parts = (("Most doubted: ", False), ("1.6", True), (" bits, by ", False), ("*_<b>", True))
    text = line(FilledHeadline(parts, "", dialogue_id="tea talk/1", turn_index=4))
    assert text == r"Most doubted\: **1\.6** bits, by **\*\_\<b\>** [Read](<read?dialogue=tea+talk%2F1&turn=4>)"
    assert line(FilledHeadline((("5", True),), "", link="tasks?task=a.b")) == "**5** [Examples](<tasks?task=a.b>)"
    together = (("a", True), ("", True), (" b ", True), (".", False), ("", True))
    assert line(FilledHeadline(together, "")) == r"**a b** \."
