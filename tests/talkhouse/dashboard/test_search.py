"""The page Search by meaning: what is in its address, free text by a model, and vectors that are not its own."""

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from talkhouse.schema import warehouse
from talkhouse.search.text_model import open_model
from talkhouse.search.turn_vectors import VECTORS, make_by_model, make_from_file
from tests.samples import RELEASES
from tests.talkhouse.dashboard.conftest import Visit
from tests.talkhouse.dashboard.pages import html, words
from tests.vectors import invented, save_model, turns_of

ODD = '<img src=x onerror="window.acted=1"> **bold** [a](javascript:window.acted=1) \x1b[2J\u202ecba $x$ :red[y]'


@pytest.fixture(scope="module")
def odd(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples with a text, a role and a dialogue that would act, and vectors of all turns."""
    path = Path(shutil.copyfile(sample, tmp_path_factory.mktemp("search") / "w.duckdb"))
    path.chmod(0o600)
    with duckdb.connect() as con:
        con.execute(f"attach '{path}' as {warehouse.name(path)}; use {warehouse.name(path)}")
        dialogue = f"{RELEASES}:{ODD}"
        con.execute("insert into main.dialogues (dialogue_id, corpus_id) values (?, ?)", [dialogue, RELEASES])
        con.execute(
            "insert into main.turns (dialogue_id, turn_index, role, kind, text) values (?, 0, ?, 'message', ?)",
            [dialogue, ODD, ODD],
        )
    invented(turns_of(path)).write_parquet(path.with_name("v.parquet"))
    make_from_file(path, path.with_name("v.parquet"))
    return path


def spec_and_rows(page: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the chart of the map, and all its points."""
    (chart,) = page.get("vega_lite_chart")
    proto = chart.proto
    rows = []
    for data in proto.datasets:
        with pa.ipc.open_stream(data.data.data) as stream:
            rows += stream.read_all().to_pylist()
    return json.loads(proto.spec), rows


@pytest.mark.slow
def test_a_map_has_every_turn_by_its_colour_and_no_text_acts(visit: Visit, odd: Path) -> None:
    page = visit(odd, "search", like=f"{RELEASES}:CIC9001", turn=4, by="meaning", colour="role", kind="persona")
    spec, rows = spec_and_rows(page)
    keys = turns_of(odd)
    assert len(rows) == len(keys)
    assert {row["_leads"].partition("?")[0] for row in rows} == {"read"}
    assert [row["_mark"] for row in rows].count("chosen") == 1
    assert [row["_mark"] for row in rows].count("nearest") == 20
    shown = json.dumps([spec, rows], ensure_ascii=False) + html(page)
    assert "\x1b" not in shown.replace("\\x1b", "")
    assert "\u202e" not in shown
    assert "<img" not in html(page)
    assert page.query_params["by"] in ("meaning", ["meaning"])
    assert page.query_params["colour"] in ("role", ["role"])
    assert page.main.radio[0].value == "meaning"
    by_label, points = spec_and_rows(visit(odd, "search", by="meaning", colour=f"{RELEASES}.breakdown", role="system"))
    assert {row["_colour"] for row in points} >= {"O", "T", "X"}
    assert "O" in json.dumps(by_label)
    visit(odd, "search", by="meaning", colour="nothing")


@pytest.mark.slow
def test_free_text_needs_the_model_and_vectors_of_another_are_not_used(
    visit: Visit, odd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copyfile(odd, tmp_path / "w.duckdb"))
    missing = visit(path, "search", text="museum", by="meaning")
    assert "There is no file of vectors yet" in "".join(element.value for element in missing.info)
    assert "talkhouse vectors FILE" in "".join(element.value for element in missing.caption)
    save_model(tmp_path / "tiny")
    make_by_model(path, open_model(str(tmp_path / "tiny")))
    asked = visit(path, "search", text="museum", by="meaning")
    assert "TALKHOUSE_MODEL=FOLDER" in "".join(element.value for element in asked.info)
    monkeypatch.setenv("TALKHOUSE_MODEL", str(tmp_path / "tiny"))
    assert "museum" in words(html(visit(path, "search", text="a small museum", by="meaning")))
    VECTORS.path(path).chmod(0o600)
    VECTORS.path(path).write_bytes(b"notes")
    other = visit(path, "search", by="meaning")
    assert "This is not the file of vectors that talkhouse vectors made" in "".join(
        element.value for element in other.info
    )
