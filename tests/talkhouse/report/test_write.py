"""The report: true to the warehouse, one file that asks for nothing, and the same bytes for the same build."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.charts.declared import Kind, dashboards
from talkhouse.citation.formats import bibtex_of
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.report.write import write_report
from talkhouse.schema.errors import CatalogueError, SchemaMismatch, TalkhouseError, UsageError
from talkhouse.schema.tables import metadata, qualified
from talkhouse.visible import visible
from talkhouse.warehouse.opened import Warehouse
from tests.conftest import Build
from tests.corpora.test_sixth_corpus import folder as folder_of_the_sixth_corpus
from tests.corpora.test_sixth_corpus import made
from tests.talkhouse.report.page import Page

folder = folder_of_the_sixth_corpus
DICTIONARY = Path(__file__).parents[3] / "docs" / "dictionary.md"
NONE = "\N{EN DASH}"
ODD = "</script><script>alert(1)</script><!-- & \u2028 \u202e \x00 {{ 7 * 7 }} ' \""
AGAIN = """
import sys, talkhouse
from pathlib import Path
from talkhouse.schema.tables import metadata, qualified
from talkhouse.report.write import write_report
with talkhouse.open(sys.argv[1]) as con:
    con.execute(f"set threads = {sys.argv[3]}")
    write_report(con, Path(sys.argv[2]))
"""


def test_the_counters_are_those_of_the_tables(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    tables = ("main.dialogues", "main.turns", "main.annotations", "main.examples", "meta.findings")
    counted = [con.execute(f"select count(*) from {table}").fetchall()[0][0] for table in tables]
    shown = [page.counters[title] for title in ("Dialogues", "Turns", "Labels", "Examples", "Findings")]
    assert shown == [f"{count:,}" for count in counted]


def test_corpora_have_their_counts_licences_and_citations(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    rows = con.execute("select title, licence, terms, citation from main.corpora order by corpus_id").fetchall()
    shown = page.tables["Corpora"][1:]
    assert [row[0] for row in shown] == [f"{title} (invented sample)" for title, *_ in rows]
    assert [row[1] for row in shown] == [licence + terms for _, licence, terms, _ in rows]
    assert set(page.texts["dd"]) >= {citation for *_, citation in rows}
    written = [entry.strip() for entry in bibtex_of(Warehouse(con).corpora).values()]
    assert page.texts["pre"][: len(rows)] == written
    assert page.texts["pre"][len(rows)].startswith("@misc{talkhouse,\n")


def test_splits_have_the_counts_of_their_examples(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    expected = con.execute(
        "select title, task, release, split, count(*) from main.examples join main.corpora using (corpus_id) "
        "group by all"
    ).fetchall()
    shown = {
        (name.removeprefix("Splits of "), row[0], row[1], row[2]): row[4]
        for name, rows in page.tables.items()
        for row in rows[1:]
        if name.startswith("Splits of ")
    }
    assert shown == {
        (*map(str, [title, task, release or NONE, split]),): f"{n:,}" for title, task, release, split, n in expected
    }


def test_gold_labels_have_the_counts_of_the_task_view(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    sql = "select release, split, label, count(*) from dbdc3.breakdown_detection group by all order by all"
    expected = [[*row[:3], f"{row[3]:,}"] for row in con.execute(sql).fetchall()]
    (shown,) = (rows for name, rows in page.tables.items() if name.startswith("Gold labels of Dialogue Breakdown"))
    assert [[row[1], row[2], row[3], row[5]] for row in shown[1:]] == expected


def test_every_declared_chart_is_there(page: Page) -> None:
    ours = [one for one in dashboards() if one.folder != "bi"]
    charts = {f"{one.name}-{index}": chart for one in ours for index, chart in enumerate(one.dashboard.charts, start=1)}
    drawn = {name for name, chart in charts.items() if chart.kind not in (Kind.NUMBER, Kind.TABLE)}
    assert drawn <= page.drawings.keys()
    assert set(page.attributes("figure", "id")) >= {
        name for name, chart in charts.items() if chart.kind is not Kind.NUMBER
    }
    assert {name for name in page.drawings if not name.startswith("overview-")} == drawn
    assert sorted(page.attributes("div", "data-drawing")) == sorted(page.drawings)
    assert all(found["aria-label"] for _, found in page.elements if "data-drawing" in found)


def test_agreement_is_that_of_the_views(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    sql = (
        "select scheme, coalesce(release, $none), krippendorff_alpha from bi.scheme_agreement order by scheme, release"
    )
    expected = [
        [scheme, release, NONE if alpha is None else f"{alpha:,.2f}"]
        for scheme, release, alpha in con.execute(sql, {"none": NONE}).fetchall()
    ]
    assert [[row[0], row[1], row[7]] for row in page.tables["Agreement by scheme"][1:]] == expected


def test_no_scheme_is_left_out_of_agreement_in_silence(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    shown = {row[0]: row[2] for row in page.tables["Schemes that are not compared"][1:]}
    compared = {row[0] for row in page.tables["Agreement by scheme"][1:]}
    assert shown.keys() | compared == {
        scheme for (scheme,) in con.execute("select scheme from main.schemes").fetchall()
    }
    assert "several labels at once" in shown.values()


def test_findings_and_checks_are_those_of_the_build(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    rules = con.execute("select distinct rule, condition, remedy from meta.findings join meta.rules using (rule)")
    for rule, condition, remedy in rules.fetchall():
        assert any(text.startswith(rule) for text in page.texts["h3"])
        assert {condition, remedy} <= set(page.texts["dd"])
    details = [
        detail for (detail,) in con.execute("select detail from meta.findings where finding_index = 0").fetchall()
    ]
    assert details
    assert all(visible(detail[:400], lines=True) in page.texts["span"] for detail in details)
    checks = con.execute("select condition, severity, offending::varchar from meta.checks").fetchall()
    assert sorted(map(tuple, page.tables["Checks"][1:])) == sorted(checks)


def test_the_dictionary_has_every_table_view_and_column(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    expected = set(re.findall(r"^### ([a-z0-9_]+\.[a-z0-9_]+)$", DICTIONARY.read_text(encoding="utf-8"), re.MULTILINE))
    entries = {name.removeprefix("scheme-") for name in page.attributes("details", "id")}
    assert entries == expected
    columns = con.execute("select distinct column_name from duckdb_columns() where not internal").fetchall()
    assert {name for (name,) in columns} - {"version_num"} <= set(page.texts["code"])


def test_nothing_is_loaded_from_anywhere(page: Page) -> None:
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & {tag for tag, _ in page.elements}
    assert not any(name in found for _, found in page.elements for name in ("src", "srcset", "action", "onclick"))
    (policy,) = (
        found["content"] for tag, found in page.elements if found.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none';")
    (style,) = page.texts["style"]
    assert not re.search(r"url\(|@import", style)
    assert "://" not in next(text for text in page.texts["script"] if text.startswith("{"))
    places = {found["id"] for _, found in page.elements if "id" in found}
    links = page.attributes("a", "href")
    assert {link[1:] for link in links if link.startswith("#")} <= places
    assert all(link.startswith(("#", "https://", "http://")) for link in links)


def test_ids_are_unique(page: Page) -> None:
    names = [found["id"] for _, found in page.elements if "id" in found]
    assert len(set(names)) == len(names)


@pytest.mark.slow
def test_texts_never_act_on_the_page(sample: Path, page: Page, tmp_path: Path) -> None:
    copy = tmp_path / "odd.duckdb"
    shutil.copyfile(sample, copy)
    with duckdb.connect(copy) as con:
        con.execute(
            "update main.corpora set title = $odd || title, citation = $odd, licence_url = 'javascript:1'", {"odd": ODD}
        )
        con.execute("update main.examples set split = $odd where corpus_id = 'delidata'", {"odd": ODD})
        con.execute("update meta.findings set detail = $odd, pointer = $odd", {"odd": ODD})
        con.execute("update main.labels set meaning = $odd", {"odd": ODD})
    with talkhouse.open(copy) as con:
        write_report(con, tmp_path / "odd.html")
    odd = Page(tmp_path / "odd.html")
    assert [tag for tag, _ in odd.elements if tag == "script"] == ["script"] * 2
    assert odd.source.count("<script") == page.source.count("<script")
    assert not re.search("[\u2028\u202e\x00]", odd.source)
    assert visible(ODD, lines=True) in odd.texts["dd"]
    marks = [row for drawn in odd.drawings.values() for data in drawn["data"] for row in data.get("values", [])]
    assert any(row.get("split") == visible(ODD) for row in marks)
    assert not any(link.startswith("javascript") for link in odd.attributes("a", "href"))


@pytest.mark.slow
def test_the_same_build_makes_the_same_bytes(sample: Path, report: Path, tmp_path: Path) -> None:
    for threads in (1, 3):
        again = tmp_path / f"{threads}.html"
        command = [sys.executable, "-c", AGAIN, str(sample), str(again), str(threads)]
        subprocess.run(command, check=True, env={"PYTHONHASHSEED": str(threads), "TZ": "Asia/Tokyo"})
        assert again.read_bytes() == report.read_bytes()


@pytest.mark.slow
def test_an_empty_warehouse_has_a_report_too(sample: Path, tmp_path: Path) -> None:
    copy = tmp_path / "empty.duckdb"
    shutil.copyfile(sample, copy)
    with duckdb.connect(copy) as con:
        for table in metadata.tables.values():
            if table.name != "loads":
                con.execute(f"delete from {qualified(table)}")
    with talkhouse.open(copy) as con:
        done = write_report(con, tmp_path / "r.html")
    page = Page(done.path)
    assert (done.corpora, done.charts) == (0, 0)
    assert page.counters["Dialogues"] == "0"
    assert page.tables["Corpora"][1:] == page.tables["Checks"][1:] == [["None."]]


@pytest.mark.slow
def test_corpora_that_are_not_there_have_no_charts(build_data: Build, tmp_path: Path) -> None:
    for name in ("delidata", "dbdc3"):
        shutil.copytree(sample_of(corpora()[name]), tmp_path / "data" / name)
    page = Page(write_report(build_data(tmp_path / "data"), tmp_path / "r.html").path)
    assert {name.rpartition("-")[0] for name in page.drawings} == {"overview", "dbdc3", "delidata"}
    assert not {"corpus-mpchat", "corpus-mantis"} & set(page.attributes("section", "id"))


@pytest.mark.slow
def test_a_sixth_corpus_brings_its_own_charts(folder: Path) -> None:
    made(folder)
    with talkhouse.open(folder / "w.duckdb") as con:
        page = Page(write_report(con, folder / "r.html").path)
    assert "corpus-teatime" in page.attributes("section", "id")
    assert any(name.startswith("teatime-") for name in page.attributes("figure", "id"))
    assert "teatime.mood" in page.attributes("details", "id")


@pytest.mark.parametrize(
    ("view", "error"),
    [
        pytest.param("speaker_shares", CatalogueError, id="a chart"),
        pytest.param("scheme_agreement", SchemaMismatch, id="a table", marks=pytest.mark.slow),
    ],
)
def test_views_of_another_talkhouse_are_named(
    sample: Path, tmp_path: Path, view: str, error: type[TalkhouseError]
) -> None:
    copy = tmp_path / "w.duckdb"
    shutil.copyfile(sample, copy)
    with duckdb.connect(copy) as con:
        con.execute(f"drop view bi.{view}")
    with talkhouse.open(copy) as con, pytest.raises(error, match=rf"{view}[\s\S]*next:.*talkhouse build"):
        write_report(con, tmp_path / "r.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.duckdb"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("r.pdf", "next: .*r.html"),
        ("nowhere/r.html", "there is no such folder"),
        ("there.html", "exists already.*--force"),
    ],
)
def test_outputs_that_can_not_be_are_refused(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, name: str, problem: str
) -> None:
    (tmp_path / "there.html").write_text("mine")
    with pytest.raises(UsageError, match=f"(?s){problem}"):
        write_report(con, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["there.html"]
    assert (tmp_path / "there.html").read_text() == "mine"
