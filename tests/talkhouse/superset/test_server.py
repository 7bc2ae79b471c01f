"""The dashboards in Superset itself: imported, queried, filtered, drawn; and no way out of the warehouse."""

import json
import math
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import duckdb
import pytest
import yaml
from msgspec.structs import replace

import talkhouse
from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.declared import Chart, Dashboard, Filter
from talkhouse.charts.query import chart_sql, narrowed
from talkhouse.schema.sql import literal, quoted
from talkhouse.superset.dashboards import ONCE
from tests import outside
from tests.commands import run
from tests.talkhouse.superset.server import PAGE, Superset

pytestmark = pytest.mark.superset

DASHBOARDS = {board.dashboard.title: board.dashboard for board in dashboards()}
CHARTS = [(dashboard.title, chart.title) for dashboard in DASHBOARDS.values() for chart in dashboard.charts]
FILTERS = [(dashboard.title, choice.column) for dashboard in DASHBOARDS.values() for choice in dashboard.filters]
KINDS = ("database", "dataset", "chart", "dashboard")
Row = tuple[Any, ...]


@pytest.fixture(scope="module")
def warehouse(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse whose path has what means something else in a URL."""
    return Path(shutil.copyfile(sample, tmp_path_factory.mktemp("a b") / "100% sämple%20#1@x:y.duckdb"))


@pytest.fixture(scope="module")
def con(warehouse: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with talkhouse.open(warehouse) as connection:
        yield connection


@pytest.fixture(scope="module")
def exported(warehouse: Path) -> Path:
    return warehouse.parent / "bundle.zip"


@pytest.fixture(scope="module")
def import_it(warehouse: Path, exported: Path) -> list[str]:
    """The command that the export prints."""
    shown = run("export", "--for", "superset", "--db", warehouse, "--output", exported)
    assert shown.returncode == 0, shown.stderr
    (line,) = re.findall(r"import it with: (superset .*)", shown.stdout)
    return shlex.split(line)


@pytest.fixture(scope="module")
def served(superset: Superset, import_it: list[str]) -> Iterator[Superset]:
    """Superset with the bundle imported, answering."""
    superset.set_up()
    superset.command(import_it)
    with superset.served():
        superset.log_in()
        yield superset


@pytest.fixture(scope="module")
def numbers(served: Superset) -> dict[tuple[str, str], int]:
    """Superset's number of each chart, by the titles of its dashboard and its own."""
    return {
        (dashboard["dashboard_title"], chart["slice_name"]): chart["id"]
        for dashboard in served.all_of("dashboard")
        for chart in served.ask(f"/dashboard/{dashboard['id']}/charts")["result"]
    }


def charts_of(title: str) -> dict[str, Chart]:
    return {chart.title: chart for chart in DASHBOARDS[title].charts}


def filter_of(dashboard: Dashboard, column: str) -> Filter:
    (choice,) = [item for item in dashboard.filters if item.column == column]
    return choice


def expected(con: duckdb.DuckDBPyConnection, chart: Chart) -> list[Row]:
    """Return the rows that DuckDB gives, without the counts: only the pages show these, on pointing."""
    return plain(con.execute(chart_sql(replace(chart, counts=()), metrics().get(chart.view, {}))).fetchall())


def shown(served: Superset, answer: dict[str, Any], chart: Chart) -> list[Row]:
    """Return the rows that Superset gives, in the order of our columns."""
    return plain([tuple(row[name] for name in (*chart.columns, *chart.metrics)) for row in served.rows(answer)])


def plain(rows: list[Row]) -> list[Row]:
    """Spell values as JSON can, and order the rows."""
    return sorted((tuple(map(_plain, row)) for row in rows), key=repr)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        value = value.replace(tzinfo=UTC).timestamp() * 1000
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return None if math.isnan(value) else float(f"{value:.13g}")
    return value


def test_everything_is_imported_once(served: Superset, numbers: dict[tuple[str, str], int]) -> None:
    assert set(numbers) == set(CHARTS)
    counts = {kind: len(served.all_of(kind)) for kind in KINDS}
    assert (counts["database"], counts["chart"], counts["dashboard"]) == (1, len(CHARTS), len(DASHBOARDS))


@pytest.mark.parametrize(("dashboard", "title"), CHARTS)
def test_a_chart_shows_what_duckdb_computes(
    served: Superset, numbers: dict[tuple[str, str], int], con: duckdb.DuckDBPyConnection, dashboard: str, title: str
) -> None:
    chart = charts_of(dashboard)[title]
    assert shown(served, served.ask(f"/chart/{numbers[dashboard, title]}/data/"), chart) == expected(con, chart)


@pytest.mark.parametrize(("title", "column"), FILTERS)
def test_a_filter_acts_on_every_chart_with_its_column(
    served: Superset, numbers: dict[tuple[str, str], int], con: duckdb.DuckDBPyConnection, title: str, column: str
) -> None:
    dashboard = DASHBOARDS[title]
    choice = filter_of(dashboard, column)
    name = quoted(column)
    where = f"where {name} is not null" + (f" and {choice.where} " if choice.where else "")
    most = f"select {name} from bi.{choice.view} {where} group by {name} order by count(*) desc, 1"
    offered = con.execute(most).fetchall()
    found = [item for item in native_filters(served, title) if item["targets"][0]["column"]["name"] == column]
    if not offered:
        assert found == []
        return
    (native,) = found
    assert served.one_of("dataset", native["targets"][0]["datasetId"])["table_name"] == choice.view
    value = offered[0][0]
    has_rows = False
    for chart in dashboard.charts:
        names = [column for column, *_ in con.execute(f"describe bi.{chart.view}").fetchall()]
        is_outside = numbers[title, chart.title] in native["scope"]["excluded"]
        assert is_outside == (column not in names), chart.title
        if is_outside:
            continue
        same = f"({chart.where or 'true'}) and {name} = {literal(str(value))}"
        rows = filtered(served, numbers[title, chart.title], chart, {"col": column, "op": "IN", "val": [value]})
        assert rows == expected(con, replace(chart, where=same)), chart.title
        has_rows = has_rows or bool(rows)
    assert has_rows


@pytest.mark.parametrize("title", DASHBOARDS)
def test_each_turn_counts_once_as_on_the_pages(
    served: Superset, numbers: dict[tuple[str, str], int], con: duckdb.DuckDBPyConnection, title: str
) -> None:
    for native in native_filters(served, title):
        if native["name"] == ONCE:
            (chosen,) = native["defaultDataMask"]["extraFormData"]["filters"]
            for chart in DASHBOARDS[title].charts:
                if numbers[title, chart.title] not in native["scope"]["excluded"]:
                    names = [column for column, *_ in con.execute(f"describe bi.{chart.view}").fetchall()]
                    rows = filtered(served, numbers[title, chart.title], chart, chosen)
                    assert rows == expected(con, narrowed(chart, {}, names)), chart.title


def native_filters(served: Superset, title: str) -> list[dict[str, Any]]:
    (number,) = [dashboard["id"] for dashboard in served.all_of("dashboard") if dashboard["dashboard_title"] == title]
    metadata = json.loads(served.one_of("dashboard", number)["json_metadata"])
    found: list[dict[str, Any]] = metadata["native_filter_configuration"]
    return found


def filtered(served: Superset, number: int, chart: Chart, choice: dict[str, Any]) -> list[Row]:
    """Return the rows that Superset gives for a chart with what is chosen in a filter."""
    context = json.loads(served.one_of("chart", number)["query_context"])
    context["queries"][0]["filters"] = [choice]
    return shown(served, served.ask("/chart/data", context), chart)


ESCAPES = [
    *("select * from read_text('/etc/passwd')", "select * from read_csv('/etc/passwd')", "select * from '/etc/passwd'"),
    *("select * from glob('/*')", "select getenv('HOME')", "attach '/tmp/other.duckdb'", "detach talkhouse"),
    *("copy (select 1) to '/tmp/out.csv'", "export database '/tmp/out'", "import database '/tmp/out'"),
    *("set enable_external_access = true", "set memory_limit = '1TB'", "reset lock_configuration"),
    *("install httpfs", "load httpfs", "create table main.mine (i integer)", "delete from main.turns"),
    "drop view bi.turns",
]


@pytest.mark.parametrize("query", ESCAPES)
def test_sql_lab_leads_to_nothing_but_the_warehouse(served: Superset, warehouse: Path, query: str) -> None:
    before = warehouse.stat()
    answer = asked(served, query)
    assert "refused" in answer or answer.get("status") == "error", answer
    assert (warehouse.stat().st_mtime_ns, warehouse.stat().st_size) == (before.st_mtime_ns, before.st_size)


def test_sql_lab_reads_the_warehouse(served: Superset, con: duckdb.DuckDBPyConnection) -> None:
    query = "select corpus_id, count(*) as n from bi.turns group by all order by all"
    assert [(row["corpus_id"], row["n"]) for row in asked(served, query)["data"]] == con.execute(query).fetchall()


def asked(served: Superset, query: str) -> dict[str, Any]:
    (database,) = served.all_of("database")
    return served.ask("/sqllab/execute/", {"database_id": database["id"], "sql": query, "schema": "bi"})


@pytest.mark.parametrize("title", DASHBOARDS)
def test_a_dashboard_is_drawn(drawn: dict[str, dict[str, list[str]]], title: str) -> None:
    assert drawn[title] == {"console": [], "requests": [], "shown": []}


@pytest.fixture(scope="module")
def drawn(served: Superset, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[str]]]:
    """What went wrong when each dashboard was drawn; TALKHOUSE_SCREENSHOTS names the folder for the pictures."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("Chromium is not installed: it would draw the dashboards")
    folder = Path(os.environ.get("TALKHOUSE_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    titles = {dashboard["id"]: dashboard["dashboard_title"] for dashboard in served.all_of("dashboard")}
    wanted = [f"{number}:{len(DASHBOARDS[title].charts)}" for number, title in titles.items()]
    program = ["python", Path(__file__).parent / "draw.py", served.url, chromium, folder.resolve(), *wanted]
    words = ["uv", "run", "--quiet", "--isolated", "--no-project", "--python", "3.11", "--with", "playwright", *program]
    found = outside.run(list(map(str, words)), folder)
    return {titles[int(key.partition(":")[0])]: wrong for key, wrong in json.loads(found.splitlines()[-1]).items()}


def test_an_import_again_updates_and_doubles_nothing(
    served: Superset, exported: Path, import_it: list[str], tmp_path: Path
) -> None:
    """The command updates dashboards alone; what the page has for an upgrade updates all."""
    before, counts = exported.read_bytes(), {kind: len(served.all_of(kind)) for kind in KINDS}
    served.command(import_it)
    assert {kind: len(served.all_of(kind)) for kind in KINDS} == counts
    changed = changed_bundle(exported, tmp_path / "talkhouse-superset.zip")
    try:
        exported.write_bytes(changed)
        served.command(import_it)
        assert marked(served) == {"dashboard"}
        assert json.loads(served.command(["bash", "-euc", upgrade(served)], tmp_path)) == {"message": "OK"}
        assert marked(served) == {"database", "dataset", "column", "metric", "chart", "dashboard"}
        assert {kind: len(served.all_of(kind)) for kind in KINDS} == counts
    finally:
        exported.write_bytes(before)
        assert served.upload("/assets/import/", "bundle", before) == {"message": "OK"}
    assert marked(served) == set()
    assert {kind: len(served.all_of(kind)) for kind in KINDS} == counts
    for chart in served.all_of("chart"):
        served.rows(served.ask(f"/chart/{chart['id']}/data/"))


def upgrade(served: Superset) -> str:
    """Return the page's commands that import everything again."""
    (found,) = [block for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) if "/assets/import/" in block]
    assert "http://127.0.0.1:8088" in found
    return str(found).replace("http://127.0.0.1:8088", served.url)


MARK = " (changed)"


def changed_bundle(path: Path, output: Path) -> bytes:
    """Write a bundle with something changed in everything."""

    def explain_anew(*explained: dict[str, Any]) -> None:
        for item in explained:
            item["description"] = f"{item['description']}{MARK}"

    change: dict[str, Callable[[dict[str, Any]], None]] = {
        "databases": lambda item: item.update(cache_timeout=77),
        "datasets": lambda item: explain_anew(item, *item["columns"], *item["metrics"]),
        "charts": lambda item: item["params"].update(row_limit=77),
        "dashboards": lambda item: item.update(css=MARK),
    }
    with ZipFile(path) as archive, ZipFile(output, "w") as target:
        for name in archive.namelist():
            content = yaml.safe_load(archive.read(name))
            change.get(name.split("/")[1], lambda _: None)(content)
            target.writestr(name, yaml.safe_dump(content, sort_keys=False))
    return output.read_bytes()


def marked(served: Superset) -> set[str]:
    """Name what the change has reached; it must have reached all of a kind or none."""
    databases, datasets, charts, boards = (
        [served.one_of(kind, item["id"]) for item in served.all_of(kind)] for kind in KINDS
    )

    def is_explained_anew(item: dict[str, Any]) -> bool:
        return str(item["description"]).endswith(MARK)

    found = {
        "database": {database["cache_timeout"] == 77 for database in databases},
        "dataset": set(map(is_explained_anew, datasets)),
        "column": {is_explained_anew(column) for dataset in datasets for column in dataset["columns"]},
        "metric": {is_explained_anew(metric) for dataset in datasets for metric in dataset["metrics"]},
        "chart": {json.loads(chart["params"])["row_limit"] == 77 for chart in charts},
        "dashboard": {board["css"] == MARK for board in boards},
    }
    assert all(len(values) == 1 for values in found.values()), found
    return {kind for kind, values in found.items() if values == {True}}
