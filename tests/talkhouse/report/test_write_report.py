"""The report: true to the warehouse, one file that asks for nothing, the same bytes for the same build."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from html import unescape
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.charts.declarations import dashboards
from talkhouse.charts.declared import ChartKind
from talkhouse.citation.formats import bibtex_of
from talkhouse.escaping import visible
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.report.content import overlap
from talkhouse.report.write_report import write_report
from talkhouse.schema.errors import CatalogueError, SchemaMismatch, TalkhouseError, UsageError
from talkhouse.schema.tables import metadata, qualified
from talkhouse.warehouse.opened import Warehouse
from tests.commands import run
from tests.conftest import Build
from tests.corpora.test_sixth_corpus import build_in
from tests.corpora.test_sixth_corpus import folder as folder_of_the_sixth_corpus
from tests.talkhouse.overlap.test_kit import OWN
from tests.talkhouse.report.page import Page

folder = folder_of_the_sixth_corpus
DICTIONARY = Path(__file__).parents[3] / "docs" / "dictionary"
NONE = "\N{EN DASH}"
ODD = "</script><script>alert(1)</script><!-- & \u2028 \u202e \x00 {{ 7 * 7 }} ' \""
AGAIN = """
import sys, talkhouse
from pathlib import Path
from talkhouse.schema.tables import metadata, qualified
from talkhouse.report.write_report import write_report
with talkhouse.open(sys.argv[1]) as con:
    con.execute(f"set threads = {sys.argv[3]}")
    write_report(con, Path(sys.argv[2]))
"""


def test_sizes_are_those_of_the_tables_each_turn_once(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    counted = (
        "select corpora.title, count(distinct dialogues.dialogue_id), count(turns.turn_index) from main.corpora "
        "left join main.dialogues on dialogues.corpus_id = corpora.corpus_id "
        "left join main.turns on turns.dialogue_id = dialogues.dialogue_id group by all"
    )
    shown = {row[0]: row[3:] for row in page.tables["Sizes of the corpora"][1:]}
    for title, dialogues, turns in con.execute(counted).fetchall():
        assert shown[title][:2] == [f"{dialogues:,}", f"{turns:,}"]
    labels = (
        "select title, count(label) from bi.annotations join main.corpora using (corpus_id) where is_default "
        "group by title"
    )
    for title, count in con.execute(labels).fetchall():
        assert shown[title][2] == f"{count:,}"
    examples = (
        "select title, sum(default_example_count) from bi.splits join main.corpora using (corpus_id) group by title"
    )
    for title, count in con.execute(examples).fetchall():
        assert shown[title][3] == f"{count:,}"


def test_other_releases_are_counted_apart(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    (several,) = con.execute(
        "select corpus_id, title from main.corpora join bi.publications using (corpus_id) "
        "group by all having count(distinct release) > 1"
    ).fetchall()
    expected = con.execute(
        "select release, count(distinct dialogue_id), count(distinct dialogue_id) filter (is_default) "
        "from bi.publications where corpus_id = ? group by release",
        [several[0]],
    ).fetchall()
    shown = page.tables[f"Publications of {several[1]}"][1:]
    assert sorted(row[1:4] for row in shown) == sorted([name, f"{n:,}", f"{once:,}"] for name, n, once in expected)


def test_corpora_have_their_licences_citations_and_datasheets(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    rows = con.execute("select licence, citation, datasheet from main.corpora order by corpus_id").fetchall()
    assert set(page.texts["dd"]) >= {citation for _, citation, _ in rows}
    answers = [answer for *_, sheet in rows for answer in json.loads(sheet or "{}").values() if isinstance(answer, str)]
    assert answers
    assert set(page.texts["dd"]) >= {visible(answer, lines=True).strip() for answer in answers if answer}
    written = [entry.strip() for entry in bibtex_of(Warehouse(con).corpora).values()]
    assert page.texts["pre"][: len(rows)] == written
    assert page.texts["pre"][len(rows)].startswith("@misc{talkhouse,\n")


def test_splits_have_the_counts_of_their_examples(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    expected = con.execute(
        "select title, task, release, split, count(*) from main.examples join main.corpora using (corpus_id) "
        "group by all"
    ).fetchall()
    shown = {
        (name.removeprefix("Splits of ").removeprefix("other releases of "), *_part(rows[0], row)): row[
            rows[0].index("Examples")
        ]
        for name, rows in page.tables.items()
        for row in rows[1:]
        if name.startswith("Splits of ")
    }
    assert shown == {
        (*map(str, [title, task, release or NONE, split]),): f"{n:,}" for title, task, release, split, n in expected
    }


def _part(heads: list[str], row: list[str]) -> tuple[str, str, str]:
    """Return task, release and split of a row; a column that is empty in all rows is left out."""
    named = dict(zip(heads, row, strict=True))
    return named["Task"], named.get("Publisher's release", NONE), named.get("Split", NONE)


def test_gold_labels_have_the_counts_of_the_task_view(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    sql = "select release, split, label, count(*) from dbdc3.breakdown_detection group by all order by all"
    expected = [[*row[:3], f"{row[3]:,}"] for row in con.execute(sql).fetchall()]
    shown = [
        row
        for name, rows in page.tables.items()
        for row in rows[1:]
        if name.startswith("Gold labels of ") and "Dialogue Breakdown" in name
    ]
    assert sorted([row[1], row[2], row[3], row[5]] for row in shown) == sorted(expected)


def test_every_declared_chart_is_there_in_its_order(page: Page) -> None:
    boards = {board.name: board.dashboard.charts for board in dashboards() if board.folder != "bi"}
    charts = {f"{name}-{index}": chart for name, of in boards.items() for index, chart in enumerate(of, start=1)}
    text = " ".join(page.texts["li"])
    for name, chart in charts.items():
        if chart.kind is ChartKind.TABLE:
            assert name in page.attributes("h4", "id")
        elif chart.kind is not ChartKind.NUMBER:
            assert name in page.drawings or f"{chart.title}: " in text
    numbers = [int(text) for text in re.findall(r"<strong>Figure (\d+)\.</strong>", page.source)]
    assert numbers == list(range(1, len(page.drawings) + 1))
    assert re.findall(r'<a href="#([^"]*)">Figure \d+</a>', page.source) == page.attributes("figure", "id")


def test_drawings_say_their_numbers(page: Page) -> None:
    for drawing in page.drawings.values():
        (alternative,) = re.findall(r'^<svg [^>]*aria-label="([^"]*)"', drawing)
        assert re.search(r"chart|map", alternative)
        assert re.search(r"\d", alternative)
        assert "<title>" in drawing
        assert "NaN" not in drawing


def test_examples_are_those_that_say_something(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    (most,) = con.execute("select max(round(entropy, 9)) from bi.turn_agreement where is_default").fetchone() or ()
    why = [text for text in page.texts["p"] if "has the most disagreement" in text]
    assert any(f"an entropy of {most:.2f} bits" in text for text in why)
    shown = {
        corpus_id
        for corpus_id, dialogue_id in con.execute("select corpus_id, dialogue_id from main.dialogues").fetchall()
        if dialogue_id in page.texts["h5"]
    }
    assert shown == {
        corpus_id for (corpus_id,) in con.execute("select distinct corpus_id from main.dialogues").fetchall()
    }
    assert "marked" in page.attributes("li", "class")


def test_agreement_is_that_of_the_views(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    sql = (
        "select scheme, coalesce(release, $none), krippendorff_alpha from bi.scheme_agreement order by scheme, release"
    )
    expected = [
        [scheme, release, NONE if alpha is None else f"{alpha:,.3f}"]
        for scheme, release, alpha in con.execute(sql, {"none": NONE}).fetchall()
    ]
    tables = [page.tables["Agreement of each scheme"], page.tables["Agreement in each release"]]
    shown = [dict(zip(rows[0], row, strict=True)) for rows in tables for row in rows[1:]]
    assert sorted(
        [row["Scheme"], row.get("Publisher's release", NONE), row["Krippendorff's alpha"]] for row in shown
    ) == sorted(expected)


def test_no_scheme_is_left_out_of_agreement_in_silence(con: duckdb.DuckDBPyConnection, page: Page) -> None:
    shown = {row[0]: row[2] for row in page.tables["Schemes that are not compared"][1:]}
    compared = {row[0] for row in page.tables["Agreement of each scheme"][1:]}
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
    pages = "".join(path.read_text(encoding="utf-8") for path in DICTIONARY.glob("*.md"))
    expected = set(re.findall(r"^## ([a-z0-9_]+\.[a-z0-9_]+)$", pages, re.MULTILINE))
    assert {name.removeprefix("scheme-") for name in page.attributes("details", "id")} == expected
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
    assert "script" not in page.texts
    names = [found["id"] for _, found in page.elements if "id" in found]
    places = set(names)
    assert len(places) == len(names)
    links = page.attributes("a", "href")
    assert {link[1:] for link in links if link.startswith("#")} <= places
    assert all(link.startswith(("#", "https://", "http://")) for link in links)


@pytest.mark.slow
def test_texts_never_act_on_the_page(sample: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copyfile(sample, tmp_path / "odd.duckdb"))
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
    assert not [tag for tag, _ in odd.elements if tag == "script"]
    assert not re.search("[\u2028\u202e\x00]", odd.source)
    assert visible(ODD, lines=True) in odd.texts["dd"]
    marks = [title for drawn in odd.drawings.values() for title in re.findall("<title>(.*?)</title>", drawn)]
    assert any(f"Split: {visible(ODD)}" in unescape(title) for title in marks)
    assert not any(link.startswith("javascript") for link in odd.attributes("a", "href"))


@pytest.mark.slow
def test_the_same_build_makes_the_same_bytes(sample: Path, report: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.html"
    command = [sys.executable, "-c", AGAIN, str(sample), str(again), "3"]
    subprocess.run(command, check=True, env={"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"})
    assert again.read_bytes() == report.read_bytes()


@pytest.mark.slow
def test_an_empty_warehouse_has_a_report_too(sample: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copyfile(sample, tmp_path / "empty.duckdb"))
    with duckdb.connect(copy) as con:
        for table in metadata.tables.values():
            if table.name != "loads":
                con.execute(f"delete from {qualified(table)}")
    with talkhouse.open(copy) as con:
        done = write_report(con, tmp_path / "r.html")
    page = Page(done.path)
    assert (done.corpora, done.charts) == (0, 0)
    assert page.tables["Sizes of the corpora"][1:] == page.tables["Checks"][1:] == [["None."]]


@pytest.mark.slow
def test_corpora_that_are_not_there_have_no_charts(build_data: Build, tmp_path: Path) -> None:
    for name in ("delidata", "dbdc3"):
        shutil.copytree(sample_of(corpora()[name]), tmp_path / "data" / name)
    page = Page(write_report(build_data(tmp_path / "data"), tmp_path / "r.html").path)
    assert {name.rpartition("-")[0] for name in page.drawings} == {"overview", "dbdc3", "delidata"}
    assert not {"corpus-mpchat", "corpus-mantis"} & set(page.attributes("section", "id"))


@pytest.mark.slow
def test_a_sixth_corpus_brings_its_own_charts(folder: Path) -> None:
    build_in(folder)
    with talkhouse.open(folder / "w.duckdb") as con:
        page = Page(write_report(con, folder / "r.html").path)
    assert "corpus-teatime" in page.attributes("section", "id")
    assert any(name.startswith("teatime-") for name in page.attributes("figure", "id"))
    assert "teatime.mood" in page.attributes("details", "id")


@pytest.mark.slow
@pytest.mark.parametrize(("view", "error"), [("speaker_shares", CatalogueError), ("schemes", SchemaMismatch)])
def test_views_of_another_talkhouse_are_named(
    sample: Path, tmp_path: Path, view: str, error: type[TalkhouseError]
) -> None:
    copy = Path(shutil.copyfile(sample, tmp_path / "w.duckdb"))
    with duckdb.connect(copy) as con:
        con.execute(f"drop view bi.{view}")
    with talkhouse.open(copy) as con, pytest.raises(error, match=rf"{view}[\s\S]*next:.*talkhouse migrate"):
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


def test_it_says_what_it_wrote(sample: Path, reported: tuple[Path, str]) -> None:
    folder, output = reported
    assert output.startswith(f"Wrote a report on {len(corpora())} corpora, with ")
    assert output.endswith(" to r.html\n")
    assert [path.name for path in folder.iterdir()] == ["r.html"]
    again = run("report", "--output", "r.html", "--db", sample, cwd=folder)
    assert again.returncode == 2
    assert "the file exists already" in again.stderr


@pytest.mark.slow
def test_force_replaces_a_file(sample: Path, report: Path, tmp_path: Path) -> None:
    (tmp_path / "r.html").write_text("something else")
    assert run("report", "--output", "r.html", "--force", "--db", sample, cwd=tmp_path).returncode == 0
    assert (tmp_path / "r.html").read_bytes() == report.read_bytes()


@pytest.mark.parametrize(
    ("db", "problem"), [("missing.duckdb", "there is no warehouse here"), ("note.txt", "this is not a warehouse")]
)
def test_without_a_warehouse_it_says_so(tmp_path: Path, db: str, problem: str) -> None:
    (tmp_path / "note.txt").write_text("not a database")
    done = run("report", "--output", "r.html", "--db", db, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr
    assert not (tmp_path / "r.html").exists()


# The overlap in the report: the matrix with the counts of a plain count, and never of a file that does not fit.


def report(warehouse: Path) -> Page:
    output = warehouse.with_name("r.html")
    done = run("report", "--output", output, "--force", "--db", warehouse)
    assert done.returncode == 0, done.stderr
    return Page(output)


@pytest.mark.slow
def test_the_matrix_and_its_sentence_have_the_counts_of_all_expected_matches(with_overlap: Path) -> None:
    wanted = json.loads((OWN.folder / "expected.json").read_text())
    units = {(row["unit"], row["place"]): row["units"] for row in wanted["units"]}
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for row in wanted["matches"]:
        assert row["unit"] == row["other_unit"]
        there = "itself, again" if row["place"] == row["other_place"] else row["other_place"]
        counted = counts.setdefault((row["unit"], row["place"], there), Counter())
        counted["phrases" if row["is_phrase"] else row["kind"]] += 1
    kinds = ("same", "exact", "normalised", "near", "contains")
    lines = {
        (
            *(*pair, str(units[pair[:2]]), str(evidence), f"{evidence / units[pair[:2]]:.1%}"),
            *(str(counted[kind]) for kind in (*kinds, "phrases")),
        )
        for pair, counted in counts.items()
        if (evidence := sum(counted[kind] for kind in kinds))
    }
    page = report(with_overlap)
    assert {tuple(row) for row in page.tables["Overlap of places"][1:]} == lines
    verdicts = Counter(row["verdict"] for row in wanted["examples"])
    repeated, number = verdicts["dialogue"] + verdicts["both"] + verdicts["turn"], verdicts.total()
    sentence = f"{repeated / number:.1%} of the examples of garden_club.answer, test ({repeated} of {number}) repeat "
    assert any(text.startswith(sentence) for text in page.texts["li"])


@pytest.mark.slow
def test_a_file_that_does_not_fit_is_not_used_and_the_report_says_so(with_overlap: Path) -> None:
    file = with_overlap.with_name("w.overlap.duckdb")
    with duckdb.connect(file) as con:
        con.execute("update run set warehouse_fingerprint = 'other'")
    page = report(with_overlap)
    assert "Overlap of places" not in page.tables
    assert "another state of the warehouse" in page.source
    with talkhouse.open(with_overlap) as con:
        file.write_bytes(b"nothing of ours")
        assert "is not used: this is not a file that talkhouse overlap made" in overlap(Warehouse(con)).missing
        file.unlink()
        assert "It was not computed. Run talkhouse overlap" in overlap(Warehouse(con)).missing
    assert not file.exists()


@pytest.mark.slow
def test_no_text_of_a_strangers_file_acts_on_the_page(with_overlap: Path) -> None:
    acting = "<script>x</script>{{ 7 * 7 }}\u202e"
    with duckdb.connect(with_overlap.with_name("w.overlap.duckdb")) as con:
        con.execute("update run set against = [$1]", [acting])
        con.execute("update matches set other_place = $1", [acting])
        con.execute("update examples set task = $1, release = $1", [acting])
    page = report(with_overlap)
    assert "script" not in {tag for tag, _ in page.elements}
    assert "&lt;script&gt;x&lt;/script&gt;{{ 7 * 7 }}\\u202e" in page.source
