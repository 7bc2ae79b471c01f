"""The file that Superset imports: whole, the same for the same warehouse, and true to the warehouse's views."""

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID
from zipfile import ZipFile

import duckdb
import pytest
from msgspec import structs

import talkhouse
from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.declared import COLUMNS, Chart, ChartKind, Metric
from talkhouse.charts.fields import frame
from talkhouse.dialogues.schemes import PLAIN, label_colours
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.queries.files import own_files
from talkhouse.schema.errors import CatalogueError
from talkhouse.superset.bundle import Bundle, write_bundle
from talkhouse.superset.dashboards import ONCE, colours, identity
from tests.conftest import Build
from tests.corpora.test_sixth_corpus import build_in
from tests.corpora.test_sixth_corpus import folder as folder_of_the_sixth_corpus
from tests.data_files import data_of
from tests.lanes import first_quick
from tests.samples import RELEASES
from tests.talkhouse.superset.conftest import THERE, Contents
from tests.talkhouse.superset.server import Superset

folder = folder_of_the_sixth_corpus
DASHBOARD = 'title = "Tea"\ndescription = "Who drinks what."\n'


@pytest.mark.slow
def test_the_same_warehouse_makes_the_same_bytes(sample: Path, bundle: Path, tmp_path: Path) -> None:
    with talkhouse.open(Path(shutil.copyfile(sample, tmp_path / "another_name.duckdb"))) as con:
        done = write_bundle(con, tmp_path / "again.zip", THERE)
    assert done.path.read_bytes() == bundle.read_bytes()
    assert done.bytes == bundle.stat().st_size


def test_it_says_what_it_wrote(written: Bundle, contents: Contents) -> None:
    assert written.db_path == THERE
    assert written.chart_count == len(contents.charts) == sum(len(board.dashboard.charts) for board in dashboards())
    assert written.dataset_count == len(contents.datasets)
    assert set(written.dashboards) == {dashboard["dashboard_title"] for dashboard in contents.dashboards.values()}


def test_everything_that_is_declared_is_there(con: duckdb.DuckDBPyConnection, contents: Contents) -> None:
    views = con.execute("select view_name from duckdb_views() where schema_name = 'bi'").fetchall()
    assert contents.datasets.keys() == {name for (name,) in views}
    assert contents.dashboards.keys() == {board.name for board in dashboards()}
    assert {chart["slice_name"] for chart in contents.charts.values()} == {
        chart.title for board in dashboards() for chart in board.dashboard.charts
    }
    for view, known in metrics().items():
        assert known.keys() <= {metric["metric_name"] for metric in contents.datasets[view]["metrics"]}


def test_identifiers_are_unique(contents: Contents) -> None:
    found = [item["uuid"] for name, item in contents.everything.items() if not name.endswith("/metadata.yaml")]
    found += [key["id"] for dashboard in contents.dashboards.values() for key in filters(dashboard)]
    assert len(set(found)) == len(found)
    assert all(str(UUID(identifier.removeprefix("NATIVE_FILTER-"))) in identifier for identifier in found)


def test_identifiers_never_change() -> None:
    """Were they others, an import would add everything again next to what is there."""
    assert identity("Talkhouse", "database") == "5927db17-15be-59e2-9102-a9e04340058c"
    assert identity("Talkhouse", "chart", "overview/Turns") == "10bb4c0c-4ba4-530b-9b08-88c522feb41f"


@pytest.mark.slow
def test_identifiers_follow_the_name_of_the_warehouse(
    con: duckdb.DuckDBPyConnection, contents: Contents, tmp_path: Path
) -> None:
    def identifiers(there: str) -> set[str]:
        path = write_bundle(con, tmp_path / "b.zip", PurePosixPath(there), force=True).path
        return {item["uuid"] for item in Contents(path).everything.values() if "uuid" in item}

    own = {item["uuid"] for item in contents.everything.values() if "uuid" in item}
    assert identifiers("/elsewhere/talkhouse.duckdb") == own
    assert not identifiers("/srv/mine.duckdb") & own


def test_the_connection_is_read_only_and_sandboxed(contents: Contents, sample: Path) -> None:
    assert contents.database["sqlalchemy_uri"] == f"duckdb:///{THERE}"
    assert not [name for name, value in contents.database.items() if name.startswith("allow_") and value]
    with duckdb.connect(sample, **contents.database["extra"]["engine_params"]["connect_args"]) as con:
        assert con.execute("select count(*) from bi.turns").fetchall() > [(0,)]
        for query in (
            *("from read_text('/etc/passwd')", "from glob('/*')", "attach '/tmp/other.duckdb'", "install httpfs"),
            *("copy (select 1) to '/tmp/out.csv'", "set enable_external_access = true", "load httpfs"),
            "create table main.x (i integer)",
        ):
            with pytest.raises(duckdb.Error, match=r"disabled|locked|read-only"):
                con.execute(query)


def test_every_dataset_and_column_is_explained(contents: Contents) -> None:
    for view, dataset in contents.datasets.items():
        assert dataset["description"], view
        assert dataset["schema"] == "bi"
        assert dataset["database_uuid"] == contents.database["uuid"]
        assert all(column["description"] for column in dataset["columns"]), view
        shown = [column["verbose_name"] for column in dataset["columns"]]
        assert len(set(shown)) == len(shown), view
        assert not any("_" in name or name[:1].islower() for name in shown), view
        times = [column["column_name"] for column in dataset["columns"] if column["is_dttm"]]
        assert dataset["main_dttm_col"] == (times[0] if times else None)
        assert all(metric["d3format"] and metric["verbose_name"] for metric in dataset["metrics"])


def test_columns_are_those_of_the_views(con: duckdb.DuckDBPyConnection, contents: Contents) -> None:
    for view, dataset in contents.datasets.items():
        found = [(column["column_name"], column["type"].replace(" PRECISION", "")) for column in dataset["columns"]]
        assert found == [(name, kind) for name, kind, *_ in con.execute(f"describe bi.{view}").fetchall()]


def test_names_that_mean_nothing_outside_a_dialogue_are_no_dimensions(contents: Contents) -> None:
    dimensions = {column["column_name"]: column["groupby"] for column in contents.datasets["record_turns"]["columns"]}
    assert (dimensions["speaker_name"], dimensions["known_speaker_name"]) == (False, True)


def test_charts_name_columns_and_metrics_of_their_datasets(contents: Contents) -> None:
    datasets = contents.by_uuid("datasets")
    for name, chart in contents.charts.items():
        columns, known = names_in(datasets[chart["dataset_uuid"]])
        params = chart["params"]
        groupby = params.get("groupby", [])
        grouped = {*([groupby] if isinstance(groupby, str) else groupby), *filter(None, [params.get("x_axis")])}
        assert grouped <= columns, name
        (query,) = json.loads(chart["query_context"])["queries"]
        assert {column if isinstance(column, str) else column["label"] for column in query["columns"]} == grouped
        assert set(query["metrics"]) == set(params.get("metrics", [params.get("metric")])) <= known, name
        assert {by for by, _ in query["orderby"]} <= columns | known


def test_dashboards_lay_out_their_charts(contents: Contents) -> None:
    charts = contents.by_uuid("charts")
    laid_out = []
    for dashboard in contents.dashboards.values():
        position = dashboard["position"]
        for key, element in position.items():
            if key == "DASHBOARD_VERSION_KEY":
                continue
            assert element["id"] == key
            assert all(position[child]["parents"][-1] == key for child in element.get("children", []))
            if element["type"] == "ROW":
                assert sum(position[child]["meta"]["width"] for child in element["children"]) <= COLUMNS
        reached = list(below(position, "ROOT_ID"))
        assert position.keys() - reached == {"DASHBOARD_VERSION_KEY", "HEADER_ID"}
        laid_out += [position[key]["meta"]["uuid"] for key in reached if position[key]["type"] == "CHART"]
    assert sorted(laid_out) == sorted(charts)


def below(position: dict[str, Any], key: str) -> Iterator[str]:
    """Name an element and all that it holds, in the order of the page."""
    yield key
    for child in position[key].get("children", []):
        yield from below(position, child)


def test_filters_act_on_exactly_the_charts_with_their_column(contents: Contents) -> None:
    charts, datasets = contents.by_uuid("charts"), contents.by_uuid("datasets")
    for dashboard in contents.dashboards.values():
        shown = boxes(dashboard)
        columns_of = {box["chartId"]: names_in(datasets[charts[box["uuid"]]["dataset_uuid"]])[0] for box in shown}
        assert len(columns_of) == len(shown)
        for choice in filters(dashboard):
            (target,) = choice["targets"]
            column = target["column"]["name"]
            assert column in names_in(datasets[target["datasetUuid"]])[0]
            if choice["name"] == ONCE:  # in addition to the charts without its column, those by release
                continue
            without = {number for number, columns in columns_of.items() if column not in columns}
            assert set(choice["scope"]["excluded"]) == without != columns_of.keys()


def test_each_turn_counts_once_unless_somebody_clears_the_filter(contents: Contents) -> None:
    charts, datasets = contents.by_uuid("charts"), contents.by_uuid("datasets")
    with_filter = set()
    for name, dashboard in contents.dashboards.items():
        for choice in filters(dashboard):
            if choice["targets"][0]["column"]["name"] == "is_default":
                with_filter.add(name)
                assert choice["defaultDataMask"]["extraFormData"]["filters"][0]["val"] == [True]
                assert ONCE in dashboard["position"]["MARKDOWN-0"]["meta"]["code"]
                for box in boxes(dashboard):
                    columns = names_in(datasets[charts[box["uuid"]]["dataset_uuid"]])[0]
                    query = json.loads(charts[box["uuid"]]["query_context"])["queries"][0]
                    is_inside = box["chartId"] not in choice["scope"]["excluded"]
                    assert is_inside == ("is_default" in columns and "release" not in query["columns"])
    assert {"overview", RELEASES} <= with_filter


def test_a_filter_offers_no_null(con: duckdb.DuckDBPyConnection, contents: Contents) -> None:
    datasets = contents.by_uuid("datasets")
    for dashboard in contents.dashboards.values():
        for choice in filters(dashboard):
            view = datasets[choice["targets"][0]["datasetUuid"]]["table_name"]
            column = choice["targets"][0]["column"]["name"]
            where = " and ".join(item["sqlExpression"] for item in choice["adhoc_filters"]) or "true"
            values = {value for (value,) in con.execute(f"select {column} from bi.{view} where {where}").fetchall()}
            assert values, choice["name"]
            assert None not in values, choice["name"]


def test_labels_have_the_colours_of_their_scheme(con: duckdb.DuckDBPyConnection) -> None:
    (scheme, *_), *_ = con.execute(
        "select scheme from main.schemes where scale = 'good_to_bad' order by all"
    ).fetchall()
    rows = con.execute("select label from main.labels where scheme = ? order by label_index", [scheme]).fetchall()
    labels = [label for (label,) in rows]
    bars = Chart(
        title="", kind=ChartKind.BAR, view="label_counts", x="corpus_id", by=("label",), metrics=("row_count",)
    )
    others = structs.replace(bars, by=("split",), values=(labels[0], "dev"))
    shown = colours(partial(frame, con), [others, structs.replace(bars, scheme=scheme)], {}, own_files())
    assert shown == {**label_colours(labels, "good_to_bad"), "dev": PLAIN[1]}


def test_a_metric_has_the_colour_of_its_label(con: duckdb.DuckDBPyConnection) -> None:
    """Superset looks its colour up by its name, though it shows its title."""
    known = {"turns": {name: Metric(title=name.upper(), sql="count(*)") for name in ("a", "b")}}
    bars = Chart(title="", kind=ChartKind.BAR, view="turns", x="role", metrics=("a", "b"))
    shown = colours(partial(frame, con), [bars], known, own_files())
    assert shown == {"A": PLAIN[0], "B": PLAIN[1], "a": PLAIN[0], "b": PLAIN[1]}


def boxes(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    return [item["meta"] for item in dashboard["position"].values() if item != "v2" and item["type"] == "CHART"]


def filters(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = dashboard["metadata"]["native_filter_configuration"]
    return found


def names_in(dataset: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Name the columns and metrics of a dataset."""
    columns = {column["column_name"] for column in dataset["columns"]}
    return columns, {metric["metric_name"] for metric in dataset["metrics"]}


@pytest.mark.slow
def test_corpora_that_are_not_there_are_left_out(build_data: Build, tmp_path: Path, contents: Contents) -> None:
    shutil.copytree(sample_of(corpora()["delidata"]), tmp_path / "data" / "delidata")
    found = Contents(write_bundle(build_data(tmp_path / "data"), tmp_path / "b.zip", THERE).path)
    others = tuple(f"{corpus}_" for corpus in corpora() if corpus != "delidata")
    assert found.datasets.keys() == {view for view in contents.datasets if not view.startswith(others)}
    assert found.dashboards.keys() == {board.name for board in dashboards() if board.folder in ("bi", "delidata")}
    assert {chart["dataset_uuid"] for chart in found.charts.values()} <= found.by_uuid("datasets").keys()


@pytest.mark.slow
def test_a_sixth_corpus_brings_its_own_views_and_dashboards(folder: Path) -> None:
    """One dashboard is the page's; another shows what the page leaves out, a view and a metric of its own."""
    queries = folder / "corpora" / "teatime" / "queries" / "bi"
    (queries / "moods.sql").write_text(
        "-- How often each mood was meant.\n-- grain: split, mood\n"
        "--   mood: How it was taken.\n--   utterance_count: Utterances.\n"
        "select split, label as mood, count(*) as utterance_count from teatime.mood group by all\n"
    )
    (queries / "metrics.toml").write_text(
        '[teatime_moods.utterance_count]\ntitle = "Utterances"\nsql = "sum(utterance_count)"\n'
    )
    (queries / "dashboards" / "moods.toml").write_text(
        f'{DASHBOARD}[[filters]]\ntitle = "Split"\ncolumn = "split"\nview = "teatime_moods"\n'
        '[[charts]]\ntitle = "Moods"\nkind = "bar"\nview = "teatime_moods"\nx = "mood"\nmetrics = ["utterance_count"]\n'
    )
    build_in(folder)
    with talkhouse.open(folder / "w.duckdb") as con:
        done = write_bundle(con, folder / "b.zip", THERE)
    found = Contents(done.path)
    assert found.dashboards.keys() == {"teatime", "moods", *(item.name for item in dashboards() if item.folder == "bi")}
    assert not any(view.startswith(tuple(corpora())) for view in found.datasets)
    assert found.charts["moods_01"]["dataset_uuid"] == found.datasets["teatime_moods"]["uuid"]
    assert names_in(found.datasets["teatime_moods"])[1] == {"row_count", "utterance_count"}


@pytest.mark.parametrize(
    ("declared", "problem"), first_quick(map(tuple, data_of(__file__)["what_does_not_fit_the_views_is_named"]))
)
def test_what_does_not_fit_the_views_is_named(small: Path, tmp_path: Path, declared: str, problem: str) -> None:
    shutil.copy(small, tmp_path / "w.duckdb")
    text = f'{DASHBOARD}[[charts]]\ntitle = "Cups"\nkind = "table"\n{declared}'
    with duckdb.connect(tmp_path / "w.duckdb") as con:
        con.execute("insert into meta.query_files values ('tea', 'bi/dashboards/tea.toml', ?)", [text])
    with (
        talkhouse.open(tmp_path / "w.duckdb") as con,
        pytest.raises(CatalogueError, match=rf"tea\.toml:\d+: {problem} can't be computed[\s\S]*talkhouse migrate"),
    ):
        write_bundle(con, tmp_path / "b.zip", THERE)
    assert not (tmp_path / "b.zip").exists()


# Every file of the bundle is what Superset's own import takes; no server is needed to know.

SCRIPT = Path(__file__).parent / "load_bundle.py"


@pytest.mark.slow
def test_superset_takes_every_file(superset: Superset, bundle: Path, contents: Contents, tmp_path: Path) -> None:
    broken = tmp_path / "broken.zip"
    with ZipFile(broken, "w") as archive:
        for name, text in contents.texts.items():
            archive.writestr(name, text + "colour: blue\n" if "charts/overview_01" in name else text)
    found = json.loads(superset.command(["python", SCRIPT, bundle, broken]).splitlines()[-1])
    assert found[str(bundle)]["wrong"] == {}
    files = {name.partition("/")[2] for name in contents.texts} - {"metadata.yaml"}
    assert set(found[str(bundle)]["files"]) == files
    assert set(found[str(broken)]["files"]) == files - {"charts/overview_01.yaml"}
    assert found[str(broken)]["wrong"] == {"charts/overview_01.yaml": {"colour": ["Unknown field."]}}
