"""The overlap in the report: the matrix with the counts of a plain count, and never of a file that does not fit."""

import json
from collections import Counter
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.report.content import overlap
from talkhouse.warehouse.opened import Warehouse
from tests.commands import run
from tests.talkhouse.overlap.test_kit import OWN
from tests.talkhouse.report.page import Page


def report(warehouse: Path) -> Page:
    output = warehouse.with_name("r.html")
    done = run("report", "--output", output, "--force", "--db", warehouse)
    assert done.returncode == 0, done.stderr
    return Page(output)


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
