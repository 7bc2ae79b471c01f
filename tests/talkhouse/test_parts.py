"""All that a turn may have, on its way through a build: shown, drawn, counted, and written back to the byte."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import talkhouse
from talkhouse.dashboard.reading.talk import DialogueReading, talk_html
from talkhouse.dialogues.dialogue import show
from talkhouse.dialogues.schemes import LabelScheme
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora
from talkhouse.load.run import build
from talkhouse.restore.write_back import write_back
from tests.commands import on_a_terminal, run
from tests.talkhouse.tea_talks import CITY, TALK, lay_out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tea")
    other = {"id": "b", "from": None, "schema": {"shop": {"city": "Another meaning."}}, "turns": TALK["turns"]}
    lay_out(folder, TALK, other)
    build(folder / "w.duckdb", Silent(), data=folder / "data", corpus_roots=(folder / "roots",))
    return folder


@pytest.fixture
def tea(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with talkhouse.open(folder / "w.duckdb") as con:
        yield con


def test_it_comes_back_to_the_byte(tea: duckdb.DuckDBPyConnection, folder: Path, tmp_path: Path) -> None:
    write_back(tea, corpora((folder / "roots",))["tea"], tmp_path / "out")
    for path in (folder / "data" / "tea").iterdir():
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()


def test_labels_of_the_data_are_declared_and_stay_apart(tea: duckdb.DuckDBPyConnection) -> None:
    found = tea.execute("select label, meaning, namespace from main.labels where scheme = 'tea.slot' order by all")
    expected = [
        (f"{service}.{name}", meaning, service) for service, slots in CITY.items() for name, meaning in slots.items()
    ]
    assert found.fetchall() == sorted(expected)
    ((rule, file, detail),) = tea.execute("select rule, source_file_id, detail from meta.findings").fetchall()
    assert (rule, file) == ("TH-07", "tea/b.json")
    assert "'Another meaning.'" in detail
    assert "'Where the shop is.'" in detail


def test_show_prints_what_hangs_on_a_turn(folder: Path) -> None:
    lines = run("show", "tea:a", "--db", folder / "w.duckdb").stdout.splitlines()
    assert "  made from: tea:whole" in lines
    turns = lines[lines.index("    0  guest ann 1.000-61.900 s: A \N{GRINNING FACE} shop in Bath,") :]
    assert turns[:19] == [
        "    0  guest ann 1.000-61.900 s: A \N{GRINNING FACE} shop in Bath,",
        "       not in \\x1bYork",
        "       act:",
        "         INFORM  slot: city  values: Bath, B\\x1bth",
        "         INFORM",
        "       slot:",
        '         shop.city "Bath" [12:16]',
        '         home.city "\\x1bYork" [25:30]',
        "      1  guest bot -> 0 (1 of 2): ",
        "         reasoning: Which shop?",
        '         tool_call find({"city":"Bath","n":2}) -> turn 2: Two.',
        "         uri https://example.org/map.png image/png",
        "      2  guest bot -> 1: Two.",
        "         tool_call_response find: Two. from turn 1",
        "      3  guest ann, bob -> 0 (2 of 2): Thanks!",
        "",
        *turns[16:19],
    ]


@pytest.mark.slow
def test_a_terminal_underlines_spans(folder: Path, tmp_path: Path) -> None:
    shown = on_a_terminal(["show", "tea:a", "--db", folder / "w.duckdb"], tmp_path, 100)
    assert re.search(r"in \x1b\[4mBath\x1b\[0m,", shown)


@pytest.mark.slow
def test_json_has_parts_spans_and_speakers(folder: Path) -> None:
    found = json.loads(run("show", "tea:a", "--json", "--db", folder / "w.duckdb").stdout)
    assert found["parts"][1]["arguments"] == {"city": "Bath", "n": 2}
    assert [turn["speakers"] for turn in found["turns"]] == [None, None, None, ["ann", "bob"]]
    assert [turn["reply_to"] for turn in found["turns"]] == [None, 0, 1, 0]
    slots = [row for row in found["records"][0]["annotations"] if row["scheme"] == "tea.slot"]
    assert [(row["start_index"], row["end_index"]) for row in slots] == [(12, 16), (25, 30)]


def test_the_dashboard_draws_it(tea: duckdb.DuckDBPyConnection) -> None:
    page = talk_html(
        show(tea, "tea:a"),
        DialogueReading({"tea.slot": LabelScheme(labels={"shop.city": "Where the shop is."})}, {0: [(9, 14)]}),
    )
    assert '<mark class="match">in </mark>' in page
    assert '<span class="span" title="slot: shop.city"><mark class="match">Ba</mark></span>' in page
    assert '<span class="span" title="slot: shop.city">th</span>' in page
    assert 'title="Where the shop is."' in page
    assert '<span class="name" dir="auto">values</span>' in page
    assert "\N{LEFTWARDS ARROW WITH HOOK} 1" in page
    assert "\N{RIGHTWARDS ARROW} 2" in page
    assert "ann, bob" in page
    assert "\x1b" not in page


def test_views_show_it(tea: duckdb.DuckDBPyConnection) -> None:
    assert tea.execute("select span from bi.spans where record_id = 'tea/a' order by item_index").fetchall() == [
        ("Bath",),
        ("\x1bYork",),
    ]
    assert (
        tea.execute("select name, response from bi.parts where kind = 'tool_call'").fetchall() == [("find", "Two.")] * 2
    )
    assert tea.execute("select count(*) from bi.replies").fetchall() == [(6,)]
    assert tea.execute("select dialogue_id, derived_from, speaker_count from bi.dialogues order by all").fetchall() == [
        ("tea:a", "tea:whole", 3),
        ("tea:b", None, 3),
    ]
    kinds = "select scheme, kind, why_not_compared from bi.schemes order by all"
    assert tea.execute(kinds).fetchall() == [
        ("tea.act", "structure", "parts of a structure"),
        ("tea.slot", "structure", "parts of a structure"),
    ]
