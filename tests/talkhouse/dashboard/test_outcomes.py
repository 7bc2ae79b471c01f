"""Errors: what is counted and listed of saved runs and of files that are brought, and what is refused."""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import duckdb
import polars as pl
import pytest
from playwright.sync_api import Browser, expect
from streamlit.testing.v1 import AppTest

import talkhouse
from talkhouse.dashboard.outcomes import as_file
from talkhouse.export.formats import ExportFormat
from tests.browser import Visit, visit
from tests.predictions import BREAKDOWNS, OF_EVALUATION
from tests.talkhouse.dashboard.conftest import Compared
from tests.talkhouse.dashboard.pages import draw, html, messages, words

pytestmark = pytest.mark.slow

RUNS = {"run": "careful", "beside": "<b>*bold*</b>"}


def test_choices_of_the_address_are_counted_and_listed(two_runs: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALKHOUSE_DB", str(two_runs.warehouse))
    right, first, second = two_runs.right, *two_runs.labels
    page = draw("errors", **RUNS)
    both = Counter((first[key][0] == label, second[key][0] == label) for key, label in right.items())
    differing = [key for key in right if first[key][0] != second[key][0]]
    counted = page.markdown[-1].value.replace("\\", "")
    assert counted == (
        f"Of {len(right)} examples, careful is right on {both[True, True] + both[True, False]} and <b>*bold*</b> is "
        f"right on {both[True, True] + both[False, True]}: both right {both[True, True]}, only careful "
        f"{both[True, False]}, only <b>*bold*</b> {both[False, True]}, both wrong {both[False, False]}. "
        f"They differ on {len(differing)}."
    )
    assert "<b>*bold*" not in html(page)
    assert listed(page) == len(differing)
    (record, turn), label = next((key, right[key]) for key in differing)
    pair = f"{label} → {first[record, turn][0]} / {second[record, turn][0]}"
    alike = [key for key in differing if (right[key], first[key][0], second[key][0]) == (label, pair[4], pair[8])]
    page = draw("errors", **RUNS, by_answer=pair)
    assert listed(page) == len(alike)
    shown = words(html(page))
    assert shown.count("gold : ") == len(alike)
    assert f"gold : {label} careful is" in shown
    with talkhouse.open(two_runs.warehouse) as con:
        begun = dict(con.execute("select record_id, started_at::date from bi.record_dialogues").fetchall())
    day = min(filter(None, (begun[record] for record, _ in differing)))
    here = draw("errors", **RUNS, since=str(day), until=str(day))
    assert listed(here) == len([key for key in differing if begun[key[0]] == day]) < len(differing)
    assert "begins on these days" in draw("errors", **RUNS, since="2100-01-01").info[0].value
    # A value that there is not, as of another run, chooses nothing.
    assert not draw("errors", **RUNS, by_answer="none", page="99").exception


def listed(page: AppTest) -> int:
    """Read how many examples are listed."""
    found = (re.match(r"(\d+) examples? in ", caption.value) for caption in page.caption)
    return next(int(match[1]) for match in found if match)


def test_rows_go_out_in_each_format_of_an_export(tmp_path: Path) -> None:
    rows = pl.DataFrame({"gold": ["O", '=1+"x"\n', None], "first_sure": [0.5, None, 1.0]})
    for kind in ExportFormat:
        path = tmp_path / f"rows.{kind.value}"
        path.write_bytes(as_file(rows, kind.value, escape_formulas=False))
        if kind is ExportFormat.ARROW:
            found = pl.read_ipc(path)
        elif kind is ExportFormat.PARQUET:
            found = pl.read_parquet(path)
        elif kind is ExportFormat.JSONL:
            found = pl.DataFrame([json.loads(line) for line in path.read_text().splitlines()])
        else:
            found = pl.read_csv(path, separator="\t" if kind is ExportFormat.TSV else ",")
        assert found.equals(rows)
    assert b"'=1+" in as_file(rows, "csv", escape_formulas=True)


@pytest.mark.usefixtures("empty")
def test_without_saved_runs_it_says_how_to_begin() -> None:
    assert "--save RUN" in draw("errors").info[0].value
    assert draw("errors", of="Files").info[0].value == "No task of this warehouse can be scored."


def test_a_file_of_scores_that_is_none_is_said(
    two_runs: Compared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "talkhouse.duckdb"
    path.write_bytes(two_runs.warehouse.read_bytes())
    monkeypatch.setenv("TALKHOUSE_DB", str(path))
    with duckdb.connect(tmp_path / "scores.duckdb") as con:
        con.execute("create table runs as select 'a' as run")
    assert "this is not a file of saved runs" in messages(draw("errors"))[0]


def test_files_are_read_in_the_browser_and_not_kept(at_runs: Visit, two_runs: Compared, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("example_index,label,prob_o,prob_t,prob_x\n0,O,1,0,zero\n")
    at_runs.open("errors?of=Files")
    page = at_runs.page
    page.get_by_role("combobox", name="Task").click()
    at_runs.act(page.get_by_role("option", name=BREAKDOWNS).click)
    for box, option in (("Publisher's release", OF_EVALUATION[1]), ("Split", OF_EVALUATION[3])):
        page.get_by_role("combobox", name=box).click()
        at_runs.act(page.get_by_role("option", name=option, exact=True).click)
    brought = page.locator("input[type=file]")
    at_runs.act(lambda: brought.nth(0).set_input_files(tmp_path / "bad.csv"))
    wrong = page.get_by_test_id("stCode").inner_text()
    assert re.search("^bad.csv: values of 'prob_x' that are not numbers: 1$", wrong, re.MULTILINE)
    assert "row 1: zero" in wrong
    at_runs.act(lambda: brought.nth(0).set_input_files(two_runs.folder / "careful.csv"))
    at_runs.act(lambda: brought.nth(1).set_input_files(two_runs.folder / "bold.csv"))
    differing = sum(two_runs.labels[0][key][0] != two_runs.labels[1][key][0] for key in two_runs.right)
    expect(page.get_by_text(f"They differ on {differing}.")).to_be_visible()
    assert not [*two_runs.served.glob("talkhouse-*")]
    page.goto(page.url)
    at_runs.drawn()
    expect(page.get_by_text("They differ on")).to_have_count(0)


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", BREAKDOWNS, "careful.csv", "--beside", "bold.csv", *OF_EVALUATION],
        pytest.param(["scores", "--compare", "careful", "<b>*bold*</b>"], marks=pytest.mark.long),
    ],
)
def test_a_command_opens_the_pages_at_its_errors(
    browser: Browser, two_runs: Compared, tmp_path: Path, arguments: list[str]
) -> None:
    opener = tmp_path / "xdg-open"
    opener.write_text("#!/bin/sh\n")
    opener.chmod(0o700)
    command = [sys.executable, "-c", "from talkhouse.cli import main; main()", *arguments]
    command += ["--open", "--db", str(two_runs.warehouse)]
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=two_runs.folder, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        url = next(line.split()[0] for line in process.stdout if line.startswith("http"))
        with visit(browser, url.partition("/errors?")[0]) as window:
            window.page.goto(url)
            window.page.wait_for_url(lambda there: "token" not in there)
            window.drawn()
            differing = sum(two_runs.labels[0][key][0] != two_runs.labels[1][key][0] for key in two_runs.right)
            expect(window.page.get_by_text(f"They differ on {differing}.")).to_be_visible()
            expect(window.page.get_by_text(re.compile(r"careful(\.csv)? is right on"))).to_be_visible()
            assert (window.errors(), window.leave()) == ([], [])
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
